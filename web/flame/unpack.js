// The packed call tree to typed arrays. The format is written down in src/emberscope/profile/pack.py.

/** @typedef {'stage' | 'attempt' | 'sql' | 'role' | 'executor' | 'state' | 'task'} Facet */
/** @typedef {Uint8Array | Uint16Array | Uint32Array | Float64Array} Numbers */

/**
 * The sparse weight columns. Each is of one event and one value of each facet.
 * @typedef {object} Columns
 * @property {number} count
 * @property {Int32Array} event by column, index into `Flame.events`
 * @property {Partial<Record<Facet | 'time', Int32Array>>} places by facet that there is, by column: 0 is outside of
 *   any, else one more than the index into `Flame.values` (for time: than the number of the bucket)
 * @property {Uint32Array} bounds column c has the cells bounds[c] .. bounds[c + 1]
 * @property {Float64Array} totals by column
 */

/**
 * @typedef {object} Flame
 * A call tree depth first; node 0 is the root ("all"), whose label is -1.
 * @property {number} size number of nodes
 * @property {string[]} names by frame
 * @property {Uint8Array} kinds by frame, index into `kindNames`
 * @property {Uint8Array} families by frame, index into `familyNames`
 * @property {string[]} kindNames
 * @property {[string, string][]} familyNames name and words
 * @property {Uint16Array} depths
 * @property {Int32Array} labels frame of each node
 * @property {Int32Array} parents
 * @property {Uint32Array} ends one past the last node below each node
 * @property {[string, string][]} events name and unit
 * @property {Columns} columns
 * @property {{nodes: Uint32Array, weights: Numbers}} cells self weights; the nodes of a column are ascending
 * @property {Partial<Record<Facet, string[]>>} values ids and names, by facet that there is
 * @property {{bucket: number, first: number, count: number} | null} time seconds of a bucket, number of the first one
 *   (bucket 0 begins where times count from), how many there are
 * @property {{stage: string, runMs: number, group: string}[]} tasks what each of `values.task` is; `group` is slow,
 *   median or empty
 * @property {string[]} notes what is coarser than it could be
 */

/**
 * @param {string} base64 text of a gzip file
 * @returns {Promise<ArrayBuffer>}
 */
export async function inflate(base64) {
  const stream = new Blob([fromBase64(base64)]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/**
 * @param {string} base64
 * @returns {Uint8Array<ArrayBuffer>}
 */
function fromBase64(base64) {
  // Browsers have their own since 2025, which takes a third of the time.
  const own = /** @type {any} */ (Uint8Array).fromBase64;
  if (own !== undefined) return own.call(Uint8Array, base64);
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/**
 * @param {ArrayBuffer} buffer
 * @returns {Flame}
 */
export function unpack(buffer) {
  const view = new DataView(buffer);
  const bytes = new Uint8Array(buffer);
  const text = new TextDecoder();
  if (text.decode(bytes.subarray(0, 4)) !== 'EMBF' || view.getUint32(4, true) !== 2) {
    throw new Error('the data in this page are not a call tree of version 2');
  }
  let at = 12 + view.getUint32(8, true);
  const header = JSON.parse(text.decode(bytes.subarray(12, at)));
  /** @type {Record<string, Numbers>} */
  const read = {};
  let names = '[]';
  for (const [name, encoding, width, size, items] of header.sections) {
    const body = bytes.subarray(at, at + size);
    if (encoding === 'json') names = text.decode(body);
    else read[name] = encoding === 'planes' ? fromPlanes(body, width, items) : fromVarints(body, width, items);
    at += size;
  }
  const count = read.event.length;
  /** @type {Columns['places']} */
  const places = {};
  /** @type {Flame['values']} */
  const values = {};
  for (const [facet, known] of Object.entries(header.facets)) {
    values[/** @type {Facet} */ (facet)] = known.map(String);
    places[/** @type {Facet} */ (facet)] = fromSteps(read[facet]);
  }
  if (header.time !== null) places.time = fromSteps(read.time);
  const { bounds, nodes } = unpackCells(read.leaves, read.counts, read.cells);
  return {
    ...unpackTree(read.closed, read.labels),
    names: JSON.parse(names),
    kinds: Uint8Array.from(read.kinds),
    families: Uint8Array.from(read.families),
    kindNames: header.kinds,
    familyNames: header.families,
    events: header.events,
    columns: { count, event: Int32Array.from(read.event), places, bounds, totals: sums(bounds, read.weights) },
    cells: { nodes, weights: read.weights },
    values,
    time: header.time && {
      bucket: header.time.bucket_ns / 1e9,
      first: header.time.first,
      count: header.time.count,
    },
    tasks: header.tasks.map((/** @type {any[]} */ [stage, runMs, group]) => ({ stage: String(stage), runMs, group })),
    notes: header.notes,
  };
}

/**
 * @param {Numbers} closed how many nodes end before each node but the root
 * @param {Numbers} frames
 */
function unpackTree(closed, frames) {
  const size = closed.length + 1;
  const depths = new Uint16Array(size);
  const parents = new Int32Array(size);
  const ends = new Uint32Array(size);
  const labels = new Int32Array(size);
  parents[0] = labels[0] = -1;
  let depth = 0;
  let last = 0;
  for (let node = 1; node < size; node++) {
    const over = closed[node - 1];
    let caller = last;
    for (let i = 0; i < over; i++) {
      ends[caller] = node;
      caller = parents[caller];
    }
    depth += 1 - over;
    depths[node] = depth;
    parents[node] = caller;
    labels[node] = frames[node - 1];
    last = node;
  }
  for (; last >= 0; last = parents[last]) ends[last] = size;
  return { size, depths, parents, ends, labels };
}

/**
 * @param {Numbers} leafSteps
 * @param {Numbers} counts
 * @param {Numbers} steps
 */
function unpackCells(leafSteps, counts, steps) {
  const leaves = new Uint32Array(leafSteps.length);
  for (let i = 0, node = 0; i < leaves.length; i++) leaves[i] = node += leafSteps[i];
  const bounds = new Uint32Array(counts.length + 1);
  const nodes = new Uint32Array(steps.length);
  let at = 0;
  for (let column = 0; column < counts.length; column++) {
    const end = at + counts[column];
    for (let rank = -1; at < end; at++) {
      rank += steps[at] + 1;
      nodes[at] = leaves[rank];
    }
    bounds[column + 1] = at;
  }
  return { bounds, nodes };
}

/**
 * @param {Uint32Array} bounds
 * @param {Numbers} weights
 */
function sums(bounds, weights) {
  const totals = new Float64Array(bounds.length - 1);
  for (let column = 0, i = 0; column < totals.length; column++) {
    let total = 0;
    for (const end = bounds[column + 1]; i < end; i++) total += weights[i];
    totals[column] = total;
  }
  return totals;
}

/**
 * An array for this many integers of so many bytes.
 * @param {number} width
 * @param {number} items
 * @returns {Numbers}
 */
function numbersOf(width, items) {
  if (width === 1) return new Uint8Array(items);
  if (width === 2) return new Uint16Array(items);
  return width <= 4 ? new Uint32Array(items) : new Float64Array(items);
}

/**
 * @param {Uint8Array} body
 * @param {number} width
 * @param {number} items
 * @returns {Numbers}
 */
function fromPlanes(body, width, items) {
  if (width === 1) return body;
  const values = numbersOf(width, items);
  if (width === 2) {
    for (let i = 0; i < items; i++) values[i] = body[i] | (body[items + i] << 8);
    return values;
  }
  for (let plane = 0, factor = 1; plane < width; plane++, factor *= 256) {
    const from = plane * items;
    for (let i = 0; i < items; i++) values[i] += body[from + i] * factor;
  }
  return values;
}

/**
 * @param {Uint8Array} body
 * @param {number} width
 * @param {number} items
 * @returns {Numbers}
 */
function fromVarints(body, width, items) {
  const values = numbersOf(width, items);
  for (let i = 0, at = 0; i < items; i++) {
    let byte = body[at++];
    let value = byte & 127;
    // Multiplication instead of shifts: weights may need more than 32 bits.
    for (let factor = 128; byte > 127; factor *= 128) {
      byte = body[at++];
      value += (byte & 127) * factor;
    }
    values[i] = value;
  }
  return values;
}

/**
 * The values whose steps these are, zigzag.
 * @param {Numbers} steps
 */
function fromSteps(steps) {
  const values = new Int32Array(steps.length);
  for (let i = 0, value = 0; i < steps.length; i++) {
    const step = steps[i];
    values[i] = value += step & 1 ? -(step + 1) / 2 : step / 2;
  }
  return values;
}
