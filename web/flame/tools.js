// What stands around the pictures and can be pressed: choices, buttons, search, legend, table.

import { EVERYTHING, choiceState } from './facets.js';
import { exactly, familyMenu, shapeMenu } from './frame_menu.js';
import { openMenu } from './menu.js';
import { showPicks, versusText } from './picks.js';
import { fileName, fileOf, saveFile } from './save.js';

/** @typedef {import('./view.js').View} View */
/** @typedef {import('./panel.js').Panel} Panel */
/** @typedef {import('./save.js').FileForm} FileForm */

/**
 * What pressing them comes to.
 * @typedef {object} Uses
 * @property {(changes: Record<string, string>) => void} change the address
 * @property {import('./frame_menu.js').Deeds} deeds
 * @property {(step: number) => void} hit
 * @property {() => import('./spans.js').Scene[]} scenes what is on screen, from top to bottom
 * @property {(text: string) => void} toast
 * @property {(rows: 'few' | 'more' | 'same') => void} table
 * @property {(comparing: boolean) => void} compare shows or hides the choices of a comparison
 */

const SLOW_SEARCH_NODES = 200_000;

/**
 * @param {HTMLElement} host
 * @param {Panel} panel
 * @param {View} view
 * @param {Uses} uses
 */
export function wireTools(host, panel, view, { change, deeds, hit, scenes, toast, table, compare }) {
  const { flame } = view;
  const on = (/** @type {string} */ name, /** @type {(button: HTMLButtonElement) => void} */ act) =>
    panel.button(name).addEventListener('click', () => act(panel.button(name)));
  const below = (/** @type {HTMLElement} */ button, /** @type {string} */ label, /** @type {any[]} */ items) => {
    const { left, bottom } = button.getBoundingClientRect();
    openMenu(host, label, items, left, bottom + 2, button);
  };
  const save = async (/** @type {FileForm} */ form) => {
    try {
      const name = fileName(view, form);
      saveFile(await fileOf(view, scenes(), form), name);
      toast(`Saved as ${name}`);
    } catch (error) {
      toast(`Not saved: ${error instanceof Error ? error.message : error}`);
    }
  };
  on('shape', (button) => below(button, 'What is done to the stacks', shapeMenu(view, deeds)));
  on('export', (button) =>
    below(button, 'Save or copy what is seen', [
      { text: 'Folded stacks (flamegraph.pl and most others)', key: '1', act: () => save('folded') },
      { text: 'speedscope', key: '2', act: () => save('speedscope') },
      { text: 'pprof', key: '3', act: () => save('pprof') },
      { text: 'Picture, PNG', key: '4', act: () => save('png') },
      { text: 'Picture, SVG', key: '5', act: () => save('svg') },
      null,
      { text: 'Copy a link to this view', key: '6', act: () => deeds.copy(location.href, 'Link') },
    ]));
  on('compare', () => {
    compare(panel.versus.hidden || view.other !== null);
    showPicks(panel.others, view, view.other ?? view.choice);
    panel.otherSlice.open = view.other === null;
  });
  on('swap', () => {
    if (view.other === null) return;
    change({ ...choiceState(flame, view.other), versus: versusText(view.other, view.choice), node: '' });
  });
  on('end', () => {
    compare(false);
    change({ versus: '', node: '' });
    panel.button('compare').focus();
  });
  on('flip', () => change({ up: view.main.up ? '' : '1' }));
  on('reset', () => {
    panel.search.value = '';
    compare(false);
    const all = choiceState(flame, { ...EVERYTHING, event: view.choice.event });
    change({ ...all, search: '', shape: '', versus: '', node: '' });
  });
  on('help', () => panel.help.showModal());
  on('previous', () => hit(-1));
  on('next', () => hit(1));
  on('more', () => table('more'));
  for (const [name, pick] of Object.entries(panel.picks)) {
    pick.addEventListener('change', () => change(choiceState(flame, { ...view.choice, [name]: pick.value })));
  }
  for (const [name, pick] of Object.entries(panel.others)) {
    pick.addEventListener('change', () =>
      change({ versus: versusText(view.choice, { ...(view.other ?? view.choice), [name]: pick.value }), node: '' }));
  }

  let searchTimer = 0;
  panel.search.addEventListener('input', () => {
    clearTimeout(searchTimer);
    searchTimer = setTimeout(() => deeds.find(panel.search.value), flame.size > SLOW_SEARCH_NODES ? 200 : 0);
  });
  panel.search.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') deeds.find('');
    if (event.key !== 'Enter') return;
    clearTimeout(searchTimer);
    deeds.find(panel.search.value);
    panel.view.focus();
    hit(event.shiftKey ? -1 : 1);
  });

  panel.top.addEventListener('toggle', () => table('same'));
  panel.filter.addEventListener('input', () => table('few'));
  panel.table.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    if (button === null) return;
    const { by, does, frame } = button.dataset;
    if (by !== undefined) {
      view.sortedBy = /** @type {View['sortedBy']} */ (by);
      table('same');
    } else if (does === 'find') deeds.find(exactly(flame.names[Number(frame)]));
    else {
      deeds.step('sandwich', { by: 'frame', text: flame.names[Number(frame)] });
      panel.views.scrollIntoView({ block: 'nearest' });
      panel.view.focus({ preventScroll: true });
    }
  });
  panel.legend.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    const family = flame.familyNames.find(([name]) => name === button?.dataset.family);
    if (button && family) below(button, `What can be done with ${family[1]}`, familyMenu(family[0], family[1], deeds));
  });
  document.addEventListener('keydown', (event) => {
    if (event.target instanceof HTMLElement && event.target.matches('input, select, textarea, [contenteditable]')) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/') {
      event.preventDefault();
      panel.search.focus();
    } else if (event.key === '?' && !panel.help.open) panel.help.showModal();
  });
}
