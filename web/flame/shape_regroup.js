// A call tree made anew: some nodes stand in for others, siblings of one name become one node.

import { meanShares } from './compare.js';

/** @typedef {import('./unpack.js').Flame} Flame */

/**
 * The part of the data that is the tree itself. Transforms make a new one; names and all else by frame stay.
 * @typedef {Omit<Flame, 'columns' | 'cells'>} Tree
 */

/**
 * @typedef {object} Shaped
 * @property {Tree} tree
 * @property {Float64Array[]} selfs self weights by node, an array for each slice that is shown (one, or two compared)
 */

/**
 * The weights of slices on one scale, that of each 1 in all: what decides which sibling is heavier. A single slice
 * keeps its own.
 * @param {Float64Array[]} selfs
 * @returns {Float64Array}
 */
export function combined(selfs) {
  return selfs.length === 1 ? selfs[0] : meanShares(selfs, selfs.map(sumOf));
}

/** @param {Float64Array} weights */
export function sumOf(weights) {
  let sum = 0;
  for (let i = 0; i < weights.length; i++) sum += weights[i];
  return sum;
}

/**
 * The tree in which each node stands where its stand-in does. Siblings of one frame become one; what has no weight is
 * left out; the heaviest sibling comes first, of equal ones that of the lower frame.
 * @param {Shaped} shaped
 * @param {Int32Array | null} standIns by node, the node itself or a caller that stands for itself; null: each for itself
 * @param {number[] | null} tops what the root calls in place of its own callees; what is not below them is left out
 * @returns {Shaped}
 */
export function regroup({ tree, selfs }, standIns, tops) {
  const { size, labels, parents, ends } = tree;
  const stands = (/** @type {number} */ node) => standIns === null || standIns[node] === node;
  // What will lie at and below each node.
  const net = combined(selfs).slice();
  const members = standIns === null ? null : new Int32Array(size).fill(-1);
  let count = 1;
  for (let node = size - 1; node > 0; node--) {
    if (net[node] <= 0) continue;
    if (stands(node)) {
      const caller = standIns === null ? parents[node] : standIns[parents[node]];
      net[caller] += net[node];
      count++;
    } else net[/** @type {Int32Array} */ (standIns)[node]] += net[node];
  }
  if (members !== null && standIns !== null) {
    for (let node = size - 1; node > 0; node--) {
      if (standIns[node] === node) continue;
      members[node] = members[standIns[node]];
      members[standIns[node]] = node;
    }
  }

  const made = {
    depths: new Uint16Array(count),
    labels: new Int32Array(count),
    parents: new Int32Array(count),
  };
  const weights = selfs.map(() => new Float64Array(count));
  const alike = new Int32Array(size).fill(-1); // the next old node of the same new one
  const heads = new Int32Array(tree.names.length).fill(-1); // by frame, the first old node of a callee
  const groups = createGroups(tree.names.length);
  const take = (/** @type {number} */ node) => {
    if (net[node] <= 0 || !stands(node)) return;
    const label = labels[node];
    groups.add(label, net[node]);
    alike[node] = heads[label];
    heads[label] = node;
  };

  /** @type {number[]} head and caller, in turn */
  const waiting = [0, -1];
  let next = 0;
  while (waiting.length > 0) {
    const caller = /** @type {number} */ (waiting.pop());
    const head = /** @type {number} */ (waiting.pop());
    const node = next++;
    made.parents[node] = caller;
    made.labels[node] = labels[head];
    made.depths[node] = caller < 0 ? 0 : made.depths[caller] + 1;
    if (head === 0 && tops !== null) tops.forEach(take);
    else {
      for (let source = head; source >= 0; source = alike[source]) {
        for (let old = source; old >= 0; old = members === null ? -1 : members[old]) {
          for (let slice = 0; slice < selfs.length; slice++) weights[slice][node] += selfs[slice][old];
          for (let callee = old + 1; callee < ends[old]; callee = ends[callee]) take(callee);
        }
      }
    }
    const count = groups.sort();
    for (let i = 0; i < count; i++) {
      const label = groups.frames[i];
      waiting.push(heads[label], node);
      heads[label] = -1;
    }
    groups.clear();
  }
  return {
    tree: grown(tree, next, made),
    selfs: weights.map((array) => array.subarray(0, next)),
  };
}

/**
 * Weights by frame, for the callees of one node after the other: made once, used for millions of nodes.
 * @param {number} size how many frames there are
 */
export function createGroups(size) {
  const weights = new Float64Array(size);
  const known = new Uint8Array(size);
  const frames = new Int32Array(size);
  let count = 0;
  const isAfter = (/** @type {number} */ a, /** @type {number} */ b) =>
    weights[a] > weights[b] || (weights[a] === weights[b] && a < b);
  return {
    weights,
    /** The frames that have been added. */
    frames,
    /**
     * @param {number} frame
     * @param {number} weight
     */
    add(frame, weight) {
      if (known[frame] === 0) {
        known[frame] = 1;
        frames[count++] = frame;
      }
      weights[frame] += weight;
    },
    /** Puts the lightest frame first, of equal ones that of the higher number; returns how many there are. */
    sort() {
      if (count > 40) frames.subarray(0, count).sort((a, b) => (isAfter(a, b) ? 1 : -1));
      else {
        for (let i = 1; i < count; i++) {
          const frame = frames[i];
          let place = i;
          for (; place > 0 && isAfter(frames[place - 1], frame); place--) frames[place] = frames[place - 1];
          frames[place] = frame;
        }
      }
      return count;
    },
    clear() {
      for (let i = 0; i < count; i++) weights[frames[i]] = known[frames[i]] = 0;
      count = 0;
    },
  };
}

/**
 * A tree from the first `size` nodes of arrays, which stand depth first.
 * @param {Tree} tree gives the names
 * @param {number} size
 * @param {{depths: Uint16Array, labels: Int32Array, parents: Int32Array}} arrays
 * @returns {Tree}
 */
export function grown(tree, size, { depths, labels, parents }) {
  const ends = new Uint32Array(size);
  for (let node = size - 1; node >= 0; node--) {
    if (ends[node] === 0) ends[node] = node + 1;
    const caller = parents[node];
    if (caller >= 0 && ends[caller] < ends[node]) ends[caller] = ends[node];
  }
  return {
    ...tree,
    size,
    depths: depths.subarray(0, size),
    labels: labels.subarray(0, size),
    parents: parents.subarray(0, size),
    ends,
  };
}
