// Search by regular expression: over distinct names once, then over the drawn nodes.

/** @typedef {import('./unpack.js').Flame} Flame */
/** @typedef {import('./layout.js').Layout} Layout */

/**
 * @typedef {object} Found
 * @property {Uint8Array} frames 1 for each frame whose name matches
 * @property {Uint32Array} before how many of the first k nodes of `Layout.order` match: a run that is narrower than a
 *   pixel lights up too when it hides a hit
 * @property {number} nodes how many nodes match
 */

/**
 * Case does not matter. Throws SyntaxError for what is no regular expression.
 * @param {Flame} flame
 * @param {Layout} layout
 * @param {string} pattern
 * @returns {Found}
 */
export function search(flame, layout, pattern) {
  const expression = new RegExp(pattern, 'i');
  const frames = Uint8Array.from(flame.names, (name) => (expression.test(name) ? 1 : 0));
  const { order } = layout;
  const before = new Uint32Array(order.length + 1);
  for (let i = 0; i < order.length; i++) {
    const label = flame.labels[order[i]];
    before[i + 1] = before[i] + (label < 0 ? 0 : frames[label]);
  }
  return { frames, before, nodes: before[order.length] };
}

/**
 * The weight below `root` of all stacks that hold a match, each stack once however many of its frames match.
 * @param {Flame} flame
 * @param {Layout} layout
 * @param {Found} found
 * @param {number} root
 */
export function matchedWeight(flame, layout, found, root) {
  const { labels, parents, ends } = flame;
  for (let node = root; node > 0; node = parents[node]) {
    if (found.frames[labels[node]]) return layout.totals[root];
  }
  let weight = 0;
  let node = root + 1;
  while (node < ends[root]) {
    if (layout.totals[node] === 0) node = ends[node];
    else if (found.frames[labels[node]]) {
      weight += layout.totals[node];
      node = ends[node];
    } else node++;
  }
  return weight;
}

/**
 * The next hit after `node` (or before it, for step -1), around the end; -1 where nothing matches.
 * @param {Flame} flame
 * @param {Layout} layout
 * @param {Found} found
 * @param {number} node
 * @param {number} step
 */
export function nextHit(flame, layout, found, node, step) {
  for (let i = 1; i <= flame.size; i++) {
    const candidate = (((node + i * step) % flame.size) + flame.size) % flame.size;
    if (candidate > 0 && layout.totals[candidate] > 0 && found.frames[flame.labels[candidate]]) return candidate;
  }
  return -1;
}
