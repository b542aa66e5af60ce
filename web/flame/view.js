// What is seen now, and what can be said of a node of it.

import { formatShare, formatWeight } from './format.js';

/** @typedef {import('./unpack.js').Flame} Flame */
/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('./search.js').Found} Found */
/** @typedef {import('./facets.js').Choice} Choice */

/**
 * The state of one flame graph. Only element.js changes it.
 * @typedef {object} View
 * @property {Flame} flame
 * @property {Record<string, Record<string, string>>} names words beside the ids of stages and SQL executions
 * @property {Choice} choice
 * @property {Layout} layout
 * @property {number} root the zoomed node
 * @property {number} selected the node that the keyboard stands on
 * @property {number} deepest the last level below `root` that has weight
 * @property {boolean} up
 * @property {string} pattern
 * @property {Found | null} found
 * @property {'self' | 'total'} sortedBy order of the table
 */

/**
 * The unit of the weights now.
 * @param {View} view
 */
export function unitOf(view) {
  return view.flame.events.find(([event]) => event === view.choice.event)?.[1] ?? 'samples';
}

/**
 * @param {View} view
 * @param {number} node
 */
export function nameOf(view, node) {
  return node === 0 ? 'all' : view.flame.names[view.flame.labels[node]];
}

/**
 * The words that say what a node is and weighs.
 * @param {View} view
 * @param {number} node
 */
export function describe(view, node) {
  const { flame, layout, root } = view;
  const figures = (/** @type {number} */ weight) => {
    const zoomed = root > 0 ? `, ${formatShare(weight / layout.totals[root])} of the zoomed frame` : '';
    return `${formatWeight(weight, unitOf(view))} (${formatShare(weight / layout.totals[0])} of all${zoomed})`;
  };
  return {
    name: nameOf(view, node),
    family: node === 0 ? 'everything that is chosen' : flame.familyNames[flame.families[flame.labels[node]]][1],
    total: figures(layout.totals[node]),
    self: figures(layout.selfs[node]),
  };
}
