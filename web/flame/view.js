// What is seen now, and what can be said of a node of it.

import { chosenColumns, facetValue } from './facets.js';
import { formatShare, formatWeight } from './format.js';

/** @typedef {import('./unpack.js').Flame} Flame */
/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('./search.js').Found} Found */
/** @typedef {import('./facets.js').Choice} Choice */

/**
 * The state of one flame graph. Only element.js changes it.
 * @typedef {object} View
 * @property {Flame} flame
 * @property {Record<string, Record<string, string>>} names words beside the ids of stages and SQL executions, and
 *   `codegen`: what of the plan became generated code, by `execution/number`
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

const COMPILATION_WORDS = /** @type {Record<string, string>} */ ({
  interpreted: 'interpreted',
  c1: 'compiled by C1',
  jit: 'compiled',
  inlined: 'inlined into its caller',
});

/**
 * Whose code a node is, and how it was compiled where that is told apart.
 * @param {View} view
 * @param {number} node
 */
function kindOf(view, node) {
  if (node === 0) return 'everything that is chosen';
  const { flame } = view;
  const label = flame.labels[node];
  const compilation = COMPILATION_WORDS[flame.kindNames[flame.kinds[label]]];
  return [flame.familyNames[flame.families[label]][1], compilation].filter(Boolean).join(', ');
}

/**
 * The node of the plan that a frame of generated code was made from, with its operators where all executions that
 * pass here have the same; empty for other frames.
 * @param {View} view
 * @param {number} node
 */
function planOf(view, node) {
  const number = /GeneratedIteratorForCodegenStage(\d+)/.exec(nameOf(view, node))?.[1];
  if (number === undefined) return '';
  const { flame, choice, names } = view;
  const executions = new Set();
  for (const column of chosenColumns(flame, choice)) {
    const sql = facetValue(flame, column, 'sql');
    if (!executions.has(sql) && passes(flame, column, node)) executions.add(sql);
  }
  const words = new Set([...executions].map((sql) => names.codegen?.[`${sql}/${number}`]));
  const [only] = words;
  return words.size === 1 && only ? only : `WholeStageCodegen (${number})`;
}

/**
 * Whether a column has weight at a node or below it.
 * @param {Flame} flame
 * @param {number} column
 * @param {number} node
 */
function passes(flame, column, node) {
  const { nodes } = flame.cells;
  for (let i = flame.columns.bounds[column]; i < flame.columns.bounds[column + 1]; i++) {
    if (nodes[i] >= node && nodes[i] < flame.ends[node]) return true;
  }
  return false;
}

/**
 * The words that say what a node is and weighs.
 * @param {View} view
 * @param {number} node
 */
export function describe(view, node) {
  const { layout, root } = view;
  const figures = (/** @type {number} */ weight) => {
    const zoomed = root > 0 ? `, ${formatShare(weight / layout.totals[root])} of the zoomed frame` : '';
    return `${formatWeight(weight, unitOf(view))} (${formatShare(weight / layout.totals[0])} of all${zoomed})`;
  };
  return {
    name: nameOf(view, node),
    kind: kindOf(view, node),
    plan: planOf(view, node),
    total: figures(layout.totals[node]),
    self: figures(layout.selfs[node]),
  };
}
