// Stacks dropped or shortened. The tree stays; only weights change.

/** @typedef {import('./shape_regroup.js').Shaped} Shaped */
/** @typedef {import('./shape_regroup.js').Tree} Tree */

/**
 * The outermost nodes of some frames, one for each stack through them, from left to right.
 * @param {Tree} tree
 * @param {Uint8Array} which by frame
 * @returns {number[]}
 */
export function outermost({ size, labels, ends }, which) {
  const found = [];
  for (let node = 1; node < size; ) {
    if (which[labels[node]]) {
      found.push(node);
      node = ends[node];
    } else node++;
  }
  return found;
}

/**
 * Without the stacks that pass through some frames.
 * @param {Shaped} shaped
 * @param {Uint8Array} which by frame
 * @returns {Shaped}
 */
export function withoutStacks({ tree, selfs }, which) {
  const kept = selfs.map((weights) => weights.slice());
  for (const node of outermost(tree, which)) for (const weights of kept) weights.fill(0, node, tree.ends[node]);
  return { tree, selfs: kept };
}

/**
 * Only the stacks that pass through some frames.
 * @param {Shaped} shaped
 * @param {Uint8Array} which by frame
 * @returns {Shaped}
 */
export function onlyStacks({ tree, selfs }, which) {
  const kept = selfs.map((weights) => new Float64Array(weights.length));
  for (const node of outermost(tree, which)) {
    const end = tree.ends[node];
    selfs.forEach((weights, slice) => kept[slice].set(weights.subarray(node, end), node));
  }
  return { tree, selfs: kept };
}

/**
 * Only the stacks that pass through some frames, each up to that frame: its weight ends there.
 * @param {Shaped} shaped
 * @param {Uint8Array} which by frame
 * @param {boolean} atFirst at the outermost of these frames in a stack; else at the innermost
 * @returns {Shaped}
 */
export function cutBelow({ tree, selfs }, which, atFirst) {
  const { size, labels, parents } = tree;
  const last = new Int32Array(size).fill(-1);
  const kept = selfs.map(() => new Float64Array(size));
  for (let node = 1; node < size; node++) {
    const above = last[parents[node]];
    last[node] = which[labels[node]] && !(atFirst && above >= 0) ? node : above;
    if (last[node] < 0) continue;
    for (let slice = 0; slice < kept.length; slice++) kept[slice][last[node]] += selfs[slice][node];
  }
  return { tree, selfs: kept };
}
