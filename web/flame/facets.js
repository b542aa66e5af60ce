// Which weight columns are shown: one event, and any or one SQL execution, stage and executor.

/** @typedef {import('./unpack.js').Flame} Flame */
/** @typedef {import('./unpack.js').Column} Column */
/** @typedef {'sql' | 'stage' | 'executor'} Facet */
/** @typedef {{event: string} & Record<Facet, string>} Choice an empty value is "any", NONE is "outside of any" */

export const NONE = 'none';

/** @type {Facet[]} */
export const FACETS = ['sql', 'stage', 'executor'];

/**
 * @param {Column} column
 * @param {Facet} facet
 */
export function facetValue(column, facet) {
  const value = column[facet];
  return value === null ? NONE : String(value);
}

/**
 * The columns of a choice; `except` leaves one facet open.
 * @param {Flame} flame
 * @param {Choice} choice
 * @param {Facet} [except]
 * @returns {Column[]}
 */
export function chosenColumns(flame, choice, except) {
  return flame.columns.filter(
    (column) =>
      flame.events[column.event][0] === choice.event &&
      FACETS.every((facet) => facet === except || choice[facet] === '' || facetValue(column, facet) === choice[facet]),
  );
}

/**
 * The values that a facet can take while the other facets stay as chosen, the heaviest first, "outside" last.
 * @param {Flame} flame
 * @param {Choice} choice
 * @param {Facet} facet
 * @returns {{value: string, weight: number}[]}
 */
export function facetOptions(flame, choice, facet) {
  /** @type {Map<string, number>} */
  const weights = new Map();
  for (const column of chosenColumns(flame, choice, facet)) {
    const value = facetValue(column, facet);
    weights.set(value, (weights.get(value) ?? 0) + column.total);
  }
  const options = [...weights].map(([value, weight]) => ({ value, weight }));
  return options.sort(
    (a, b) => Number(a.value === NONE) - Number(b.value === NONE) || b.weight - a.weight || (a.value < b.value ? -1 : 1),
  );
}

/**
 * A choice made sound: an event that there is, and no facet value that the event does not have.
 * @param {Flame} flame
 * @param {Choice} choice
 * @returns {Choice}
 */
export function soundChoice(flame, choice) {
  const known = flame.events.some(([event]) => event === choice.event);
  const sound = { ...choice, event: known ? choice.event : (flame.events[0]?.[0] ?? '') };
  for (const facet of FACETS) {
    const among = flame.columns.filter((column) => flame.events[column.event][0] === sound.event);
    if (!among.some((column) => facetValue(column, facet) === sound[facet])) sound[facet] = '';
  }
  return sound;
}
