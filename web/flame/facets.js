// Which weight columns are shown: one event, and any or one value of each facet and a piece of time.

/** @typedef {import('./unpack.js').Flame} Flame */
/** @typedef {import('./unpack.js').Facet} Facet */

/**
 * What is shown, as the page's address has it. An empty value is "any", NONE is "outside of any". `task` is the id of a
 * single task, SLOW or MEDIAN; `from` and `to` are seconds.
 * @typedef {{event: string, from: string, to: string} & Record<Facet, string>} Choice
 */

export const NONE = 'none';
export const SLOW = 'slow';
export const MEDIAN = 'median';

/** @type {Facet[]} */
export const FACETS = ['sql', 'stage', 'attempt', 'executor', 'role', 'state', 'task'];

/** @type {Choice} */
export const EVERYTHING = {
  event: '', sql: '', stage: '', attempt: '', executor: '', role: '', state: '', task: '', from: '', to: '',
};

/**
 * The choice that an address asks for; the event is the first one where it names none that there is, and what the data
 * do not know is any.
 * @param {Flame} flame
 * @param {URLSearchParams} state
 * @returns {Choice}
 */
export function readChoice(flame, state) {
  return soundChoice(flame, changed(EVERYTHING, state));
}

/**
 * The choice to compare with: `text` is `versus` of the address, a query string of the keys in which it differs.
 * Null where there is nothing to compare with.
 * @param {Flame} flame
 * @param {Choice} choice
 * @param {string} text
 * @returns {Choice | null}
 */
export function otherChoice(flame, choice, text) {
  return text === '' ? null : soundChoice(flame, changed(choice, new URLSearchParams(text)));
}

/**
 * A choice as values for the address: what is any, and the first event, are left out of it.
 * @param {Flame} flame
 * @param {Choice} choice
 * @returns {Record<string, string>}
 */
export function choiceState(flame, choice) {
  return { ...choice, event: choice.event === flame.events[0]?.[0] ? '' : choice.event };
}

/**
 * @param {Choice} choice
 * @param {URLSearchParams} state
 * @returns {Choice}
 */
function changed(choice, state) {
  const result = { ...choice };
  for (const key of /** @type {(keyof Choice)[]} */ (Object.keys(EVERYTHING))) result[key] = state.get(key) ?? choice[key];
  return result;
}

/**
 * A choice made sound: an event that there is, no facet value that the data do not know, a piece of time that has a
 * beginning before its end.
 * @param {Flame} flame
 * @param {Choice} choice
 * @returns {Choice}
 */
export function soundChoice(flame, choice) {
  const known = flame.events.some(([event]) => event === choice.event);
  const sound = { ...choice, event: known ? choice.event : (flame.events[0]?.[0] ?? '') };
  for (const facet of FACETS) if (!knows(flame, facet, sound[facet])) sound[facet] = '';
  const [from, to] = [secondsOf(sound.from), secondsOf(sound.to)];
  if (flame.time === null || (from !== null && to !== null && from >= to)) sound.from = sound.to = '';
  if (from === null) sound.from = '';
  if (to === null) sound.to = '';
  return sound;
}

/**
 * What of an asked choice the data do not know, so that it is not in the sound one: pairs of key and value.
 * @param {Choice} asked
 * @param {Choice} sound
 * @returns {[string, string][]}
 */
export function unknownOf(asked, sound) {
  const keys = /** @type {(keyof Choice)[]} */ (Object.keys(EVERYTHING));
  return keys.filter((key) => asked[key] !== '' && asked[key] !== sound[key]).map((key) => [key, asked[key]]);
}

/**
 * @param {Flame} flame
 * @param {Facet} facet
 * @param {string} value
 */
function knows(flame, facet, value) {
  if (value === '' || value === NONE) return true;
  if (facet === 'task' && (value === SLOW || value === MEDIAN)) return flame.tasks.some(({ group }) => group === value);
  return flame.values[facet]?.includes(value) ?? false;
}

/**
 * @param {string} text
 * @returns {number | null}
 */
function secondsOf(text) {
  const seconds = Number(text);
  return text.trim() === '' || !Number.isFinite(seconds) ? null : seconds;
}

/**
 * The piece of time that is drawn, in seconds: whole buckets, all those that have a part of the one that is chosen.
 * Null where none is chosen.
 * @param {Flame} flame
 * @param {Choice} choice
 * @returns {{from: number, to: number} | null}
 */
export function drawnRange(flame, choice) {
  const places = drawnBuckets(flame, choice);
  if (places === null || flame.time === null) return null;
  const { bucket, first } = flame.time;
  const exact = (/** @type {number} */ seconds) => Math.round(seconds * 1e6) / 1e6;
  return { from: exact((first + places.low - 1) * bucket), to: exact((first + places.high) * bucket) };
}

/**
 * The first and the last place of the buckets of a choice; none where the first is beyond the last.
 * @param {Flame} flame
 * @param {Choice} choice
 * @returns {{low: number, high: number} | null}
 */
function drawnBuckets(flame, choice) {
  const [from, to] = [secondsOf(choice.from), secondsOf(choice.to)];
  if (flame.time === null || (from === null && to === null)) return null;
  const { bucket, first, count } = flame.time;
  // Seconds of an address are decimal: a hair of rounding must not draw one bucket more.
  const low = from === null ? 0 : Math.floor(from / bucket + 1e-6) - first;
  const high = to === null ? count : Math.ceil(to / bucket - 1e-6) - first;
  return { low: Math.max(1, low + 1), high: Math.min(count, high) };
}

/**
 * Which places of a facet a choice takes in; null where all.
 * @param {Flame} flame
 * @param {Choice} choice
 * @param {Facet} facet
 * @returns {Uint8Array | null}
 */
function allowed(flame, choice, facet) {
  const value = choice[facet];
  if (value === '') return null;
  const values = flame.values[facet] ?? [];
  const result = new Uint8Array(values.length + 1);
  if (value === NONE) result[0] = 1;
  else if (facet === 'task' && (value === SLOW || value === MEDIAN)) {
    flame.tasks.forEach(({ group }, task) => (result[task + 1] = group === value ? 1 : 0));
  } else if (values.includes(value)) result[values.indexOf(value) + 1] = 1;
  return result;
}

/**
 * The numbers of the columns of a choice, ascending; `except` leaves one facet open.
 * @param {Flame} flame
 * @param {Choice} choice
 * @param {Facet} [except]
 * @returns {Uint32Array}
 */
export function chosenColumns(flame, choice, except) {
  const { count, event, places } = flame.columns;
  const chosen = new Uint8Array(count);
  const wanted = flame.events.findIndex(([name]) => name === choice.event);
  for (let column = 0; column < count; column++) chosen[column] = event[column] === wanted ? 1 : 0;
  for (const facet of FACETS) {
    const takes = facet === except ? null : allowed(flame, choice, facet);
    if (takes === null) continue;
    const of = places[facet];
    for (let column = 0; column < count; column++) chosen[column] &= takes[of === undefined ? 0 : of[column]];
  }
  const range = drawnBuckets(flame, choice);
  if (range !== null && places.time !== undefined) {
    const of = places.time;
    for (let column = 0; column < count; column++) {
      chosen[column] &= of[column] >= range.low && of[column] <= range.high ? 1 : 0;
    }
  }
  let found = 0;
  for (let column = 0; column < count; column++) found += chosen[column];
  const numbers = new Uint32Array(found);
  for (let column = 0, i = 0; column < count; column++) if (chosen[column]) numbers[i++] = column;
  return numbers;
}

/**
 * The self weights of a choice by node: what the layout takes.
 * @param {Flame} flame
 * @param {Choice} choice
 * @returns {Float64Array}
 */
export function weigh(flame, choice) {
  const selfs = new Float64Array(flame.size);
  const { bounds } = flame.columns;
  const { nodes, weights } = flame.cells;
  for (const column of chosenColumns(flame, choice)) {
    for (let i = bounds[column], end = bounds[column + 1]; i < end; i++) selfs[nodes[i]] += weights[i];
  }
  return selfs;
}

/**
 * The weight of all samples of an event, whatever is chosen of them.
 * @param {Flame} flame
 * @param {string} event
 */
export function eventWeight(flame, event) {
  return chosenColumns(flame, { ...EVERYTHING, event }).reduce((sum, column) => sum + flame.columns.totals[column], 0);
}

/**
 * The value of a facet that a column has.
 * @param {Flame} flame
 * @param {number} column
 * @param {Facet} facet
 */
export function facetValue(flame, column, facet) {
  const place = flame.columns.places[facet]?.[column] ?? 0;
  return place === 0 ? NONE : (flame.values[facet] ?? [])[place - 1];
}

/**
 * The values that a facet can take while the other facets stay as chosen, the heaviest first, "outside" last. Slow and
 * median tasks stand before single ones, which are there only within one stage.
 * @param {Flame} flame
 * @param {Choice} choice
 * @param {Facet} facet
 * @returns {{value: string, weight: number}[]}
 */
export function facetOptions(flame, choice, facet) {
  const { places, totals } = flame.columns;
  const values = flame.values[facet] ?? [];
  const weights = new Float64Array(values.length + 1);
  const seen = new Uint8Array(values.length + 1);
  const of = places[facet];
  for (const column of chosenColumns(flame, choice, facet)) {
    const place = of === undefined ? 0 : of[column];
    weights[place] += totals[column];
    seen[place] = 1;
  }
  const options = [...seen.keys()]
    .filter((place) => seen[place] === 1)
    .map((place) => ({ value: place === 0 ? NONE : values[place - 1], weight: weights[place] }));
  options.sort(
    (a, b) => Number(a.value === NONE) - Number(b.value === NONE) || b.weight - a.weight || (a.value < b.value ? -1 : 1),
  );
  if (facet !== 'task') return options;
  const groups = [SLOW, MEDIAN].map((value) => {
    let weight = 0;
    flame.tasks.forEach(({ group }, task) => (weight += group === value ? weights[task + 1] : 0));
    return { value, weight };
  });
  const single = choice.stage === '' ? options.filter(({ value }) => value === choice.task || value === NONE) : options;
  return [...groups.filter(({ weight }) => weight > 0), ...single];
}

/**
 * Whether there is anything to choose of a facet.
 * @param {Flame} flame
 * @param {Choice} choice
 * @param {Facet} facet
 */
export function isChoosable(flame, choice, facet) {
  if (choice[facet] !== '') return true;
  // Without Python the executor says all that the kind of process does: it is the driver, or it is none.
  if (facet === 'role' && flame.values.executor !== undefined && !flame.values.role?.includes('python')) return false;
  const open = { ...EVERYTHING, event: choice.event, stage: facet === 'attempt' || facet === 'task' ? choice.stage : '' };
  const options = facetOptions(flame, open, facet);
  // Attempts, roles and tasks among nothing but "outside" are no choice; stages and executions are.
  const real = facet === 'attempt' || facet === 'role' ? options.filter(({ value }) => value !== NONE) : options;
  return real.length > 1;
}
