// The choices of a slice: what there is to choose, and a slice in words.

import { EVERYTHING, FACETS, MEDIAN, NONE, SLOW, drawnRange, facetOptions, isChoosable } from './facets.js';
import { formatSeconds, formatShare, formatTime } from './format.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./facets.js').Choice} Choice */
/** @typedef {import('./unpack.js').Facet} Facet */
/** @typedef {Record<'event' | Facet, HTMLSelectElement>} Picks */

const LONGEST_OPTION = 70;
const EVENT_WORDS = /** @type {Record<string, string>} */ ({
  cpu: 'CPU',
  wall: 'Wall clock',
  alloc: 'Allocation',
  lock: 'Waiting for locks',
  io: 'Waiting for files and sockets',
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
const FACET_WORDS = {
  sql: 'SQL execution',
  stage: 'stage',
  attempt: 'attempt',
  task: 'tasks:',
  executor: 'executor',
  role: 'process',
  state: 'thread state',
};

/** What can be picked, in the order of the page, with its label. */
export const PICKED = /** @type {const} */ ([
  ['event', 'Event'],
  ['sql', 'SQL execution'],
  ['stage', 'Stage'],
  ['attempt', 'Attempt'],
  ['task', 'Tasks'],
  ['executor', 'Executor'],
  ['role', 'Process'],
  ['state', 'Thread state'],
]);

/**
 * Fills the choices of one slice.
 * @param {Picks} picks
 * @param {View} view
 * @param {Choice} choice
 */
export function showPicks(picks, view, choice) {
  const { flame } = view;
  const events = flame.events.map(([value]) => ({ value, text: EVENT_WORDS[value] ?? value }));
  fillPick(picks.event, events, choice.event, events.length > 1);
  for (const facet of FACETS) {
    const options = facetOptions(flame, choice, facet);
    const all = options.reduce((sum, option) => sum + option.weight, 0);
    const words = options.map(({ value, weight }) => {
      const name = valueWords(view, choice, facet, value);
      const short = name.length > LONGEST_OPTION ? `${name.slice(0, LONGEST_OPTION)}…` : name;
      return { value, text: `${short} (${formatShare(weight / all)})` };
    });
    if (choice[facet] !== '' && !options.some(({ value }) => value === choice[facet])) {
      words.push({ value: choice[facet], text: `${valueWords(view, choice, facet, choice[facet])} (none here)` });
    }
    const shown = isChoosable(flame, choice, facet);
    fillPick(picks[facet], [{ value: '', text: 'all' }, ...words], choice[facet], shown);
  }
}

/**
 * @param {HTMLSelectElement} select
 * @param {{value: string, text: string}[]} options
 * @param {string} value
 * @param {boolean} shown whether there is anything to choose
 */
function fillPick(select, options, value, shown) {
  select.replaceChildren(...options.map((option) => new Option(option.text, option.value)));
  select.value = value;
  /** @type {HTMLElement} */ (select.parentElement).hidden = !shown;
}

/**
 * A value of a facet in words.
 * @param {View} view
 * @param {Choice} choice
 * @param {Facet} facet
 * @param {string} value
 */
export function valueWords({ flame, names }, choice, facet, value) {
  if (value === NONE) return NONE_WORDS[facet];
  if (facet === 'state') return value.replace(/^STATE_/, '').replaceAll('_', ' ').toLowerCase();
  if (facet !== 'task') return [value, names[facet]?.[value]].filter(Boolean).join(' · ');
  if (value === SLOW || value === MEDIAN) {
    const kind = value === SLOW ? 'slowest' : 'median';
    if (choice.stage === '') return `the ${kind} ones of each stage`;
    const count = flame.tasks.filter((task) => task.group === value && task.stage === choice.stage).length;
    return count === 1 ? `the ${kind} one` : `the ${count} ${kind}`;
  }
  const task = flame.tasks[flame.values.task?.indexOf(value) ?? -1];
  return task === undefined ? value : `${value} · ${formatTime(task.runMs)}${task.group === SLOW ? ', slow' : ''}`;
}

/**
 * A slice in words: "CPU", "stage 7 · count at job.py:3", "10 s to 20 s".
 * @param {View} view
 * @param {Choice} choice
 * @returns {string[]}
 */
export function sliceParts(view, choice) {
  const words = FACETS.filter((facet) => choice[facet] !== '').map((facet) => {
    const value = valueWords(view, choice, facet, choice[facet]);
    return choice[facet] === NONE ? value : `${FACET_WORDS[facet]} ${value}`;
  });
  const range = drawnRange(view.flame, choice);
  if (range !== null) words.push(`${formatSeconds(range.from)} to ${formatSeconds(range.to)}`);
  return [EVENT_WORDS[choice.event] ?? choice.event, ...(words.length > 0 ? words : ['all of it'])];
}

/**
 * What is to be said beside the choices: the drawn piece of time, what is coarser than it could be, what the address
 * asks for and is not here.
 * @param {View} view
 * @returns {string}
 */
export function sliceNotes(view) {
  const { flame, choice, unknown } = view;
  const range = drawnRange(flame, choice);
  const said = [...flame.notes];
  if (range !== null && flame.time !== null) {
    const piece = range.from < range.to ? `${formatSeconds(range.from)} to ${formatSeconds(range.to)}` : 'no samples then';
    const untimed = flame.columns.places.time?.includes(0) ? ' Samples without a time are left out.' : '';
    said.unshift(`Time: ${piece}, in whole steps of ${formatSeconds(flame.time.bucket)}.${untimed}`);
  }
  if (unknown.length > 0) {
    const keys = unknown.map(([key, value]) => `${key} ${value}`).join(', ');
    said.unshift(`The address asks for ${keys}: there is no such thing here, so it is not applied.`);
  }
  return said.join(' ');
}

/**
 * `versus` of the address for another slice: the keys in which it differs.
 * @param {Choice} choice
 * @param {Choice} other
 */
export function versusText(choice, other) {
  const differing = new URLSearchParams();
  for (const key of /** @type {(keyof Choice)[]} */ (Object.keys(EVERYTHING))) {
    if (other[key] !== choice[key]) differing.set(key, other[key]);
  }
  return differing.toString();
}
