// <x-flame>: the flame graph as an element. Its data lie in a script inside it (report/flame_page.py writes it).

import { readState, writeState } from '../state.js';
import { onThemeChange } from '../theme.js';
import { inflate, unpack } from './unpack.js';
import { deepestBelow, layOut } from './layout.js';
import { nextHit, search } from './search.js';
import { EVERYTHING, choiceState, readChoice, soundChoice, weigh } from './facets.js';
import { readPalette } from './palette.js';
import { ROW, boxOf, createPainter, nodeUnder } from './draw.js';
import { buildPanel } from './panel.js';
import { describe } from './view.js';
import { showFound, showLegend, showPath, showPicks, showTip, showTop } from './words.js';
import { nodeForKey } from './keys.js';

/** @typedef {import('./unpack.js').Flame} Flame */
/** @typedef {import('./facets.js').Choice} Choice */
/** @typedef {import('./draw.js').Scene} Scene */
/** @typedef {import('./view.js').View} View */

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
 * Builds the panel in `host` and keeps it and the picture up to date.
 * @param {HTMLElement} host
 * @param {Flame} flame
 * @param {Record<string, Record<string, string>>} names
 */
function show(host, flame, names) {
  const panel = buildPanel(host);
  const paint = createPainter(panel.canvas);
  const choice = soundChoice(flame, EVERYTHING);
  const layout = layOut(flame, weigh(flame, choice));
  /** @type {View} */
  const view = {
    flame, names, choice, layout, root: 0, selected: 0, deepest: 0, up: false, pattern: '', found: null, sortedBy: 'self',
  };
  let palette = readPalette(flame, host);
  let frameRequest = 0;
  let searchTimer = 0;

  /** @returns {Scene} */
  const scene = () => ({
    ...view, palette, width: panel.view.clientWidth, height: panel.view.clientHeight, scroll: panel.view.scrollTop,
  });

  const mark = (/** @type {HTMLElement} */ box, /** @type {Scene} */ now, /** @type {number} */ node) => {
    const place = node < 0 ? null : boxOf(now, node);
    box.hidden = place === null;
    if (place === null) return;
    box.style.left = `${Math.min(place.left, now.width - 3)}px`;
    box.style.top = `${place.top + now.scroll}px`;
    box.style.width = `${Math.max(place.width, 3)}px`;
  };

  const draw = () => {
    cancelAnimationFrame(frameRequest);
    frameRequest = requestAnimationFrame(() => {
      const now = scene();
      paint(now);
      mark(panel.focus, now, document.activeElement === panel.view ? view.selected : -1);
    });
  };

  const zoom = (/** @type {number} */ node) => {
    if (node < 0 || (node > 0 && view.layout.totals[node] === 0)) return;
    view.root = view.selected = node;
    view.deepest = deepestBelow(flame, view.layout, node);
    panel.height.style.height = `${(view.deepest + 1) * ROW}px`;
    panel.view.style.setProperty('--flame-content', `${(view.deepest + 1) * ROW + 2}px`);
    const top = flame.depths[node] * ROW;
    if (view.up) panel.view.scrollTop = panel.view.scrollHeight - panel.view.clientHeight - top;
    else if (top < panel.view.scrollTop) panel.view.scrollTop = top;
    panel.hover.hidden = panel.tip.hidden = true;
    writeState({ node: node === 0 ? '' : String(node) });
    showPath(panel, view, zoom);
    showFound(panel, view);
    showLegend(panel, view);
    if (panel.top.open) showTop(panel, view);
    draw();
  };

  const select = (/** @type {number} */ node) => {
    if (node < 0) return;
    view.selected = node;
    const place = boxOf(scene(), node);
    if (place !== null) {
      if (place.top < 0) panel.view.scrollTop += place.top - ROW;
      const over = place.top + 2 * ROW - panel.view.clientHeight;
      if (over > 0) panel.view.scrollTop += over;
      const edge = panel.view.getBoundingClientRect();
      const top = boxOf(scene(), node)?.top ?? place.top;
      showTip(panel, view, node, edge.left + Math.min(place.left + 12, edge.width - 40), edge.top + top + ROW / 2);
    }
    const { name, kind, plan, total, self } = describe(view, node);
    panel.said.textContent = `${[name, kind, plan].filter(Boolean).join('. ')}. Total ${total}. Self ${self}.`;
    draw();
  };

  const choose = (/** @type {Choice} */ wanted, /** @type {number} */ node) => {
    view.choice = soundChoice(flame, wanted);
    view.layout = layOut(flame, weigh(flame, view.choice));
    if (view.pattern !== '') view.found = search(flame, view.layout, view.pattern);
    writeState(choiceState(flame, view.choice));
    showPicks(panel, view);
    zoom(view.layout.totals[node] > 0 ? node : 0);
  };

  const lookFor = (/** @type {string} */ pattern) => {
    panel.search.value = pattern;
    try {
      view.found = pattern === '' ? null : search(flame, view.layout, pattern);
      view.pattern = pattern;
      panel.search.removeAttribute('aria-invalid');
      writeState({ search: pattern });
      showFound(panel, view);
    } catch {
      panel.search.setAttribute('aria-invalid', 'true');
      panel.found.textContent = 'Not a regular expression';
    }
    draw();
  };

  const flip = (/** @type {boolean} */ up) => {
    view.up = up;
    panel.flip.textContent = up ? 'Icicle' : 'Flame';
    panel.flip.title = up ? 'Callers on top (i)' : 'Callers at the bottom (i)';
    writeState({ up: up ? '1' : '' });
    zoom(view.root);
  };

  const restore = (/** @type {URLSearchParams | null} */ state) => {
    if (state === null) return;
    const value = (/** @type {string} */ name) => state.get(name) ?? '';
    const node = Number(value('node'));
    const [pattern, up] = [value('search'), value('up') === '1'];
    view.pattern = '';
    view.found = null;
    choose(readChoice(flame, state), Number.isInteger(node) && node > 0 && node < flame.size ? node : 0);
    flip(up);
    lookFor(pattern);
  };

  const hit = (/** @type {number} */ step) => {
    if (view.found === null) return;
    const node = nextHit(flame, view.layout, view.found, view.selected, step);
    if (node >= 0 && (node < view.root || node >= flame.ends[view.root])) zoom(0);
    select(node);
  };

  const under = (/** @type {MouseEvent} */ event) => {
    const edge = panel.canvas.getBoundingClientRect();
    return nodeUnder(scene(), event.clientX - edge.left, event.clientY - edge.top);
  };

  panel.view.addEventListener('mousemove', (event) => {
    const node = under(event);
    mark(panel.hover, scene(), node);
    showTip(panel, view, node, event.clientX, event.clientY);
  });
  panel.view.addEventListener('mouseleave', () => {
    panel.hover.hidden = panel.tip.hidden = true;
  });
  panel.view.addEventListener('click', (event) => zoom(under(event)));
  panel.view.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const node = nodeForKey(view, event.key);
    if (node !== undefined) select(node);
    else if (event.key === 'Enter') zoom(view.selected);
    else if (event.key === 'Escape') view.root > 0 ? zoom(0) : lookFor('');
    else if (event.key === 'n' || event.key === 'N') hit(event.key === 'n' ? 1 : -1);
    else if (event.key === 'i') flip(!view.up);
    else return;
    event.preventDefault();
  });
  panel.view.addEventListener('focus', draw);
  panel.view.addEventListener('blur', () => {
    panel.tip.hidden = true;
    draw();
  });
  panel.view.addEventListener('scroll', draw, { passive: true });
  new ResizeObserver(draw).observe(panel.view);
  onThemeChange(() => {
    palette = readPalette(flame, host);
    draw();
  });
  for (const [name, pick] of Object.entries(panel.picks)) {
    pick.addEventListener('change', () => choose({ ...view.choice, [name]: pick.value }, view.root));
  }
  panel.search.addEventListener('input', () => {
    clearTimeout(searchTimer);
    searchTimer = setTimeout(() => lookFor(panel.search.value), flame.size > 200_000 ? 200 : 0);
  });
  panel.search.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') lookFor('');
    if (event.key !== 'Enter') return;
    clearTimeout(searchTimer);
    lookFor(panel.search.value);
    panel.view.focus();
    hit(1);
  });
  panel.flip.addEventListener('click', () => flip(!view.up));
  panel.reset.addEventListener('click', () => {
    lookFor('');
    choose({ ...EVERYTHING, event: view.choice.event }, 0);
  });
  panel.ask.addEventListener('click', () => panel.help.showModal());
  panel.top.addEventListener('toggle', () => panel.top.open && showTop(panel, view));
  panel.table.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('button') : null;
    if (button === null) return;
    const by = button.dataset.by;
    if (by === 'self' || by === 'total') {
      view.sortedBy = by;
      showTop(panel, view);
    } else lookFor(`^${(button.textContent ?? '').replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`);
  });
  document.addEventListener('keydown', (event) => {
    if (event.target instanceof HTMLElement && event.target.matches('input, select, textarea, [contenteditable]')) return;
    if (event.key === '/') {
      event.preventDefault();
      panel.search.focus();
    } else if (event.key === '?' && !panel.help.open) panel.help.showModal();
  });
  addEventListener('hashchange', () => restore(readState()));
  restore(readState() ?? new URLSearchParams());
}

customElements.define('x-flame', FlameGraph);
