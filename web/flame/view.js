// What is seen now, and what can be said of a node of it.

import { differenceWords, meanShares, sliceFigures } from './compare.js';
import { chosenColumns, facetValue } from './facets.js';
import { formatShare, formatWeight } from './format.js';
import { deepestBelow, layOut, totalsOf } from './layout.js';
import { search } from './search.js';
import { nameOf } from './spans.js';

/** @typedef {import('./unpack.js').Flame} Flame */
/** @typedef {import('./facets.js').Choice} Choice */
/** @typedef {import('./shape.js').Step} Step */
/** @typedef {import('./shape_regroup.js').Shaped} Shaped */
/** @typedef {import('./spans.js').Picture} Picture */

/**
 * The state of one flame graph. Only element.js changes it.
 * @typedef {object} View
 * @property {Flame} flame
 * @property {Record<string, Record<string, string>>} names words beside the ids of stages and SQL executions, and
 *   `codegen`: what of the plan became generated code, by `execution/number`
 * @property {Choice} choice
 * @property {Choice | null} other the choice to compare with
 * @property {[string, string][]} unknown what the address asks for and the data do not have: key and value
 * @property {Step[]} steps
 * @property {number[]} slices weight of each slice (this one and, where two are compared, the other) before all steps
 * @property {number[]} wholes the same after the steps, before a sandwich: what is 100 %
 * @property {Shaped & {dropped: number[][], matched: boolean[]}} base the stacks after the steps, root first
 * @property {Picture} main
 * @property {Picture | null} callers in a sandwich; `main` has the callees then
 * @property {string} pattern
 * @property {RegExp | null} expression
 * @property {'self' | 'total' | 'difference'} sortedBy order of the table
 */

/**
 * The unit of the weights of a slice.
 * @param {View} view
 * @param {number} [slice]
 */
export function unitOf({ flame, choice, other }, slice = 0) {
  const wanted = slice === 1 && other !== null ? other.event : choice.event;
  return flame.events.find(([event]) => event === wanted)?.[1] ?? 'samples';
}

/**
 * @param {View} view
 * @param {Shaped} shaped
 * @param {Uint8Array | null} cut
 * @param {boolean} up
 * @returns {Picture} of all of it, nothing zoomed
 */
export function pictureOf(view, { tree, selfs }, cut, up) {
  const compared = selfs.length === 2;
  const layout = layOut(tree, compared ? meanShares(selfs, view.wholes) : selfs[0]);
  const counted = unitOf(view) === 'samples' && unitOf(view, 1) === 'samples';
  const pair = compared ? { wholes: view.wholes, selfs, totals: selfs.map((own) => totalsOf(tree, own)), counted } : null;
  const found = view.expression === null ? null : search(tree, layout, view.expression);
  const deepest = deepestBelow(tree, layout, 0);
  return { tree, layout, pair, found, cut, root: 0, selected: 0, first: 0, deepest, up, leafFirst: false };
}

/**
 * The frames from the root to a node.
 * @param {Picture['tree']} tree
 * @param {number} node
 * @returns {number[]}
 */
export function pathOf({ labels, parents }, node) {
  const path = [];
  for (let at = node; at > 0; at = parents[at]) path.push(labels[at]);
  return path.reverse();
}

/**
 * The node that frames from the root lead to; the root where they lead nowhere.
 * @param {Picture['tree']} tree
 * @param {number[]} path
 */
export function nodeOfPath({ labels, ends }, path) {
  let node = 0;
  for (const label of path) {
    let callee = node + 1;
    while (callee < ends[node] && labels[callee] !== label) callee = ends[callee];
    if (callee >= ends[node]) return 0;
    node = callee;
  }
  return node;
}

const COMPILATION_WORDS = /** @type {Record<string, string>} */ ({
  interpreted: 'interpreted',
  c1: 'compiled by C1',
  jit: 'compiled',
  inlined: 'inlined into its caller',
});

/**
 * Whose code a node is, and how it was compiled where that is told apart.
 * @param {Picture} picture
 * @param {number} node
 */
function kindOf({ tree }, node) {
  if (node === 0) return 'everything that is chosen';
  const label = tree.labels[node];
  const compilation = COMPILATION_WORDS[tree.kindNames[tree.kinds[label]]];
  return [tree.familyNames[tree.families[label]][1], compilation].filter(Boolean).join(', ');
}

/**
 * The node of the plan that a frame of generated code was made from, with its operators where all executions that
 * pass here have the same; empty for other frames.
 * @param {View} view
 * @param {Picture} picture
 * @param {number} node
 */
function planOf(view, { tree }, node) {
  const number = /GeneratedIteratorForCodegenStage(\d+)/.exec(nameOf(tree, node))?.[1];
  if (number === undefined) return '';
  const { flame, choice, names } = view;
  const executions = new Set();
  for (const column of chosenColumns(flame, choice)) {
    const sql = facetValue(flame, column, 'sql');
    // Nodes of a tree made anew are not those of the columns.
    if (!executions.has(sql) && (tree !== flame || passes(flame, column, node))) executions.add(sql);
  }
  const known = [...executions].map((sql) => names.codegen?.[`${sql}/${number}`]);
  const words = new Set(tree === flame ? known : known.filter(Boolean));
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
 * The words that say what a node is and weighs: name, whose code, and lines of a word and figures.
 * @param {View} view
 * @param {Picture} picture
 * @param {number} node
 * @returns {{name: string, about: string[], figures: [string, string][]}}
 */
export function describe(view, picture, node) {
  const { tree, layout, root, cut, pair } = picture;
  const unit = unitOf(view);
  const about = [kindOf(picture, node), planOf(view, picture, node)].filter(Boolean);
  if (cut?.[node]) about.push('Zoom in to see its callers.');
  const name = nameOf(tree, node);
  if (pair !== null) {
    /** @type {(word: string, weights: Float64Array[]) => [string, string][]} */
    const both = (word, [here, there]) => [
      [word, `${sliceFigures(pair, 0, here[node], unit)} here, ${sliceFigures(pair, 1, there[node], unitOf(view, 1))} there`],
      ['', differenceWords(pair, here[node], there[node])],
    ];
    return { name, about, figures: [...both('Total', pair.totals), ...both('Self', pair.selfs)].filter(([, text]) => text) };
  }
  const figures = (/** @type {number} */ weight) => {
    const zoomed = root > 0 ? `, ${formatShare(weight / layout.totals[root])} of the zoomed frame` : '';
    const [whole] = view.wholes;
    const slice = whole < view.slices[0] ? `, ${formatShare(weight / view.slices[0])} with what is left out` : '';
    return `${formatWeight(weight, unit)} (${formatShare(weight / whole)} of all${zoomed}${slice})`;
  };
  return { name, about, figures: [['Total', figures(layout.totals[node])], [picture.leafFirst ? 'Outermost' : 'Self', figures(layout.selfs[node])]] };
}
