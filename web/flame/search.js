// Search by regular expression: over distinct names once, then over the drawn nodes.

/** @typedef {import('./shape_regroup.js').Tree} Tree */
/** @typedef {import('./layout.js').Layout} Layout */

/**
 * @typedef {object} Found
 * @property {Uint8Array} frames 1 for each frame whose name matches
 * @property {Uint32Array} before how many of the first k nodes of `Layout.order` match: a run that is narrower than a
 *   pixel lights up too when it hides a hit
 * @property {Uint32Array} hits the nodes that match, depth first
 */

/**
 * @param {Tree} tree
 * @param {Layout} layout
 * @param {RegExp} expression
 * @returns {Found}
 */
export function search(tree, layout, expression) {
  const frames = Uint8Array.from(tree.names, (name) => (expression.test(name) ? 1 : 0));
  const { order } = layout;
  const before = new Uint32Array(order.length + 1);
  for (let i = 0; i < order.length; i++) {
    const label = tree.labels[order[i]];
    before[i + 1] = before[i] + (label < 0 ? 0 : frames[label]);
  }
  const hits = new Uint32Array(before[order.length]);
  for (let node = 1, i = 0; i < hits.length; node++) {
    if (frames[tree.labels[node]] && layout.totals[node] > 0) hits[i++] = node;
  }
  return { frames, before, hits };
}

/**
 * The weight below `root` of all stacks that hold a match, each stack once however many of its frames match.
 * @param {Tree} tree
 * @param {Float64Array} totals by node: those of the layout, or of one of two slices that are compared
 * @param {Found} found
 * @param {number} root
 */
export function matchedWeight(tree, totals, found, root) {
  const { labels, parents, ends } = tree;
  for (let node = root; node > 0; node = parents[node]) {
    if (found.frames[labels[node]]) return totals[root];
  }
  let weight = 0;
  let node = root + 1;
  while (node < ends[root]) {
    if (totals[node] === 0) node = ends[node];
    else if (found.frames[labels[node]]) {
      weight += totals[node];
      node = ends[node];
    } else node++;
  }
  return weight;
}

/**
 * The place in `hits` of the next hit after `node` (or before it, for step -1), around the end; -1 where nothing
 * matches.
 * @param {Found} found
 * @param {number} node
 * @param {number} step
 */
export function nextHit({ hits }, node, step) {
  if (hits.length === 0) return -1;
  const place = hitsBefore(hits, step > 0 ? node + 1 : node);
  return (step > 0 ? place : place - 1 + hits.length) % hits.length;
}

/**
 * How many of the hits lie before `node`.
 * @param {Uint32Array} hits
 * @param {number} node
 */
export function hitsBefore(hits, node) {
  let low = 0;
  let high = hits.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (hits[middle] < node) low = middle + 1;
    else high = middle;
  }
  return low;
}
