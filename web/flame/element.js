// <x-flame>: the flame graph as an element. Its data lie in a script inside it (report/flame_page.py writes it).
// The address holds all of its state: whatever is done writes the address, and `update` shows what the address says.

import { onState, readState, writeState } from '../state.js';
import { onThemeChange } from '../theme.js';
import { inflate, unpack } from './unpack.js';
import { deepestBelow } from './layout.js';
import { nextHit, search } from './search.js';
import { EVERYTHING, choiceState, otherChoice, readChoice, unknownOf, weigh } from './facets.js';
import { readPalette } from './palette.js';
import { nameOf } from './spans.js';
import { parseShape, shapeStacks, shapeText, shownStacks, withStep } from './shape.js';
import { sumOf } from './shape_regroup.js';
import { expressionOf } from './target.js';
import { buildPanel } from './panel.js';
import { createPane } from './pane.js';
import { openMenu } from './menu.js';
import { exactly, familyMenu, frameMenu, shapeMenu } from './frame_menu.js';
import { showPicks, sliceNotes, versusText } from './picks.js';
import { showChips, stepWords } from './chips.js';
import { describe, pathOf, pictureOf } from './view.js';
import { parseZoom, zoomText, zoomedNode } from './zoom.js';
import { showTop } from './table.js';
import { made, showComparison, showFound, showLegend, showPath, showTip, weightWords } from './words.js';
import { copyText, fileName, fileOf, saveFile } from './save.js';

/** @typedef {import('./unpack.js').Flame} Flame */
/** @typedef {import('./view.js').View} View */
/** @typedef {import('./pane.js').Pane} Pane */
/** @typedef {import('./frame_menu.js').Deeds} Deeds */
/** @typedef {import('./save.js').FileForm} FileForm */

const ROWS = 200;
const SLOW_SEARCH_NODES = 200_000;

class FlameGraph extends HTMLElement {
  async connectedCallback() {
    if (this.dataset.state) return;
    this.dataset.state = 'loading';
    try {
      const flame = unpack(await inflate(this.querySelector('script')?.textContent ?? ''));
      if (flame.columns.count === 0) this.textContent = 'There are no samples to show.';
      else show(this, flame, JSON.parse(this.dataset.names ?? '{}'));
      this.dataset.state = 'ready';
    } catch (error) {
      this.dataset.state = 'failed';
      this.textContent = `The flame graph cannot be shown: ${error instanceof Error ? error.message : error}`;
    }
  }
}

/**
 * Builds the panel in `host` and keeps it and the pictures up to date.
 * @param {HTMLElement} host
 * @param {Flame} flame
 * @param {Record<string, Record<string, string>>} names
 */
function show(host, flame, names) {
  const panel = buildPanel(host);
  let palette = readPalette(flame, host);
  /** @type {Float64Array[]} */
  let selfs = [];
  /** What the address said when it was last shown. */
  let shown = { slice: '', shape: '-', search: '', node: '', up: '' };
  let rows = ROWS;
  let searchTimer = 0;
  let toastTimer = 0;
  let comparing = false;
  const view = /** @type {View} */ (/** @type {Partial<View>} */ ({
    flame, names, other: null, callers: null, pattern: '', expression: null, sortedBy: 'self',
  }));

  /** Changes the address; where it holds an anchor of the page, what is seen is written into it. */
  const change = (/** @type {Record<string, string>} */ changes) => {
    const { shape, search: pattern, node, up } = shown;
    const versus = view.other === null ? '' : versusText(view.choice, view.other);
    const seen = readState() === null ? { ...choiceState(flame, view.choice), versus, shape, search: pattern, node, up } : {};
    writeState({ ...seen, ...changes });
  };

  const update = (/** @type {URLSearchParams} */ state) => {
    const value = (/** @type {string} */ name) => state.get(name) ?? '';
    const choice = readChoice(flame, state);
    const other = otherChoice(flame, choice, value('versus'));
    const next = {
      slice: JSON.stringify([choice, other]),
      shape: value('shape'),
      search: value('search'),
      node: value('node'),
      up: value('up') === '1' ? '1' : '',
    };
    const sliced = next.slice !== shown.slice;
    const shaped = sliced || next.shape !== shown.shape;
    const searched = next.search !== shown.search;
    const zoomed = next.node !== shown.node;
    const flipped = next.up !== shown.up;
    shown = next;
    const asked = { ...EVERYTHING, ...Object.fromEntries([...state].filter(([key]) => key in EVERYTHING)) };
    view.unknown = unknownOf(asked, choice);
    if (sliced) {
      view.choice = choice;
      view.other = other;
      selfs = [choice, ...(other === null ? [] : [other])].map((of) => weigh(flame, of));
      view.slices = selfs.map(sumOf);
      showPicks(panel.picks, view, choice);
    }
    if (sliced || comparing !== !panel.versus.hidden) showPicks(panel.others, view, other ?? choice);
    panel.slice.textContent = sliceNotes(view);
    panel.slice.hidden = panel.slice.textContent === '';
    if (shaped) {
      view.steps = parseShape(next.shape);
      view.base = shapeStacks(flame, selfs, view.steps);
      view.wholes = view.base.selfs.map(sumOf);
    }
    if (searched) {
      view.pattern = next.search;
      view.expression = next.search === '' ? null : expressionOf(next.search);
      if (document.activeElement !== panel.search) panel.search.value = next.search;
    }
    const zoom = parseZoom(next.node);
    const isCut = [view.main, view.callers].some((picture) => picture?.cut);
    if (shaped || (zoomed && isCut)) {
      const near = view.steps.some(({ kind }) => kind === 'sandwich') ? zoom.callers : zoom.main;
      const { main, callers, cut } = shownStacks(view.base, view.steps, near);
      const leafFirst = callers === null && main.tree !== view.base.tree;
      const sandwiched = callers === null ? {} : { first: 1 };
      view.main = { ...pictureOf(view, main, callers === null ? cut : null, false), ...sandwiched, leafFirst };
      view.callers = callers && { ...pictureOf(view, callers, cut, true), ...sandwiched, leafFirst: true };
    } else if (searched) {
      for (const picture of [view.main, view.callers]) {
        if (picture === null) continue;
        picture.found = view.expression === null ? null : search(picture.tree, picture.layout, view.expression);
      }
    }
    if (shaped || zoomed) {
      zoomTo(view.main, zoomedNode(view.main, view.main.tree === flame ? zoom.node : 0, zoom.main));
      if (view.callers !== null) zoomTo(view.callers, zoomedNode(view.callers, 0, zoom.callers));
    }
    view.main.up = next.up === '1' && view.callers === null;
    if (flipped) view.main.selected = view.main.root;
    showWords(shaped, shaped || zoomed || searched);
    if (shaped || zoomed || flipped) showPanes();
    else for (const pane of [above, main]) pane.draw();
  };

  const zoomTo = (/** @type {import('./spans.js').Picture} */ picture, /** @type {number} */ node) => {
    picture.root = picture.selected = node;
    picture.deepest = deepestBelow(picture.tree, picture.layout, node);
  };

  const showPanes = () => {
    panel.views.classList.toggle('flame-sandwich', view.callers !== null);
    panel.above.hidden = view.callers === null;
    panel.tip.hidden = true;
    above.show(view.callers);
    main.show(view.main);
  };

  const showWords = (/** @type {boolean} */ shaped, /** @type {boolean} */ zoomed) => {
    if (shaped) {
      showChips(panel.steps, view, deeds.remove);
      if (view.other !== null) comparing = true;
      showComparison(panel, view);
    }
    panel.versus.hidden = !comparing;
    panel.button('compare').setAttribute('aria-expanded', String(comparing));
    panel.button('swap').hidden = view.other === null;
    const flip = panel.button('flip');
    flip.hidden = view.callers !== null;
    flip.textContent = view.main.up ? 'Icicle' : 'Flame';
    flip.title = view.main.up ? 'Callers on top (i)' : 'Callers at the bottom (i)';
    const invalid = view.pattern !== '' && view.expression === null;
    if (!zoomed) return;
    const turned = view.callers !== null && view.callers.root > 0 ? view.callers : view.main;
    showPath(panel, view, turned, (node) => owner.zoom(turned === view.main ? main : above, node));
    showFound(panel, view);
    sayInvalid(invalid);
    showLegend(panel, view);
    if (panel.top.open) showTop(panel, view, rows);
  };

  const sayInvalid = (/** @type {boolean} */ invalid) => {
    panel.search.toggleAttribute('aria-invalid', invalid);
    if (invalid) panel.found.textContent = 'Not a regular expression';
  };

  const toast = (/** @type {string} */ text) => {
    clearTimeout(toastTimer);
    panel.toast.textContent = text;
    panel.toast.hidden = false;
    toastTimer = setTimeout(() => (panel.toast.hidden = true), 2500);
  };

  /** @type {Deeds} */
  const deeds = {
    step(kind, target) {
      const steps = withStep(view.steps, { kind, target });
      change({ shape: shapeText(steps), node: '' });
      panel.said.textContent = `${stepWords({ kind, target }, view)}. All: ${weightWords(view, view.wholes)}.`;
    },
    remove(place) {
      const steps = place < 0 ? [] : view.steps.filter((_, at) => at !== place);
      change({ shape: shapeText(steps), node: '' });
      panel.said.textContent = `Removed. All: ${weightWords(view, view.wholes)}.`;
      main.element.focus({ preventScroll: true });
    },
    find(pattern) {
      panel.search.value = pattern;
      const valid = pattern === '' || expressionOf(pattern) !== null;
      if (valid) change({ search: pattern });
      sayInvalid(!valid);
    },
    async copy(text, what) {
      toast((await copyText(text)) ? `${what} copied` : 'The browser does not let this page copy');
    },
  };

  const menuOf = (/** @type {Pane} */ pane, /** @type {number} */ node) => {
    const { tree } = pane.picture();
    const path = pathOf(tree, node).map((frame) => tree.names[frame]);
    if (pane.picture().leafFirst) path.reverse();
    return frameMenu(view, node === 0 ? '' : nameOf(tree, node), path, () => owner.zoom(pane, node), deeds);
  };

  const hit = (/** @type {Pane} */ pane, /** @type {number} */ step) => {
    const picture = pane.picture();
    const place = picture.found === null ? -1 : nextHit(picture.found, picture.selected, step);
    if (place < 0 || picture.found === null) return;
    const node = picture.found.hits[place];
    if (node < picture.root || node >= picture.tree.ends[picture.root]) change({ node: '' });
    pane.select(node);
    showFound(panel, view);
  };

  /** @type {import('./pane.js').PaneOwner} */
  const owner = {
    palette: () => palette,
    zoom(pane, node) {
      const picture = pane.picture();
      if (node < 0 || (node > 0 && picture.layout.totals[node] === 0)) return;
      const wanted = { ...picture, root: node };
      const [below, over] = pane === main ? [wanted, view.callers] : [view.main, wanted];
      change({ node: zoomText(below, over, view.main.tree === flame) });
    },
    tip(pane, node, x, y, touch) {
      const act = (/** @type {string} */ text, /** @type {() => void} */ does) => {
        const button = made('button', text, { type: 'button' });
        button.addEventListener('click', () => {
          pane.element.focus({ preventScroll: true });
          does();
        });
        return button;
      };
      const forFingers = [act('Zoom', () => owner.zoom(pane, node)), act('More', () => owner.menu(pane, node, x, y))];
      showTip(panel, view, pane.picture(), node, x, y, touch ? forFingers : []);
    },
    menu(pane, node, x, y) {
      panel.tip.hidden = true;
      const label = `What can be done with ${nameOf(pane.picture().tree, node)}`;
      openMenu(host, label, menuOf(pane, node), x, y, pane.element);
    },
    said(pane, node) {
      const { name, about, figures } = describe(view, pane.picture(), node);
      const words = figures.map(([word, text]) => `${word} ${text}`.trim());
      panel.said.textContent = `${[name, ...about, ...words].join('. ')}.`;
    },
    key(pane, key) {
      const picture = pane.picture();
      const items = [...menuOf(pane, picture.selected), ...shapeMenu(view, deeds)];
      const item = items.find((known) => known?.key === key && key !== 'Enter');
      if (item) {
        if (!item.disabled) item.act();
        return true;
      }
      if (key === 'Escape') {
        if (shown.node !== '') change({ node: '' });
        else deeds.find('');
      } else if (key === 'n' || key === 'N') hit(pane, key === 'n' ? 1 : -1);
      else if (key === 'i') panel.button('flip').click();
      else if (key === 'v') panel.button('compare').click();
      else if (key === 'e') panel.button('export').click();
      else if (key === 't') {
        panel.top.open = true;
        panel.filter.focus();
      } else if (key === 'a') {
        const { x, y } = pane.pointOf(picture.selected);
        owner.menu(pane, picture.selected, x, y);
      } else return false;
      return true;
    },
  };
  const above = createPane(panel.above, owner);
  const main = createPane(panel.view, owner);

  const save = async (/** @type {FileForm} */ form) => {
    const scenes = [...(view.callers === null ? [] : [above.scene()]), main.scene()];
    try {
      const name = fileName(view, form);
      saveFile(await fileOf(view, scenes, form), name);
      toast(`Saved as ${name}`);
    } catch (error) {
      toast(`Not saved: ${error instanceof Error ? error.message : error}`);
    }
  };

  const on = (/** @type {string} */ name, /** @type {(button: HTMLButtonElement) => void} */ act) =>
    panel.button(name).addEventListener('click', () => act(panel.button(name)));
  const below = (/** @type {HTMLElement} */ button, /** @type {string} */ label, /** @type {any[]} */ items) => {
    const { left, bottom } = button.getBoundingClientRect();
    openMenu(host, label, items, left, bottom + 2, button);
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
    comparing = !comparing || view.other !== null;
    panel.versus.hidden = !comparing;
    panel.button('compare').setAttribute('aria-expanded', String(comparing));
    showPicks(panel.others, view, view.other ?? view.choice);
    panel.otherSlice.open = view.other === null;
  });
  on('swap', () => {
    if (view.other === null) return;
    change({ ...choiceState(flame, view.other), versus: versusText(view.other, view.choice), node: '' });
  });
  on('end', () => {
    comparing = false;
    panel.versus.hidden = true;
    change({ versus: '', node: '' });
    panel.button('compare').setAttribute('aria-expanded', 'false');
    panel.button('compare').focus();
  });
  on('flip', () => change({ up: view.main.up ? '' : '1' }));
  on('reset', () => {
    panel.search.value = '';
    const all = choiceState(flame, { ...EVERYTHING, event: view.choice.event });
    change({ ...all, search: '', shape: '', versus: '', node: '' });
  });
  on('help', () => panel.help.showModal());
  on('previous', () => hit(main, -1));
  on('next', () => hit(main, 1));
  on('more', () => showTop(panel, view, (rows *= 5)));
  for (const [name, pick] of Object.entries(panel.picks)) {
    pick.addEventListener('change', () => change(choiceState(flame, { ...view.choice, [name]: pick.value })));
  }
  for (const [name, pick] of Object.entries(panel.others)) {
    pick.addEventListener('change', () =>
      change({ versus: versusText(view.choice, { ...(view.other ?? view.choice), [name]: pick.value }), node: '' }));
  }
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
    hit(main, event.shiftKey ? -1 : 1);
  });
  panel.top.addEventListener('toggle', () => panel.top.open && showTop(panel, view, rows));
  panel.filter.addEventListener('input', () => showTop(panel, view, (rows = ROWS)));
  panel.table.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    if (button === null) return;
    const { by, does, frame } = button.dataset;
    if (by !== undefined) {
      view.sortedBy = /** @type {View['sortedBy']} */ (by);
      showTop(panel, view, rows);
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
  const repaint = () => {
    palette = readPalette(flame, host);
    for (const pane of [above, main]) pane.drawNow();
  };
  onThemeChange(repaint);
  // On paper it is light, and as much of it as a page takes.
  addEventListener('beforeprint', () => {
    host.classList.add('flame-printed');
    repaint();
  });
  addEventListener('afterprint', () => {
    host.classList.remove('flame-printed');
    repaint();
  });
  onState(update);
  update(readState() ?? new URLSearchParams());
}

customElements.define('x-flame', FlameGraph);
