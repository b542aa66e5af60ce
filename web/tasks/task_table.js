// The tasks of a run as typed arrays, by row of the timeline. report/task_data.py packs the columns.

/**
 * @typedef {object} Lane one executor
 * @property {string} id
 * @property {string} host
 * @property {number} cores 0: not known
 * @property {number} added ms; NaN: not known
 * @property {number} removed
 * @property {string} reason
 * @property {number} first row
 * @property {number} rows
 * @property {number} count of tasks that are single bars
 * @property {number[]} folds first and last place of its pieces of folded tasks
 */

/**
 * Times in ms from the start of the application; -1 is "not known". Tasks stand by launch.
 * @typedef {object} Tasks
 * @property {Record<string, any>} columns as they came; those by task and by stage alike
 * @property {number} count
 * @property {number} end
 * @property {number} piece ms of a piece of folded time; 0 where nothing is folded
 * @property {ArrayLike<number>} launch
 * @property {Float64Array} finish where its bar ends
 * @property {Int32Array} rowOf
 * @property {Lane[]} lanes
 * @property {Int32Array} laneOf by row
 * @property {Int32Array} bounds places in `order` by row
 * @property {Int32Array} order tasks by row and launch
 * @property {Float64Array} busy ms before each place of `order`
 * @property {Int32Array} failed count before each place of `order`
 */

export const TASK_STATUS = ['success', 'failed', 'killed', 'running'];
export const LEVELS = ['PROCESS_LOCAL', 'NODE_LOCAL', 'NO_PREF', 'RACK_LOCAL', 'ANY'];
const NO_RUN_TIME = -(2 ** 31);

/** @param {Record<string, any>} columns */
export function taskTable(columns) {
  const { launch, duration, executor, slot } = columns;
  const count = launch.length;
  /** @type {Lane[]} */
  const table = Array.from(columns.executor_cores, (cores, place) => ({
    id: wordAt(columns.executor_id, place),
    host: wordAt(columns.executor_host, place),
    cores,
    added: columns.executor_added[place],
    removed: columns.executor_removed[place],
    reason: wordAt(columns.executor_reason, place),
    first: 0,
    rows: 1,
    count: 0,
    folds: [0, 0],
  }));
  for (let task = 0; task < count; task++) {
    const lane = table[executor[task]];
    lane.rows = Math.max(lane.rows, slot[task] + 1);
    lane.count++;
  }
  for (let at = 0; at < columns.fold_executor.length; at++) {
    const lane = table[columns.fold_executor[at]];
    if (lane.folds[1] === 0) lane.folds[0] = at;
    lane.folds[1] = at + 1;
  }
  let rows = 0;
  for (const lane of table) {
    lane.first = rows;
    rows += lane.rows;
  }
  const laneOf = new Int32Array(rows);
  table.forEach((lane, place) => laneOf.fill(place, lane.first, lane.first + lane.rows));
  const rowOf = new Int32Array(count);
  const finish = new Float64Array(count);
  const bounds = new Int32Array(rows + 1);
  for (let task = 0; task < count; task++) {
    rowOf[task] = table[executor[task]].first + slot[task];
    finish[task] = launch[task] + duration[task];
    bounds[rowOf[task] + 1]++;
  }
  for (let row = 0; row < rows; row++) bounds[row + 1] += bounds[row];
  const order = new Int32Array(count);
  const next = bounds.slice();
  for (let task = 0; task < count; task++) order[next[rowOf[task]]++] = task;
  // Where the driver gave a core away before it wrote down the end of its task, a bar ends where the next begins.
  for (let at = 0; at + 1 < count; at++) {
    const [task, follower] = [order[at], order[at + 1]];
    if (rowOf[task] === rowOf[follower]) finish[task] = Math.min(finish[task], launch[follower]);
  }
  const busy = new Float64Array(count + 1);
  for (let at = 0; at < count; at++) busy[at + 1] = busy[at] + duration[order[at]];
  const [end, piece] = columns.span;
  /** @type {Tasks} */
  const tasks = {
    columns, count, end: Math.max(end, 1), piece: columns.fold_executor.length > 0 ? piece : 0, launch, finish, rowOf,
    lanes: table, laneOf, bounds, order, busy, failed: new Int32Array(0),
  };
  tasks.failed = countedBefore(tasks, (task) => statusOf(tasks, task) === 1);
  return tasks;
}

/**
 * How many tasks before each place of `order` have a property.
 * @param {Tasks} tasks
 * @param {(task: number) => boolean} has
 */
export function countedBefore({ count, order }, has) {
  const before = new Int32Array(count + 1);
  for (let at = 0; at < count; at++) before[at + 1] = before[at] + (has(order[at]) ? 1 : 0);
  return before;
}

/**
 * The first place of a row whose task ends after a time.
 * @param {Tasks} tasks
 * @param {number} row
 * @param {number} time
 * @param {number} [after] the place to begin at; it is near
 */
export function firstEnding({ bounds, order, finish }, row, time, after) {
  let low = after ?? bounds[row];
  let high = bounds[row + 1];
  if (after !== undefined) {
    let step = 1;
    for (; low + step < high && finish[order[low + step]] <= time; step *= 2) low += step;
    high = Math.min(high, low + step);
  }
  while (low < high) {
    const middle = (low + high) >> 1;
    if (finish[order[middle]] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The first place from `low` on before which more are counted than before `low`.
 * @param {Int32Array} before
 * @param {number} low
 * @param {number} high where more are counted
 */
export function firstCounted(before, low, high) {
  const none = before[low];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before[middle + 1] > none) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * @param {{values: string[], places: Int32Array}} words
 * @param {number} place
 */
export function wordAt(words, place) {
  return words.places[place] < 0 ? '' : words.values[words.places[place]];
}

/** @type {(tasks: Tasks, task: number) => number} place in `TASK_STATUS` */
export const statusOf = ({ columns }, task) => columns.kind[task] & 3;
/** @type {(tasks: Tasks, task: number) => string} how the flame graph tells it apart: slow, median or not at all */
export const groupOfTask = ({ columns }, task) => ['', 'slow', 'median'][(columns.kind[task] >> 3) & 3];
/** @type {(tasks: Tasks, task: number) => number} place in `LEVELS`, -1: not known */
export const levelOf = ({ columns }, task) => ((columns.kind[task] >> 5) & 7) - 1;

/**
 * The run time of a task in ms; -1 where it is not known.
 * @param {Tasks} tasks
 * @param {number} task
 */
export function runTime({ columns }, task) {
  const outside = columns.outside[task];
  return outside === NO_RUN_TIME ? -1 : columns.duration[task] - outside;
}

/**
 * What the time of a task was, in ms: CPU, garbage collection, waiting for shuffle, else in its body, around its body.
 * Null where it is not known. Garbage collection is the whole JVM's, so that the parts are scaled where they are more
 * than the whole.
 * @param {Tasks} tasks
 * @param {number} task
 */
export function partsOf(tasks, task) {
  const run = runTime(tasks, task);
  if (run < 0) return null;
  const { cpu_ms: cpu, gc_ms: gc, fetch_ms: fetch, duration } = tasks.columns;
  const known = [cpu[task], gc[task], fetch[task]].map((ms) => Math.max(ms, 0));
  const sum = known[0] + known[1] + known[2];
  const scale = sum > run && sum > 0 ? Math.max(run, 0) / sum : 1;
  return [...known.map((ms) => ms * scale), Math.max(0, run - sum), Math.max(0, duration[task] - run)];
}

