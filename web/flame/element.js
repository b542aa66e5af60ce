// <x-flame>: the flame graph as an element. Its data lie in a script inside it (report/flame_page.py writes it).
// The address holds all of its state: whatever is done writes the address, and `update` shows what the address says.

import { copyText } from '../clipboard.js';
import { onState, readState, writeState } from '../state.js';
import { onThemeChange } from '../theme.js';
import { inflate, unpack } from './unpack.js';
import { nextHit } from './search.js';
import { EVERYTHING, choiceState } from './facets.js';
import { readPalette } from './palette.js';
import { nameOf } from './spans.js';
import { shapeText, withStep } from './shape.js';
import { expressionOf } from './target.js';
import { buildPanel } from './panel.js';
import { createPane } from './pane.js';
import { openMenu } from './menu.js';
import { frameMenu, shapeMenu } from './frame_menu.js';
import { showPicks, sliceNotes, versusText } from './picks.js';
import { showChips, stepWords } from './chips.js';
import { describe, pathOf } from './view.js';
import { createView, follow } from './follow.js';
import { zoomText } from './zoom.js';
import { showTop } from './table.js';
import { made } from './made.js';
import { showComparison, showFound, showLegend, showPath, showTip, weightWords } from './words.js';
import { wireTools } from './tools.js';

/** @typedef {import('./unpack.js').Flame} Flame */
/** @typedef {import('./pane.js').Pane} Pane */
/** @typedef {import('./frame_menu.js').Deeds} Deeds */

const ROWS = 200;
const MANY_NODES = 100_000;

class FlameGraph extends HTMLElement {
  async connectedCallback() {
    if (this.dataset.state) return;
    this.dataset.state = 'loading';
    try {
      const flame = unpack(await inflate(this.querySelector('script')?.textContent ?? ''));
      if (flame.time !== null) this.dataset.bucket = String(flame.time.bucket);
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
  const { view, followed } = createView(flame, names);
  let palette = readPalette(flame, host);
  let rows = ROWS;
  let toastTimer = 0;
  let wordsTimer = 0;
  let comparing = false;

  /** Changes the address; where it holds an anchor of the page, what is seen is written into it. */
  const change = (/** @type {Record<string, string>} */ changes) => {
    const { shape, search: pattern, node, up } = followed;
    const versus = view.other === null ? '' : versusText(view.choice, view.other);
    const seen = readState() === null ? { ...choiceState(flame, view.choice), versus, shape, search: pattern, node, up } : {};
    writeState({ ...seen, ...changes });
  };

  const update = (/** @type {URLSearchParams} */ state) => {
    const { sliced, shaped, searched, zoomed, flipped } = follow(view, followed, state);
    if (sliced) {
      showPicks(panel.picks, view, view.choice);
      showPicks(panel.others, view, view.other ?? view.choice);
    }
    if (searched && document.activeElement !== panel.search) panel.search.value = view.pattern;
    panel.slice.textContent = sliceNotes(view);
    panel.slice.hidden = panel.slice.textContent === '';
    if (shaped) {
      showChips(panel.steps, view, deeds.remove);
      showComparison(panel, view);
    }
    compare(comparing || view.other !== null);
    const flip = panel.button('flip');
    flip.hidden = view.callers !== null;
    flip.textContent = view.main.up ? 'Icicle' : 'Flame';
    flip.title = view.main.up ? 'Callers on top (i)' : 'Callers at the bottom (i)';
    if (shaped || zoomed || searched) showWords();
    if (shaped || zoomed || flipped) showPanes();
    else for (const pane of [above, main]) pane.draw();
  };

  const showPanes = () => {
    panel.views.classList.toggle('flame-sandwich', view.callers !== null);
    panel.above.hidden = view.callers === null;
    panel.tip.hidden = true;
    above.show(view.callers);
    main.show(view.main);
  };

  const showWords = () => {
    const turned = view.callers !== null && view.callers.root > 0 ? view.callers : view.main;
    showPath(panel, view, turned, (node) => owner.zoom(turned === view.main ? main : above, node));
    showFound(panel, view);
    sayInvalid(view.pattern !== '' && view.expression === null);
    const figures = () => {
      showLegend(panel, view);
      if (panel.top.open) showTop(panel, view, rows);
    };
    clearTimeout(wordsTimer);
    if (view.main.tree.size < MANY_NODES) figures();
    else wordsTimer = setTimeout(figures, 20); // the picture comes first
  };

  const compare = (/** @type {boolean} */ begun) => {
    comparing = begun;
    panel.versus.hidden = !begun;
    panel.button('swap').hidden = view.other === null;
    panel.button('compare').setAttribute('aria-expanded', String(begun));
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
        if (followed.node !== '') change({ node: '' });
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

  wireTools(host, panel, view, {
    change,
    deeds,
    hit: (step) => hit(main, step),
    scenes: () => [...(view.callers === null ? [] : [above.scene()]), main.scene()],
    toast,
    table(wanted) {
      if (wanted !== 'same') rows = wanted === 'few' ? ROWS : rows * 5;
      if (panel.top.open) showTop(panel, view, rows);
    },
    compare,
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
  leadHere(host, followed);
}

/**
 * A link to a view leads to it: where the address has no place of the page, what it shows is scrolled to.
 * @param {HTMLElement} host
 * @param {import('./follow.js').Followed} followed
 */
function leadHere(host, { shape, search: pattern, node }) {
  const state = readState();
  const asked = shape + pattern + node !== '' || Object.keys(EVERYTHING).some((key) => state?.get(key)) || state?.get('versus');
  const [opened] = performance.getEntriesByType('navigation');
  const anew = /** @type {PerformanceNavigationTiming | undefined} */ (opened)?.type === 'navigate';
  const place = document.getElementById(location.hash.slice(1));
  if (asked && anew && place === null) host.closest('section')?.scrollIntoView();
}

customElements.define('x-flame', FlameGraph);
