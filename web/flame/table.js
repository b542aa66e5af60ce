// The table of frames by self and total weight, with the difference where two slices are compared.

import { difference, formatPoints } from './compare.js';
import { formatCount, formatShare, formatWeight, shortName } from './format.js';
import { totalsOf } from './layout.js';
import { made } from './made.js';
import { nameOf } from './spans.js';
import { expressionOf } from './target.js';
import { weighFrames } from './top.js';
import { unitOf } from './view.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./panel.js').Panel} Panel */
/** @typedef {{frame: number, selfs: number[], totals: number[], points: number, noise: boolean}} TopFrame */

/**
 * What the table and the legend are about: the stacks root first, below what is zoomed where that is in them.
 * @param {View} view
 */
export function groundOf({ base, main }) {
  return { tree: base.tree, selfs: base.selfs, root: main.tree === base.tree ? main.root : 0 };
}

/**
 * All frames with any weight, in the order that was chosen.
 * @param {View} view
 * @returns {{frames: TopFrame[], all: number[]}} `all`: what is 100 % of each slice
 */
export function topFrames(view) {
  const { tree, selfs, root } = groundOf(view);
  const totals = selfs.map((own) => totalsOf(tree, own));
  const all = totals.map((own) => own[root]);
  const weighed = selfs.map((own, slice) => weighFrames(tree, own, totals[slice], root));
  const pair = { wholes: all, selfs: [], totals: [], counted: unitOf(view) === 'samples' && unitOf(view, 1) === 'samples' };
  const by = view.sortedBy;
  const key = by === 'self' ? 'selfs' : 'totals';
  /** @type {TopFrame[]} */
  const frames = [];
  for (let frame = 0; frame < tree.names.length; frame++) {
    if (weighed.every((own) => own.totals[frame] === 0)) continue;
    const [own, all] = [weighed.map((slice) => slice.selfs[frame]), weighed.map((slice) => slice.totals[frame])];
    const { points, noise } = selfs.length < 2 ? { points: 0, noise: true } : difference(pair, own[0], own[1]);
    frames.push({ frame, selfs: own, totals: all, points, noise });
  }
  /** @type {(top: TopFrame) => number} */
  let rank = (top) => top[key][0];
  if (by === 'difference') rank = ({ points, noise }) => (noise ? 0 : 1) + Math.abs(points);
  const ranks = new Float64Array(tree.names.length);
  for (const top of frames) ranks[top.frame] = rank(top);
  const names = tree.names;
  frames.sort((a, b) => ranks[b.frame] - ranks[a.frame] || (names[a.frame] < names[b.frame] ? -1 : 1));
  return { frames, all };
}

/**
 * @param {Panel} panel
 * @param {View} view
 * @param {number} most rows to show
 */
export function showTop(panel, view, most) {
  const { tree, root } = groundOf(view);
  const { frames, all } = topFrames(view);
  const pattern = panel.filter.value;
  const expression = pattern === '' ? null : expressionOf(pattern);
  panel.filter.toggleAttribute('aria-invalid', pattern !== '' && expression === null);
  const matching = expression === null ? frames : frames.filter(({ frame }) => expression.test(tree.names[frame]));
  const compared = all.length === 2;
  const rows = matching.slice(0, most).map((top) => topRow(view, top, all));
  panel.table.tBodies[0].replaceChildren(...rows);
  panel.table.classList.toggle('flame-compared', compared);
  panel.more.hidden = rows.length === matching.length;
  const where = root === 0 ? '' : `, at and below ${nameOf(tree, root)}`;
  const kept = expression === null ? '' : ` whose name matches, of ${formatCount(frames.length)} in all`;
  /** @type {HTMLElement} */ (panel.table.caption).textContent =
    `${formatCount(rows.length)} of ${formatCount(matching.length)} frames${kept}${where}` +
    (compared ? '. Difference: share of self weight here less that there, in percentage points.' : '');
  for (const button of panel.table.querySelectorAll('th button')) {
    const sorted = /** @type {HTMLElement} */ (button).dataset.by === view.sortedBy;
    if (sorted) button.parentElement?.setAttribute('aria-sort', 'descending');
    else button.parentElement?.removeAttribute('aria-sort');
  }
}

/**
 * @param {View} view
 * @param {TopFrame} top
 * @param {number[]} all
 */
function topRow(view, { frame, selfs, totals, points, noise }, all) {
  const { tree } = view.base;
  const row = document.createElement('tr');
  for (const [here, there] of [selfs, totals]) {
    const amount = formatWeight(here, unitOf(view)).replace(/ samples?$/, '');
    row.insertCell().append(made('span', amount, { className: 'flame-amount' }), ' ', made('span', formatShare(here / all[0])));
    if (all.length === 2) row.append(made('td', formatShare(there / all[1]), { className: 'flame-other' }));
  }
  if (all.length === 2) {
    const cell = row.insertCell();
    cell.textContent = noise ? 'within noise' : formatPoints(points);
    cell.className = noise ? 'quiet' : points > 0 ? 'flame-more' : 'flame-less';
  }
  const swatch = document.createElement('i');
  swatch.className = `flame-swatch flame-${tree.familyNames[tree.families[frame]][0]}`;
  const name = tableButton('find', frame, 'Search for this frame');
  name.append(swatch, tree.names[frame]);
  row.insertCell().append(name);
  const sandwich = tableButton('sandwich', frame, `Callers and callees of ${shortName(tree.names[frame])}`);
  sandwich.textContent = 'Sandwich';
  row.insertCell().append(sandwich);
  return row;
}

/**
 * @param {string} does
 * @param {number} frame
 * @param {string} title
 */
function tableButton(does, frame, title) {
  const button = made('button', '', { type: 'button', title });
  button.dataset.does = does;
  button.dataset.frame = String(frame);
  return button;
}
