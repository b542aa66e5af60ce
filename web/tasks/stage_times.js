// The run times of one stage: words, quartiles and stragglers, run time against what was read, hosts and localities.

import { LEVELS, groupOfTask, levelOf, runTime, statusOf, wordAt } from './task_table.js';
import { formatCount, formatTime, formatWeight } from '../flame/format.js';

/** @typedef {import('./task_table.js').Tasks} Tasks */

/**
 * One stage attempt. Times in ms.
 * @typedef {object} StageTimes
 * @property {number} place
 * @property {number[]} tasks single bars that succeeded with a known run time
 * @property {number[]} quartiles from the shortest to the longest
 * @property {number} limit beyond it a task is a straggler
 * @property {number[]} late the stragglers among `tasks`, the slowest first
 * @property {number} folded tasks that are no single bars
 */

const UNEVEN_RATIO = 3;
const MOST_ON_ONE_HOST = 0.5;

/**
 * @param {Tasks} tasks
 * @param {number} place
 * @returns {StageTimes}
 */
export function stageTimes(tasks, place) {
  const { columns } = tasks;
  const own = [];
  for (let task = 0; task < tasks.count; task++) {
    if (columns.stage[task] === place && statusOf(tasks, task) === 0 && runTime(tasks, task) >= 0) own.push(task);
  }
  const limit = columns.stage_limit[place];
  const late = own.filter((task) => runTime(tasks, task) > limit).sort((a, b) => runTime(tasks, b) - runTime(tasks, a));
  const quartiles = [0, 1, 2, 3, 4].map((quarter) => columns[`stage_q${quarter}`][place]);
  return { place, tasks: own, quartiles, limit, late, folded: columns.stage_folded[place] };
}

/**
 * @param {Tasks} tasks
 * @param {number} place
 */
export function stageName({ columns }, place) {
  const attempt = columns.stage_attempt[place];
  return `${columns.stage_id[place]}${attempt > 0 ? `.${attempt}` : ''}`;
}

/** @param {number[]} values */
function middleOf(values) {
  const sorted = values.filter((value) => value >= 0).sort((a, b) => a - b);
  return sorted.length === 0 ? -1 : (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/**
 * What the times of the stage say, sentence by sentence.
 * @param {Tasks} tasks
 * @param {StageTimes} times
 */
export function stageWords(tasks, { place, quartiles, limit, late, tasks: own, folded }) {
  const { columns } = tasks;
  const measured = columns.stage_measured[place];
  if (measured < 2) return ['Fewer than two tasks of it succeeded with a known run time: there is nothing to compare.'];
  const [least, quarter, median, three, most] = quartiles.map(formatTime);
  const count = columns.stage_stragglers[place];
  const rule = `${formatTime(limit)} (1.5 interquartile ranges over the third quartile, and 1.5 times the median, Spark’s own multiplier for speculation before 4.0)`;
  const said = [
    `Run times of ${formatCount(measured)} tasks: from ${least} to ${most}, half of them between ${quarter} and ${three}, the median ${median}.`,
    count === 0 ? `No straggler: no task ran longer than ${rule}.`
      : `${count === 1 ? '1 straggler' : `${formatCount(count)} stragglers`} beyond ${rule}.`,
  ];
  if (late.length > 0) {
    const read = middleOf(late.map((task) => columns.read_bytes[task]));
    const usual = columns.stage_read[place];
    const they = late.length === 1 ? 'It' : 'They';
    const [host, there] = mostCommon(late.map((task) => hostOf(tasks, task)));
    const hosts = new Set(own.map((task) => hostOf(tasks, task))).size;
    const ratio = usual > 0 && read >= 0 ? read / usual : Number.NaN;
    if (ratio >= UNEVEN_RATIO) said.push(`${they} read ${ratio.toFixed(1)} times what the median task read: the data are uneven.`);
    else if (ratio >= 0) said.push(`${they} read ${ratio.toFixed(1)} times what the median task read: the amount of data does not explain it.`);
    if (hosts > 1 && there > late.length * MOST_ON_ONE_HOST && !(ratio >= UNEVEN_RATIO)) {
      said.push(`${formatCount(there)} of them ran on ${host}, one of ${hosts} hosts: look at that machine.`);
    }
  }
  if (folded > 0) said.push(`${formatCount(folded)} shorter tasks of it are not in this page one by one: they count in the quartiles and the histogram, not in the cloud.`);
  return said;
}

/** @type {(tasks: Tasks, task: number) => string} */
const hostOf = (tasks, task) => tasks.lanes[tasks.columns.executor[task]].host || 'a host not known';

/**
 * @param {string[]} texts
 * @returns {[string, number]}
 */
function mostCommon(texts) {
  const counts = new Map();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0];
}

/**
 * Rows of a table: the tasks of the stage by host or by locality.
 * @param {Tasks} tasks
 * @param {StageTimes} times
 * @param {'host' | 'locality'} by
 * @returns {[string, string, string, string, string][]} name, tasks, median, over the stage's median, stragglers
 */
export function groupRows(tasks, times, by) {
  /** @type {Map<string, number[]>} */
  const groups = new Map();
  for (const task of times.tasks) {
    const name = by === 'host' ? hostOf(tasks, task) : (LEVELS[levelOf(tasks, task)] ?? 'not known');
    const own = groups.get(name);
    if (own === undefined) groups.set(name, [task]);
    else own.push(task);
  }
  const rows = [...groups].map(([name, own]) => ({ name, own, median: middleOf(own.map((task) => runTime(tasks, task))) }));
  if (by === 'host') rows.sort((a, b) => b.median - a.median);
  else rows.sort((a, b) => LEVELS.indexOf(a.name) - LEVELS.indexOf(b.name));
  return rows.map(({ name, own, median }) => [
    name,
    formatCount(own.length),
    formatTime(median),
    times.quartiles[2] > 0 ? `${(median / times.quartiles[2]).toFixed(2)} ×` : '–',
    formatCount(own.filter((task) => runTime(tasks, task) > times.limit).length),
  ]);
}

/**
 * The figures of a task in words, the first its name.
 * @param {Tasks} tasks
 * @param {number} task
 */
export function taskWords(tasks, task) {
  const { columns, launch } = tasks;
  const took = columns.duration[task];
  const place = columns.stage[task];
  const lane = tasks.lanes[columns.executor[task]];
  const attempt = columns.kind[task] >> 8;
  const copy = (columns.kind[task] & 4) !== 0 ? ', a speculative copy' : '';
  const run = runTime(tasks, task);
  const median = columns.stage_q2[place];
  const ms = (/** @type {string} */ words, /** @type {string} */ name) => (columns[name][task] > 0 ? [`${words} ${formatTime(columns[name][task])}`] : []);
  const bytes = (/** @type {string} */ words, /** @type {string} */ name) => (columns[name][task] > 0 ? [`${words} ${formatWeight(columns[name][task], 'bytes')}`] : []);
  const state = ['', 'failed', 'killed', 'still running'][statusOf(tasks, task)];
  const reason = wordAt(columns.reason, task);
  return [
    `Task ${columns.task[task]} of stage ${stageName(tasks, place)}`,
    `index ${columns.index[task]}${attempt > 0 ? `, attempt ${attempt}` : ''}${copy}, ${lane.id === 'driver' ? 'driver' : `executor ${lane.id}`} on ${lane.host}${levelOf(tasks, task) < 0 ? '' : `, ${LEVELS[levelOf(tasks, task)]}`}`,
    ...(state === '' ? [] : [`${state}${reason === '' ? '' : `: ${reason}`}`]),
    `${formatTime(took)}, from ${formatTime(launch[task])} to ${formatTime(launch[task] + took)}`,
    ...(run < 0 ? ['no figures: Spark wrote none for it'] : [
      `ran ${formatTime(run)}${median > 0 ? `, ${(run / median).toFixed(run < 10 * median ? 1 : 0)} times the median of its stage` : ''}`,
      [...ms('CPU', 'cpu_ms'), ...ms('garbage collection', 'gc_ms'), ...ms('waited for shuffle', 'fetch_ms'), ...bytes('read', 'read_bytes'), ...bytes('spilled', 'spilled_bytes')].join(', '),
    ]),
    ...(groupOfTask(tasks, task) === '' ? [] : [`one of the ${groupOfTask(tasks, task) === 'slow' ? 'slowest' : 'median'} tasks of its stage, with a flame graph of its own`]),
  ].filter((text) => text !== '');
}
