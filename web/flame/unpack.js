// The packed call tree to typed arrays. The format is written down in src/emberscope/profile/pack.py.

/**
 * One sparse weight column: the self weights of one event, SQL execution, stage and executor (null: outside of any).
 * @typedef {object} Column
 * @property {number} event index into `Flame.events`
 * @property {number | null} sql
 * @property {number | null} stage
 * @property {string | null} executor
 * @property {Uint32Array} nodes
 * @property {Float64Array} weights
 * @property {number} total
 */

/**
 * A call tree depth first; node 0 is the root ("all"), whose label is -1.
 * @typedef {object} Flame
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
 * @property {Column[]} columns
 */

/**
 * @param {string} base64 text of a gzip file
 * @returns {Promise<ArrayBuffer>}
 */
export async function inflate(base64) {
  const text = atob(base64.trim());
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/**
 * @param {ArrayBuffer} buffer
 * @returns {Flame}
 */
export function unpack(buffer) {
  const view = new DataView(buffer);
  const bytes = new Uint8Array(buffer);
  const text = new TextDecoder();
  if (text.decode(bytes.subarray(0, 4)) !== 'EMBF' || view.getUint32(4, true) !== 1) {
    throw new Error('the data in this page are not a call tree of version 1');
  }
  const headerEnd = 12 + view.getUint32(8, true);
  const header = JSON.parse(text.decode(bytes.subarray(12, headerEnd)));
  let end = headerEnd;
  /** @type {Record<string, number>} where each section begins */
  const begin = {};
  for (const [name, length] of Object.entries(header.sections)) {
    begin[name] = end;
    end += length;
  }

  let at = 0;
  // Multiplication instead of shifts: weights may need more than 32 bits.
  const varint = () => {
    let byte = bytes[at++];
    let value = byte & 127;
    for (let factor = 128; byte > 127; factor *= 128) {
      byte = bytes[at++];
      value += (byte & 127) * factor;
    }
    return value;
  };

  const size = header.nodes;
  const depths = new Uint16Array(size);
  const parents = new Int32Array(size).fill(-1);
  const ends = new Uint32Array(size);
  const open = new Int32Array(65536);
  at = begin.levels;
  let depth = 0;
  for (let node = 1; node < size; node++) {
    const step = varint();
    const before = depth;
    depth += step & 1 ? -(step + 1) / 2 : step / 2;
    for (let closed = before; closed >= depth; closed--) ends[open[closed]] = node;
    depths[node] = depth;
    parents[node] = open[depth - 1];
    open[depth] = node;
  }
  for (let left = depth; left >= 0; left--) ends[open[left]] = size;

  const labels = new Int32Array(size).fill(-1);
  at = begin.labels;
  for (let node = 1; node < size; node++) labels[node] = varint();

  /** @type {Column[]} */
  const columns = header.columns.map((/** @type {any[]} */ [event, sql, stage, executor, cells]) => ({
    event,
    sql,
    stage,
    executor: executor === null ? null : header.executors[executor],
    nodes: new Uint32Array(cells),
    weights: new Float64Array(cells),
    total: 0,
  }));
  at = begin.cells;
  for (const { nodes } of columns) {
    for (let i = 0, node = 0; i < nodes.length; i++) nodes[i] = node += varint();
  }
  at = begin.weights;
  for (const column of columns) {
    for (let i = 0; i < column.weights.length; i++) column.total += column.weights[i] = varint();
  }

  return {
    size,
    names: JSON.parse(text.decode(bytes.subarray(begin.names, begin.kinds))),
    kinds: bytes.subarray(begin.kinds, begin.families),
    families: bytes.subarray(begin.families, begin.levels),
    kindNames: header.kinds,
    familyNames: header.families,
    depths,
    labels,
    parents,
    ends,
    events: header.events,
    columns,
  };
}
