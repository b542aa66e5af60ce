// The stacks of a tree one by one, and as text that flamegraph.pl and most other tools read.

/** @typedef {import('./shape_regroup.js').Shaped} Shaped */
/** @typedef {import('./shape_regroup.js').Tree} Tree */

const KIND_ENDINGS = /** @type {Record<string, string>} */ ({ interpreted: '_[0]', c1: '_[1]', jit: '_[j]', inlined: '_[i]' });
const NO_STACK = '[no stack]';

/**
 * The name of each frame, with the ending that says how it was compiled where its kind does.
 * @param {Tree} tree
 * @returns {string[]}
 */
export function frameTexts({ names, kinds, kindNames }) {
  return names.map((name, frame) => name + (KIND_ENDINGS[kindNames[kinds[frame]]] ?? ''));
}

/**
 * Calls back for each stack that has weight, in the order of the tree. `path` is used again: copy what is kept.
 * @param {Shaped} shaped
 * @param {(path: number[], weights: number[]) => void} visit frames root first; empty for weight of the root itself
 */
export function eachStack({ tree, selfs }, visit) {
  /** @type {number[]} */
  const path = [];
  for (let node = 0; node < tree.size; node++) {
    if (node > 0) {
      path.length = tree.depths[node] - 1;
      path.push(tree.labels[node]);
    }
    const weights = selfs.map((own) => own[node]);
    if (weights.some((weight) => weight > 0)) visit(path, weights);
  }
}

/**
 * Folded stacks: frames joined by `;`, a space, the weight; where two slices are compared two weights, the other
 * slice's first, as difffolded.pl writes them.
 * @param {Shaped} shaped
 * @param {boolean} leafFirst
 * @returns {string[]} parts of the text
 */
export function foldedText(shaped, leafFirst) {
  const texts = frameTexts(shaped.tree).map((name) => name.replace(/;/g, ':').replace(/[\r\n]/g, ' '));
  /** @type {string[]} */
  const parts = [];
  const { tree, selfs } = shaped;
  /** @type {string[]} */
  const open = ['']; // the stack down to each level
  for (let node = 0; node < tree.size; node++) {
    const depth = tree.depths[node];
    if (node > 0) {
      const [name, rest] = [texts[tree.labels[node]], open[depth - 1]];
      open[depth] = rest === '' ? name : leafFirst ? `${name};${rest}` : `${rest};${name}`;
    }
    if (selfs.every((own) => own[node] === 0)) continue;
    const weights = selfs.map((own) => own[node]).reverse();
    parts.push(`${node === 0 ? NO_STACK : open[depth]} ${weights.join(' ')}\n`);
  }
  return parts;
}

/**
 * The file format of speedscope, a "sampled" profile for each slice.
 * @param {Shaped} shaped
 * @param {{name: string, unit: string}[]} slices
 * @param {boolean} leafFirst
 * @returns {string[]} parts of the JSON text
 */
export function speedscopeText(shaped, slices, leafFirst) {
  const units = /** @type {Record<string, string>} */ ({ samples: 'none', ns: 'nanoseconds', bytes: 'bytes' });
  const frames = frameTexts(shaped.tree).map((name) => ({ name }));
  const none = frames.push({ name: NO_STACK }) - 1;
  const header = JSON.stringify({
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    exporter: 'emberscope',
    name: slices.map(({ name }) => name).join(' against '),
    activeProfileIndex: 0,
    shared: { frames },
  });
  const parts = [`${header.slice(0, -1)},"profiles":[`];
  slices.forEach(({ name, unit }, slice) => {
    /** @type {number[]} */
    const weights = [];
    let whole = 0;
    const begin = JSON.stringify({ type: 'sampled', name, unit: units[unit] ?? 'none', startValue: 0 });
    parts.push(`${slice > 0 ? ',' : ''}${begin.slice(0, -1)},"samples":[`);
    eachStack(shaped, (path, own) => {
      if (own[slice] === 0) return;
      const stack = path.length > 0 ? path : [none];
      parts.push(`${weights.length > 0 ? ',' : ''}[${leafFirst ? [...stack].reverse() : stack}]`);
      weights.push(own[slice]);
      whole += own[slice];
    });
    parts.push(`],"weights":[${weights}],"endValue":${whole}}`);
  });
  parts.push(']}\n');
  return parts;
}
