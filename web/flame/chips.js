// What is done to the stacks, one removable chip for each step, with what it left out.

import { formatShare } from './format.js';
import { made } from './made.js';
import { targetWords } from './target.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./shape.js').Step} Step */

const STEP_WORDS = {
  hide: 'Without stacks through',
  merge: 'Merged into callers:',
  focus: 'Only from',
  callers: 'Only up to',
  collapse: 'Recursion collapsed:',
  recursion: 'All recursion collapsed',
  direct: 'Direct recursion collapsed',
  reverse: 'Leaf first',
  sandwich: 'Callers and callees of',
};

/**
 * @param {Step} step
 * @param {View} view
 */
export function stepWords({ kind, target }, { flame }) {
  return target === null ? STEP_WORDS[kind] : `${STEP_WORDS[kind]} ${targetWords(target, flame)}`;
}

/**
 * @param {HTMLElement} list
 * @param {View} view
 * @param {(place: number) => void} remove
 */
export function showChips(list, view, remove) {
  const chips = view.steps.map((step, place) => {
    const words = stepWords(step, view);
    const item = made('li', words);
    const share = view.base.dropped[place].map((weight, slice) => weight / view.slices[slice]);
    const lost = share.some((part) => part > 0) ? `leaves out ${share.map(formatShare).join(' and ')}` : '';
    const note = view.base.matched[place] ? lost : 'no frame matches';
    if (note !== '') item.append(made('span', note, { className: 'quiet' }));
    const button = made('button', '×', { type: 'button' });
    button.setAttribute('aria-label', `Remove: ${words}`);
    button.title = step.target === null ? 'Remove' : `Remove (${step.target.text})`;
    button.addEventListener('click', () => remove(place));
    item.append(button);
    return item;
  });
  list.hidden = chips.length === 0;
  list.replaceChildren(...chips);
}
