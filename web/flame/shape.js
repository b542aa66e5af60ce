// What is done to the stacks before they are drawn: a list of steps, kept in the address as `shape=`.

import { cutBelow, onlyStacks, outermost, withoutStacks } from './shape_cut.js';
import { withoutDirectRecursion, withoutFrames, withoutRecursion } from './shape_recursion.js';
import { regroup, sumOf } from './shape_regroup.js';
import { reversed } from './shape_reverse.js';
import { framesOf, parseTarget, targetText } from './target.js';

/** @typedef {import('./shape_regroup.js').Tree} Tree */
/** @typedef {import('./shape_regroup.js').Shaped} Shaped */
/** @typedef {import('./target.js').Target} Target */

/**
 * `hide` drops the stacks through the target, `merge` takes its frames out, `focus` keeps the stacks through it from it
 * on, `callers` keeps them up to it, `collapse` its recursion; `recursion` and `direct` are for all frames. `reverse`
 * and `sandwich` are how the result is shown, and come last wherever they stand.
 * @typedef {'hide' | 'merge' | 'focus' | 'callers' | 'collapse' | 'recursion' | 'direct' | 'reverse' | 'sandwich'} StepKind
 */

/** @typedef {{kind: StepKind, target: Target | null}} Step */

const WITH_TARGET = ['hide', 'merge', 'focus', 'callers', 'collapse', 'sandwich'];
const WITHOUT_TARGET = ['recursion', 'direct', 'reverse'];

/**
 * What is understood of `shape=`; the rest is left out.
 * @param {string} text
 * @returns {Step[]}
 */
export function parseShape(text) {
  /** @type {Step[]} */
  const steps = [];
  for (const part of text.split(',')) {
    const [, kind, rest] = /^([a-z]*)(.*)$/s.exec(part) ?? [];
    const target = parseTarget(rest.replace(/%2C/g, ',').replace(/%25/g, '%'));
    if (WITH_TARGET.includes(kind) && target !== null) steps.push({ kind: /** @type {StepKind} */ (kind), target });
    else if (WITHOUT_TARGET.includes(kind) && rest === '') steps.push({ kind: /** @type {StepKind} */ (kind), target: null });
  }
  return steps;
}

/**
 * @param {Step[]} steps
 * @returns {string} for `parseShape`
 */
export function shapeText(steps) {
  const words = (/** @type {Step} */ { kind, target }) => (target === null ? kind : kind + targetText(target));
  return steps.map((step) => words(step).replace(/%/g, '%25').replace(/,/g, '%2C')).join(',');
}

/**
 * One step more. Only one of `reverse` and `sandwich` can hold, and no step twice.
 * @param {Step[]} steps
 * @param {Step} step
 * @returns {Step[]}
 */
export function withStep(steps, step) {
  const isView = (/** @type {Step} */ { kind }) => kind === 'reverse' || kind === 'sandwich';
  const same = shapeText([step]);
  const kept = steps.filter((old) => shapeText([old]) !== same && !(isView(step) && isView(old)));
  return [...kept, step];
}

/**
 * The stacks after all steps but `reverse` and `sandwich`, and what each step dropped.
 * @param {Tree} tree
 * @param {Float64Array[]} selfs
 * @param {Step[]} steps
 * @returns {Shaped & {dropped: number[][], matched: boolean[]}} by step: weight dropped of each slice, and whether its
 *   target is the name of any frame here
 */
export function shapeStacks(tree, selfs, steps) {
  /** @type {Shaped} */
  let shaped = { tree, selfs };
  const dropped = [];
  const matched = [];
  for (const { kind, target } of steps) {
    const before = shaped.selfs.map(sumOf);
    const which = target === null ? new Uint8Array(0) : framesOf(tree, target);
    if (kind === 'hide') shaped = withoutStacks(shaped, which);
    else if (kind === 'merge') shaped = regroup(shaped, withoutFrames(shaped.tree, which), null);
    else if (kind === 'focus') shaped = regroup(shaped, null, outermost(shaped.tree, which));
    else if (kind === 'callers') shaped = cutBelow(shaped, which, false);
    else if (kind === 'collapse') shaped = regroup(shaped, withoutRecursion(shaped.tree, which), null);
    else if (kind === 'recursion') shaped = regroup(shaped, withoutRecursion(shaped.tree, null), null);
    else if (kind === 'direct') shaped = regroup(shaped, withoutDirectRecursion(shaped.tree), null);
    dropped.push(shaped.selfs.map((weights, slice) => before[slice] - sumOf(weights)));
    matched.push(target === null || which.includes(1));
  }
  return { ...shaped, dropped, matched };
}

/**
 * What is drawn of shaped stacks: one tree, or the callees and the callers of the function in a sandwich. Each stack
 * through that function is parted at its outermost call, so that recursion counts once and both trees weigh the same.
 * @param {Shaped} shaped
 * @param {Step[]} steps
 * @param {number[]} near frames from the top to the zoomed node of the tree that is reversed
 * @returns {{main: Shaped, callers: Shaped | null, cut: Uint8Array | null}} `cut` belongs to the tree that is reversed
 */
export function shownStacks(shaped, steps, near) {
  const sandwich = steps.find(({ kind }) => kind === 'sandwich')?.target;
  if (sandwich) {
    const which = framesOf(shaped.tree, sandwich);
    const { cut, ...callers } = reversed(cutBelow(shaped, which, true), near);
    return { main: regroup(shaped, null, outermost(shaped.tree, which)), callers, cut };
  }
  if (!steps.some(({ kind }) => kind === 'reverse')) return { main: shaped, callers: null, cut: null };
  const { cut, ...main } = reversed(shaped, near);
  return { main, callers: null, cut };
}

/**
 * The whole stacks of what is drawn, root first: what other tools are given.
 * @param {Shaped} shaped
 * @param {Step[]} steps
 * @returns {Shaped}
 */
export function wholeStacks(shaped, steps) {
  const sandwich = steps.find(({ kind }) => kind === 'sandwich')?.target;
  return sandwich ? onlyStacks(shaped, framesOf(shaped.tree, sandwich)) : shaped;
}
