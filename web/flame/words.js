// The words and figures around the picture: choices, path, search result, legend, table, tooltip.

import { FACETS, MEDIAN, NONE, SLOW, drawnRange, facetOptions, isChoosable } from './facets.js';
import { formatSeconds, formatShare, formatTime, formatWeight, shortName } from './format.js';
import { matchedWeight } from './search.js';
import { topRows, weighFamilies, weighFrames } from './top.js';
import { fillPick } from './panel.js';
import { describe, nameOf, unitOf } from './view.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./panel.js').Panel} Panel */
/** @typedef {import('./unpack.js').Facet} Facet */

const EVENT_WORDS = /** @type {Record<string, string>} */ ({
  cpu: 'CPU',
  wall: 'Wall clock',
  alloc: 'Allocation',
  lock: 'Waiting for locks',
  live: 'Live heap',
  native: 'Seen in native code',
  nativemem: 'Native memory',
  nativelock: 'Waiting for native locks',
});
const NONE_WORDS = {
  sql: 'outside of SQL',
  stage: 'outside of tasks',
  attempt: 'outside of tasks',
  task: 'all other tasks',
  executor: 'unknown process',
  role: 'unknown process',
  state: 'not recorded',
};

/**
 * @param {string} tag
 * @param {string} text
 * @param {Record<string, string>} [properties]
 */
function made(tag, text, properties = {}) {
  return Object.assign(document.createElement(tag), { textContent: text, ...properties });
}

/**
 * @param {Panel} panel
 * @param {View} view
 */
export function showPicks(panel, view) {
  const { flame, choice } = view;
  const events = flame.events.map(([value]) => ({ value, text: EVENT_WORDS[value] ?? value }));
  fillPick(panel.picks.event, events, choice.event, events.length > 1);
  for (const facet of FACETS) {
    const options = facetOptions(flame, choice, facet);
    const all = options.reduce((sum, option) => sum + option.weight, 0);
    const words = options.map(({ value, weight }) => {
      const name = valueWords(view, facet, value);
      return { value, text: `${name.length > 70 ? `${name.slice(0, 70)}…` : name} (${formatShare(weight / all)})` };
    });
    const missing = choice[facet] !== '' && !options.some(({ value }) => value === choice[facet]);
    if (missing) words.push({ value: choice[facet], text: `${valueWords(view, facet, choice[facet])} (none here)` });
    const shown = isChoosable(flame, choice, facet);
    fillPick(panel.picks[facet], [{ value: '', text: 'all' }, ...words], choice[facet], shown);
  }
  showSlice(panel, view);
}

/**
 * A value of a facet in words.
 * @param {View} view
 * @param {Facet} facet
 * @param {string} value
 */
export function valueWords(view, facet, value) {
  const { flame, names, choice } = view;
  if (value === NONE) return NONE_WORDS[facet];
  if (facet === 'state') return value.replace(/^STATE_/, '').replaceAll('_', ' ').toLowerCase();
  if (facet !== 'task') return [value, names[facet]?.[value]].filter(Boolean).join(' · ');
  if (value === SLOW || value === MEDIAN) {
    const count = flame.tasks.filter((task) => task.group === value && [task.stage, ''].includes(choice.stage)).length;
    return `the ${count} ${value === SLOW ? 'slowest' : 'median'}${choice.stage === '' ? ' of all stages' : ''}`;
  }
  const task = flame.tasks[flame.values.task?.indexOf(value) ?? -1];
  return task === undefined ? value : `${value} · ${formatTime(task.runMs)}${task.group === SLOW ? ', slow' : ''}`;
}

/**
 * The drawn piece of time and what is coarser than it could be; hidden where there is nothing to say.
 * @param {Panel} panel
 * @param {View} view
 */
function showSlice(panel, view) {
  const { flame, choice } = view;
  const range = drawnRange(flame, choice);
  const said = [...flame.notes];
  if (range !== null && flame.time !== null) {
    const { bucket } = flame.time;
    const piece = range.from < range.to ? `${formatSeconds(range.from)} to ${formatSeconds(range.to)}` : 'no samples then';
    said.unshift(`Time: ${piece}, in whole steps of ${formatSeconds(bucket)}. Samples without a time are left out.`);
  }
  panel.slice.hidden = said.length === 0;
  panel.slice.textContent = said.join(' ');
}

/**
 * The zoomed frame and its nearest callers, each a button.
 * @param {Panel} panel
 * @param {View} view
 * @param {(node: number) => void} zoom
 */
export function showPath(panel, view, zoom) {
  const { flame, layout, root } = view;
  const callers = [];
  for (let node = root; node > 0; node = flame.parents[node]) callers.unshift(node);
  const step = (/** @type {number} */ node, /** @type {string} */ text) => {
    const button = made('button', text, { type: 'button', title: nameOf(view, node) });
    button.addEventListener('click', () => zoom(node));
    return button;
  };
  const parts = [step(0, `All ${formatWeight(layout.totals[0], unitOf(view))}`)];
  if (callers.length > 3) parts.push(step(callers[callers.length - 4], '…'));
  parts.push(...callers.slice(-3).map((node) => step(node, shortName(nameOf(view, node)))));
  parts[parts.length - 1].setAttribute('aria-current', 'true');
  panel.path.replaceChildren(...parts);
  if (root > 0) {
    const weight = layout.totals[root];
    panel.path.append(` ${formatWeight(weight, unitOf(view))}, ${formatShare(weight / layout.totals[0])} of all`);
  }
}

/**
 * @param {Panel} panel
 * @param {View} view
 */
export function showFound(panel, view) {
  const { flame, layout, found, root } = view;
  if (found === null) panel.found.textContent = '';
  else if (found.nodes === 0) panel.found.textContent = 'Nothing matches';
  else {
    const weight = matchedWeight(flame, layout, found, root);
    const share = `${formatShare(weight / layout.totals[root])} of ${root === 0 ? 'all' : 'the zoomed frame'}`;
    panel.found.textContent = `Matched ${formatWeight(weight, unitOf(view))}, ${share}`;
  }
}

/**
 * @param {Panel} panel
 * @param {View} view
 */
export function showLegend(panel, view) {
  const weights = weighFamilies(view.flame, view.layout, view.root);
  const items = view.flame.familyNames.map(([name, words], family) => {
    const item = made('li', '');
    item.hidden = weights[family] === 0;
    const share = formatShare(weights[family] / view.layout.totals[view.root]);
    item.append(made('i', '', { className: `flame-swatch flame-${name}` }), `${words} `, made('span', share));
    return item;
  });
  panel.legend.replaceChildren(...items);
}

/**
 * @param {Panel} panel
 * @param {View} view
 */
export function showTop(panel, view) {
  const { flame, layout, root, sortedBy } = view;
  const weights = weighFrames(flame, layout, root);
  const { rows, caption } = topRows(flame, weights, sortedBy, layout.totals[root], unitOf(view));
  panel.table.tBodies[0].replaceChildren(...rows);
  const where = root === 0 ? '' : `, at and below ${nameOf(view, root)}`;
  /** @type {HTMLElement} */ (panel.table.caption).textContent = `${caption}${where}`;
  for (const button of panel.table.querySelectorAll('th button')) {
    const sorted = /** @type {HTMLElement} */ (button).dataset.by === sortedBy;
    if (sorted) button.parentElement?.setAttribute('aria-sort', 'descending');
    else button.parentElement?.removeAttribute('aria-sort');
  }
}

/**
 * The figures of a node beside a point of the window; -1 hides them.
 * @param {Panel} panel
 * @param {View} view
 * @param {number} node
 * @param {number} x
 * @param {number} y
 */
export function showTip(panel, view, node, x, y) {
  panel.tip.hidden = node < 0;
  if (node < 0) return;
  const { name, kind, plan, total, self } = describe(view, node);
  panel.tip.replaceChildren(
    made('b', name),
    made('span', kind),
    ...(plan ? [made('span', plan)] : []),
    made('span', `Total ${total}`),
    made('span', `Self ${self}`),
  );
  const { offsetWidth: width, offsetHeight: height } = panel.tip;
  panel.tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - width - 8))}px`;
  panel.tip.style.top = `${y + 18 + height > innerHeight ? Math.max(8, y - height - 12) : y + 18}px`;
}
