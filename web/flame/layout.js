// Where each node lies: left edges, and the nodes of each level from left to right.

/** @typedef {import('./shape_regroup.js').Tree} Tree */

/**
 * @typedef {object} Layout
 * @property {Float64Array} selfs weight that ends at each node
 * @property {Float64Array} totals weight that passes through each node
 * @property {Float64Array} starts left edge of each node, in weight from the left of the root
 * @property {Uint32Array} order the nodes that have weight, level by level, each level from left to right
 * @property {Uint32Array} bounds level d is order[bounds[d] .. bounds[d + 1]]
 */

/**
 * The weight that passes through each node: nodes stand depth first, so one pass up does.
 * @param {Tree} tree
 * @param {Float64Array} selfs
 */
export function totalsOf({ size, parents }, selfs) {
  const totals = selfs.slice();
  for (let node = size - 1; node > 0; node--) totals[parents[node]] += totals[node];
  return totals;
}

/**
 * @param {Tree} tree
 * @param {Float64Array} selfs self weights by node
 * @returns {Layout}
 */
export function layOut(tree, selfs) {
  const { size, parents, depths } = tree;
  const totals = totalsOf(tree, selfs);

  const starts = new Float64Array(size);
  const cursor = new Float64Array(size);
  let deepest = 0;
  let drawn = 0;
  for (let node = 0; node < size; node++) {
    if (node > 0) {
      starts[node] = cursor[parents[node]];
      cursor[parents[node]] += totals[node];
    }
    cursor[node] = starts[node];
    if (totals[node] > 0 || node === 0) {
      drawn++;
      if (depths[node] > deepest) deepest = depths[node];
    }
  }

  const bounds = new Uint32Array(deepest + 2);
  for (let node = 0; node < size; node++) if (totals[node] > 0 || node === 0) bounds[depths[node] + 1]++;
  for (let depth = 0; depth <= deepest; depth++) bounds[depth + 1] += bounds[depth];
  const order = new Uint32Array(drawn);
  const next = bounds.slice();
  for (let node = 0; node < size; node++) if (totals[node] > 0 || node === 0) order[next[depths[node]]++] = node;
  return { selfs, totals, starts, order, bounds };
}

/**
 * The first place in `order` from `low` to `high` whose node ends right of `x`; `high` where there is none.
 * @param {Layout} layout
 * @param {number} low
 * @param {number} high
 * @param {number} x
 */
export function firstEndingAfter(layout, low, high, x) {
  const { order, starts, totals } = layout;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const node = order[middle];
    if (starts[node] + totals[node] <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The same where it is not far from `low`: looks ahead by steps that double, which touches less memory.
 * @param {Layout} layout
 * @param {number} low
 * @param {number} high
 * @param {number} x
 */
export function nextEndingAfter(layout, low, high, x) {
  const { order, starts, totals } = layout;
  let ahead = low;
  for (let step = 1; ahead < high && starts[order[ahead]] + totals[order[ahead]] <= x; step *= 2) {
    low = ahead + 1;
    ahead += step;
  }
  return firstEndingAfter(layout, low, Math.min(ahead, high), x);
}

/**
 * The node of a level at `x`, or -1 where the level has a gap.
 * @param {Layout} layout
 * @param {number} depth
 * @param {number} x
 */
export function nodeAt(layout, depth, x) {
  if (depth < 0 || depth + 1 >= layout.bounds.length) return -1;
  const place = firstEndingAfter(layout, layout.bounds[depth], layout.bounds[depth + 1], x);
  if (place >= layout.bounds[depth + 1]) return -1;
  const node = layout.order[place];
  return layout.starts[node] <= x ? node : -1;
}

/**
 * The caller of `node` at a level above it.
 * @param {Tree} flame
 * @param {number} node
 * @param {number} depth
 */
export function callerAt(flame, node, depth) {
  while (flame.depths[node] > depth) node = flame.parents[node];
  return node;
}

/**
 * The last level that `root` and what lies below it reach down to: each level has its nodes in the order of the tree,
 * so one bisection for each tells whether it has any below `root`.
 * @param {Tree} flame
 * @param {Layout} layout
 * @param {number} root
 */
export function deepestBelow(flame, { order, bounds }, root) {
  let deepest = flame.depths[root];
  while (deepest + 2 < bounds.length) {
    let low = bounds[deepest + 1];
    let high = bounds[deepest + 2];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (order[middle] < root) low = middle + 1;
      else high = middle;
    }
    if (low === bounds[deepest + 2] || order[low] >= flame.ends[root]) break;
    deepest++;
  }
  return deepest;
}

/**
 * The heaviest child, or -1 for a leaf.
 * @param {Tree} flame
 * @param {Layout} layout
 * @param {number} node
 */
export function heaviestChild(flame, layout, node) {
  let best = -1;
  for (let child = node + 1; child < flame.ends[node]; child = flame.ends[child]) {
    if (layout.totals[child] > (best < 0 ? 0 : layout.totals[best])) best = child;
  }
  return best;
}

/**
 * The next node to the left (-1) or right (1) on the same level, or -1 at the edge of `root`.
 * @param {Tree} flame
 * @param {Layout} layout
 * @param {number} node
 * @param {number} step
 * @param {number} root
 */
export function neighbour(flame, layout, node, step, root) {
  const low = layout.bounds[flame.depths[node]];
  const high = layout.bounds[flame.depths[node] + 1];
  const place = firstEndingAfter(layout, low, high, layout.starts[node]) + step;
  if (place < low || place >= high) return -1;
  const found = layout.order[place];
  return found >= root && found < flame.ends[root] ? found : -1;
}
