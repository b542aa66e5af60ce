// Which node stands in for which when recursion is collapsed or frames are taken out. `regroup` does the rest.

/** @typedef {import('./shape_regroup.js').Tree} Tree */

/**
 * Recursion collapsed: where a frame is called again, however many others lie between, the stack goes on from the first
 * call. A stack keeps no frame twice.
 * @param {Tree} tree
 * @param {Uint8Array | null} which frames whose recursion is meant, by frame; null: of all
 * @returns {Int32Array} stand-ins by node
 */
export function withoutRecursion(tree, which) {
  const { size, labels, parents } = tree;
  const standIns = new Int32Array(size);
  const levels = new Int32Array(size); // number of nodes above in the collapsed stack
  const path = new Int32Array(65536); // the collapsed stack at hand, by level
  const levelOf = new Int32Array(tree.names.length); // where a frame was last put in `path`
  const callerOf = new Int32Array(size).fill(-1);
  let height = 1;
  for (let node = 1; node < size; node++) {
    const caller = standIns[parents[node]];
    // After a jump back the stack at hand is another branch's: put the caller's own back, as far as it differs.
    const level = levels[caller];
    if (height <= level || path[level] !== caller) {
      for (let at = caller; at >= 0; at = callerOf[at]) {
        const own = levels[at];
        if (own < height && path[own] === at) break;
        path[own] = at;
        if (at > 0) levelOf[labels[at]] = own;
      }
    }
    height = level + 1;
    const label = labels[node];
    const known = levelOf[label];
    if ((which === null || which[label] === 1) && known > 0 && known <= level && labels[path[known]] === label) {
      standIns[node] = path[known];
      continue;
    }
    standIns[node] = node;
    callerOf[node] = caller;
    levels[node] = level + 1;
    path[level + 1] = node;
    if (which === null || which[label] === 1) levelOf[label] = level + 1;
    height = level + 2;
  }
  return standIns;
}

/**
 * Only calls of a frame by itself collapsed.
 * @param {Tree} tree
 * @returns {Int32Array} stand-ins by node
 */
export function withoutDirectRecursion(tree) {
  const { size, labels, parents } = tree;
  const standIns = new Int32Array(size);
  for (let node = 1; node < size; node++) {
    const caller = standIns[parents[node]];
    standIns[node] = caller > 0 && labels[caller] === labels[node] ? caller : node;
  }
  return standIns;
}

/**
 * Frames taken out: their weight goes to their callers.
 * @param {Tree} tree
 * @param {Uint8Array} which by frame
 * @returns {Int32Array} stand-ins by node
 */
export function withoutFrames(tree, which) {
  const { size, labels, parents } = tree;
  const standIns = new Int32Array(size);
  for (let node = 1; node < size; node++) standIns[node] = which[labels[node]] ? standIns[parents[node]] : node;
  return standIns;
}
