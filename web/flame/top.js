// Frames by self and total weight: the same facts as the picture's, as numbers.

/** @typedef {import('./shape_regroup.js').Tree} Tree */

/**
 * Self and total weight below `root` of each frame. A frame that calls itself counts once in its total.
 * @param {Tree} tree
 * @param {Float64Array} nodeSelfs by node
 * @param {Float64Array} nodeTotals by node
 * @param {number} root
 */
export function weighFrames({ names, labels, depths, ends }, nodeSelfs, nodeTotals, root) {
  const selfs = new Float64Array(names.length);
  const totals = new Float64Array(names.length);
  const open = new Uint32Array(names.length);
  const stack = new Int32Array(65536);
  const base = depths[root];
  let height = 0;
  for (let node = root; node < ends[root]; node++) {
    if (nodeTotals[node] === 0) continue;
    const depth = depths[node] - base;
    for (; height > depth; height--) if (stack[height - 1] >= 0) open[stack[height - 1]]--;
    const label = labels[node];
    if (label >= 0) {
      selfs[label] += nodeSelfs[node];
      if (open[label]++ === 0) totals[label] += nodeTotals[node];
    }
    stack[height++] = label;
  }
  return { selfs, totals };
}

/**
 * The self weight of each family below `root`, in the order of `familyNames`.
 * @param {Tree} tree
 * @param {Float64Array} selfs by node
 * @param {number} root
 */
export function weighFamilies({ familyNames, families, labels, ends }, selfs, root) {
  const weights = new Float64Array(familyNames.length);
  for (let node = Math.max(root, 1); node < ends[root]; node++) weights[families[labels[node]]] += selfs[node];
  return weights;
}
