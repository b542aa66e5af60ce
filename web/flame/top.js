// Frames by self and total weight: the same facts as a table that can be read without seeing the graph.

import { formatCount, formatShare, formatWeight } from './format.js';

/** @typedef {import('./unpack.js').Flame} Flame */
/** @typedef {import('./layout.js').Layout} Layout */

const SHOWN = 200;

/**
 * Self and total weight below `root` of each frame. A frame that calls itself counts once in its total.
 * @param {Flame} flame
 * @param {Layout} layout
 * @param {number} root
 */
export function weighFrames(flame, layout, root) {
  const { labels, depths, ends } = flame;
  const selfs = new Float64Array(flame.names.length);
  const totals = new Float64Array(flame.names.length);
  const open = new Uint32Array(flame.names.length);
  const stack = new Int32Array(65536);
  const base = depths[root];
  let height = 0;
  for (let node = root; node < ends[root]; node++) {
    if (layout.totals[node] === 0) continue;
    const depth = depths[node] - base;
    for (; height > depth; height--) if (stack[height - 1] >= 0) open[stack[height - 1]]--;
    const label = labels[node];
    if (label >= 0) {
      selfs[label] += layout.selfs[node];
      if (open[label]++ === 0) totals[label] += layout.totals[node];
    }
    stack[height++] = label;
  }
  return { selfs, totals };
}

/**
 * The share of self weight of each family below `root`, in the order of `familyNames`.
 * @param {Flame} flame
 * @param {Layout} layout
 * @param {number} root
 */
export function weighFamilies(flame, layout, root) {
  const weights = new Float64Array(flame.familyNames.length);
  for (let node = Math.max(root, 1); node < flame.ends[root]; node++) {
    weights[flame.families[flame.labels[node]]] += layout.selfs[node];
  }
  return weights;
}

/**
 * The table's body: at most 200 frames, the heaviest first.
 * @param {Flame} flame
 * @param {{selfs: Float64Array, totals: Float64Array}} weights
 * @param {'self' | 'total'} by
 * @param {number} all weight that is 100 %
 * @param {string} unit
 * @returns {{rows: HTMLTableRowElement[], caption: string}}
 */
export function topRows(flame, weights, by, all, unit) {
  const key = by === 'self' ? weights.selfs : weights.totals;
  const frames = [];
  for (let frame = 0; frame < flame.names.length; frame++) if (key[frame] > 0) frames.push(frame);
  frames.sort((a, b) => key[b] - key[a] || (flame.names[a] < flame.names[b] ? -1 : 1));
  const rows = frames.slice(0, SHOWN).map((frame) => {
    const row = document.createElement('tr');
    for (const weight of [weights.selfs[frame], weights.totals[frame]]) {
      row.insertCell().textContent = formatWeight(weight, unit).replace(/ samples?$/, '');
      row.insertCell().textContent = formatShare(weight / all);
    }
    const swatch = document.createElement('i');
    swatch.className = `flame-swatch flame-${flame.familyNames[flame.families[frame]][0]}`;
    const name = document.createElement('button');
    name.type = 'button';
    name.title = 'Search for this frame';
    name.append(swatch, flame.names[frame]);
    row.insertCell().append(name);
    return row;
  });
  const shown = Math.min(SHOWN, frames.length);
  return { rows, caption: `${formatCount(shown)} of ${formatCount(frames.length)} frames that have any ${by} weight` };
}
