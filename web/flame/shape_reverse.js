// Stacks the other way round, leaf first: all callers of a method lie below one node.

import { combined, createGroups, grown } from './shape_regroup.js';

/** @typedef {import('./shape_regroup.js').Shaped} Shaped */

// Above this sum of the lengths of all distinct stacks, callers of what is too narrow to see wait until one zooms in.
const FULL_CELLS = 3_000_000;
const NARROW_SHARE = 1e-5;

/**
 * The same weights with each stack reversed. Of big trees only what could be seen is laid out: a node that is lighter
 * than a hundred-thousandth of all is `cut`, which is to say that it has its whole weight but not its callers.
 * @param {Shaped} shaped
 * @param {number[]} near frames from the top to the node that is zoomed: what lies below it is measured by its weight
 * @returns {Shaped & {cut: Uint8Array | null}} `cut` by node; null where nothing is
 */
export function reversed({ tree, selfs }, near) {
  const { size, labels, parents, depths } = tree;
  const weightOf = combined(selfs);
  let items = 0;
  let cells = 0;
  let whole = weightOf[0];
  for (let node = 1; node < size; node++) {
    if (weightOf[node] <= 0) continue;
    items++;
    cells += depths[node];
    whole += weightOf[node];
  }
  const leaves = new Int32Array(items);
  for (let node = 1, i = 0; node < size; node++) if (weightOf[node] > 0) leaves[i++] = node;
  const at = leaves.slice(); // where each stack has been followed to
  const spareLeaves = new Int32Array(items);
  const spareAt = new Int32Array(items);
  const limit = cells > FULL_CELLS ? whole * NARROW_SHARE : 0;

  let room = Math.min(cells, FULL_CELLS) + 1;
  let made = { depths: new Uint16Array(room), labels: new Int32Array(room), parents: new Int32Array(room) };
  let weights = selfs.map(() => new Float64Array(room));
  let cut = new Uint8Array(limit > 0 ? room : 0);
  const groups = createGroups(tree.names.length);
  const places = new Int32Array(tree.names.length); // by frame, where its stacks go; before that, how many there are
  /** @type {number[]} begin, end, caller, weight, least weight to go on, frames of `near` that led here (-1: not) */
  const waiting = [];
  /** Splits the stacks from `begin` to `end` by the frame that each stands at; `least` and `along` are the caller's. */
  const split = (
    /** @type {number} */ begin, /** @type {number} */ end, /** @type {number} */ node, /** @type {number} */ least,
    /** @type {number} */ along,
  ) => {
    for (let i = begin; i < end; i++) {
      const label = labels[at[i]];
      groups.add(label, weightOf[leaves[i]]);
      places[label]++;
    }
    const count = groups.sort();
    for (let group = 0, start = begin; group < count; group++) {
      const label = groups.frames[group];
      const weight = groups.weights[label];
      const stop = start + places[label];
      const on = along >= 0 && along < near.length ? (near[along] === label ? along + 1 : -1) : along;
      const reached = along < near.length && on === near.length;
      waiting.push(start, stop, node, weight, reached ? weight * NARROW_SHARE : least, on);
      places[label] = start;
      start = stop;
    }
    if (count > 1) {
      for (let i = begin; i < end; i++) {
        const place = places[labels[at[i]]]++;
        spareLeaves[place] = leaves[i];
        spareAt[place] = at[i];
      }
      for (let i = begin; i < end; i++) {
        leaves[i] = spareLeaves[i];
        at[i] = spareAt[i];
      }
    }
    for (let group = 0; group < count; group++) places[groups.frames[group]] = 0;
    groups.clear();
  };

  made.labels[0] = made.parents[0] = -1;
  selfs.forEach((own, slice) => (weights[slice][0] = own[0]));
  let next = 1;
  split(0, items, 0, limit, 0);
  while (waiting.length > 0) {
    const along = /** @type {number} */ (waiting.pop());
    const least = /** @type {number} */ (waiting.pop());
    const weight = /** @type {number} */ (waiting.pop());
    const caller = /** @type {number} */ (waiting.pop());
    let end = /** @type {number} */ (waiting.pop());
    const begin = /** @type {number} */ (waiting.pop());
    if (next === room) {
      room *= 2;
      made = {
        depths: enlarged(made.depths, new Uint16Array(room)),
        labels: enlarged(made.labels, new Int32Array(room)),
        parents: enlarged(made.parents, new Int32Array(room)),
      };
      weights = weights.map((array) => enlarged(array, new Float64Array(room)));
      if (limit > 0) cut = enlarged(cut, new Uint8Array(room));
    }
    const node = next++;
    made.parents[node] = caller;
    made.labels[node] = labels[at[begin]];
    made.depths[node] = made.depths[caller] + 1;
    const onTheWay = along > 0 && along < near.length;
    if (limit > 0 && weight < least && !onTheWay) {
      for (let i = begin; i < end; i++) {
        if (parents[at[i]] > 0) cut[node] = 1;
        selfs.forEach((own, slice) => (weights[slice][node] += own[leaves[i]]));
      }
      continue;
    }
    // Stacks that end here go to the back; the others take a step to their callers.
    for (let i = begin; i < end; ) {
      const up = parents[at[i]];
      if (up > 0) {
        at[i++] = up;
        continue;
      }
      const leaf = leaves[i];
      for (let slice = 0; slice < selfs.length; slice++) weights[slice][node] += selfs[slice][leaf];
      end--;
      leaves[i] = leaves[end];
      at[i] = at[end];
    }
    split(begin, end, node, least, along);
  }
  return {
    tree: grown(tree, next, made),
    selfs: weights.map((array) => array.subarray(0, next)),
    cut: limit > 0 && cut.includes(1) ? cut.subarray(0, next) : null,
  };
}

/**
 * @template {Uint8Array | Uint16Array | Int32Array | Float64Array} T
 * @param {T} from
 * @param {T} to
 * @returns {T}
 */
function enlarged(from, to) {
  to.set(from);
  return to;
}
