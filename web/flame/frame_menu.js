// What can be done with a frame, with the stacks, and with a family of frames.

import { packageOf } from './target.js';
import { shapeText } from './shape.js';

/** @typedef {import('./menu.js').MenuItem} MenuItem */
/** @typedef {import('./shape.js').Step} Step */
/** @typedef {import('./shape.js').StepKind} StepKind */
/** @typedef {import('./target.js').Target} Target */
/** @typedef {import('./view.js').View} View */

/**
 * @typedef {object} Deeds
 * @property {(kind: StepKind, target: Target | null) => void} step
 * @property {(place: number) => void} remove
 * @property {(pattern: string) => void} find
 * @property {(text: string, what: string) => void} copy
 */

/**
 * @param {View} view
 * @param {string} name of the frame; empty for the root
 * @param {string[]} stack names, root first
 * @param {() => void} zoom
 * @param {Deeds} deeds
 * @returns {(MenuItem | null)[]}
 */
export function frameMenu(view, name, stack, zoom, deeds) {
  /** @type {MenuItem[]} */
  const zoomed = [{ text: 'Zoom to this frame', key: 'Enter', act: zoom }];
  if (name === '') return zoomed;
  /** @type {Target} */
  const frame = { by: 'frame', text: name };
  const prefix = packageOf(name);
  const item = (/** @type {string} */ text, /** @type {string} */ key, /** @type {StepKind} */ kind, target = frame) => ({
    text, key, act: () => deeds.step(kind, target),
  });
  /** @type {Target} */
  const inPackage = { by: 'package', text: prefix };
  const words = prefix.replace(/\.$/, '');
  const leafFirst = view.steps.some(({ kind }) => kind === 'reverse');
  const focus = leafFirst ? 'callers' : 'focus';
  return [
    ...zoomed,
    item(leafFirst ? 'Only this function and its callers' : 'Focus: only stacks through this function', 'f', focus),
    item('Sandwich: its callers and callees', 's', 'sandwich'),
    item('Hide stacks through this function', 'h', 'hide'),
    item('Merge this function into its callers', 'm', 'merge'),
    item('Collapse its recursion', 'c', 'collapse'),
    ...(prefix === '' ? [] : [
      null,
      item(`Focus on package ${words}`, 'F', focus, inPackage),
      item(`Hide stacks through package ${words}`, 'H', 'hide', inPackage),
      item(`Merge package ${words} into its callers`, 'M', 'merge', inPackage),
    ]),
    null,
    { text: 'Search for this function', key: '=', act: () => deeds.find(exactly(name)) },
    { text: 'Copy its name', key: 'y', act: () => deeds.copy(name, 'Name') },
    { text: 'Copy its stack', key: 'Ctrl+C', act: () => deeds.copy(stack.join('\n'), 'Stack') },
  ];
}

/**
 * A regular expression for just this name.
 * @param {string} name
 */
export function exactly(name) {
  return `^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;
}

/**
 * @param {View} view
 * @param {Deeds} deeds
 * @returns {(MenuItem | null)[]}
 */
export function shapeMenu(view, deeds) {
  const { steps, pattern, expression } = view;
  const toggle = (/** @type {string} */ text, /** @type {StepKind} */ kind, /** @type {string} */ [key]) => {
    const place = steps.findIndex((step) => step.kind === kind);
    const act = () => (place < 0 ? deeds.step(kind, null) : deeds.remove(place));
    return { text, checked: place >= 0, act, ...(key === undefined ? {} : { key }) };
  };
  const matches = expression === null ? 'what a search finds' : `/${pattern}/`;
  const found = (/** @type {string} */ text, /** @type {StepKind} */ kind) => ({
    text: text.replace('…', () => matches),
    disabled: expression === null,
    act: () => deeds.step(kind, { by: 'pattern', text: pattern }),
  });
  return [
    toggle('Leaf first', 'reverse', 'r'),
    toggle('Collapse all recursion, direct and mutual', 'recursion', 'x'),
    toggle('Collapse direct recursion only', 'direct', ''),
    null,
    found('Focus on …', 'focus'),
    found('Hide stacks through …', 'hide'),
    found('Merge … into its callers', 'merge'),
    null,
    { text: 'Undo the last', key: 'Backspace', disabled: steps.length === 0, act: () => deeds.remove(steps.length - 1) },
    { text: 'Undo all', disabled: shapeText(steps) === '', act: () => deeds.remove(-1) },
  ];
}

/**
 * @param {string} family
 * @param {string} words
 * @param {Deeds} deeds
 * @returns {MenuItem[]}
 */
export function familyMenu(family, words, deeds) {
  /** @type {Target} */
  const target = { by: 'family', text: family };
  return [
    { text: `Focus on ${words}`, key: 'f', act: () => deeds.step('focus', target) },
    { text: `Hide stacks through ${words}`, key: 'h', act: () => deeds.step('hide', target) },
    { text: `Merge ${words} into its callers`, key: 'm', act: () => deeds.step('merge', target) },
  ];
}
