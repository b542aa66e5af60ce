// The parts around the picture. Fixed words are markup here; everything that comes from data is set as text.

import { PICKED } from './picks.js';

/**
 * @typedef {object} Panel
 * @property {import('./picks.js').Picks} picks
 * @property {HTMLElement} slice what of the run is shown, where that is not all of it
 * @property {HTMLElement} versus the line of the comparison
 * @property {import('./picks.js').Picks} others choices of the other slice
 * @property {HTMLElement} compared
 * @property {HTMLDetailsElement} otherSlice
 * @property {HTMLElement} steps
 * @property {HTMLInputElement} search
 * @property {HTMLElement} found
 * @property {HTMLElement} hits
 * @property {HTMLElement} hitCount
 * @property {HTMLElement} path
 * @property {HTMLElement} views holds the panes
 * @property {HTMLElement} above the part that scrolls, with the callers of a sandwich
 * @property {HTMLElement} view the part that scrolls
 * @property {HTMLElement} tip
 * @property {HTMLElement} said for screen readers
 * @property {HTMLElement} legend
 * @property {HTMLDetailsElement} top
 * @property {HTMLInputElement} filter
 * @property {HTMLTableElement} table
 * @property {HTMLButtonElement} more
 * @property {HTMLDialogElement} help
 * @property {HTMLElement} toast
 * @property {(name: string) => HTMLButtonElement} button by `data-do`
 */

const VIEW_PARTS = `<div class="flame-height"></div><canvas></canvas>
  <div class="flame-mark flame-focus" hidden></div><div class="flame-mark flame-hover" hidden></div>`;
const pickLabels = (/** @type {string} */ name) =>
  PICKED.map(([key, label]) => `<label data-${name}="${key}">${label} <select></select></label>`).join('');

const MARKUP = `
<div class="flame-bar">
  ${pickLabels('for')}
  <span class="flame-tools">
    <input type="search" placeholder="Search" aria-label="Search frames by regular expression" title="Regular expression; case does not matter ( / )" spellcheck="false" autocomplete="off">
    <button type="button" data-do="shape" aria-haspopup="menu" title="What is done to the stacks: leaf first, collapse recursion, hide …">Transform</button>
    <button type="button" data-do="compare" aria-expanded="false" title="Compare with another slice">Compare</button>
    <button type="button" data-do="export" aria-haspopup="menu" title="Save or copy what is seen">Export</button>
    <button type="button" data-do="flip"></button>
    <button type="button" data-do="reset" title="Show all again">Reset</button>
    <button type="button" data-do="help" aria-label="Help" title="Keys and meaning ( ? )">?</button>
  </span>
</div>
<div class="flame-versus" hidden>
  <p class="flame-compared"></p>
  <details><summary>Compare with</summary><div class="flame-bar">${pickLabels('other')}</div></details>
  <p><button type="button" data-do="swap">Swap</button> <button type="button" data-do="end">End comparison</button></p>
</div>
<p class="flame-slice" hidden></p>
<ul class="flame-steps" aria-label="What is done to the stacks" hidden></ul>
<div class="flame-line"><div class="flame-path" role="navigation" aria-label="Zoomed frame and its callers"></div>
  <output class="flame-found"></output>
  <span class="flame-hits" hidden><span></span>
    <button type="button" data-do="previous" aria-label="Previous hit" title="Previous hit (N)">‹</button><button type="button" data-do="next" aria-label="Next hit" title="Next hit (n)">›</button></span></div>
<div class="flame-views">
  <p class="flame-part">Callees</p>
  <div class="flame-view flame-main" tabindex="0" role="application" aria-label="Flame graph. Arrow keys move, Enter zooms, a or the menu key shows what can be done, Escape resets, question mark for help.">${VIEW_PARTS}</div>
  <p class="flame-part flame-over">Callers</p>
  <div class="flame-view flame-above flame-over" tabindex="0" role="application" aria-label="Flame graph of callers. Arrow keys move, Enter zooms, a or the menu key shows what can be done." hidden>${VIEW_PARTS}</div>
</div>
<ul class="flame-legend"></ul>
<details class="flame-top"><summary>Frames by self and total</summary>
  <p class="flame-filter"><label>Filter by name <input type="search" placeholder="Regular expression" spellcheck="false" autocomplete="off"></label></p>
  <table><caption></caption><thead><tr>
    <th scope="col" aria-sort="descending"><button type="button" data-by="self">Self</button></th><th scope="col" class="flame-there flame-other">there</th>
    <th scope="col"><button type="button" data-by="total">Total</button></th><th scope="col" class="flame-there flame-other">there</th>
    <th scope="col" class="flame-there"><button type="button" data-by="difference">Difference</button></th>
    <th scope="col" colspan="2">Frame</th></tr></thead><tbody></tbody></table>
  <button type="button" data-do="more">Show more</button>
</details>
<p class="flame-said" role="status" aria-live="polite"></p>
<p class="flame-toast" role="status" hidden></p>
<div class="flame-tip" hidden></div>
<dialog class="flame-help" aria-label="Help on the flame graph">
  <h3>Reading it</h3>
  <p>Each bar is a frame; below it (above it, as flames) stand the frames it called. Its width is the weight of all
  samples whose stack passes through it; left to right is no time: what is heaviest by the first event stands left, and
  keeps its place in every slice. <b>Self</b> is the weight of samples that ended in the frame itself, <b>total</b>
  that of everything it called as well. After a transformation the heaviest stands left.</p>
  <p>In a <b>comparison</b> each slice is 100 %, a width is the mean of both shares, and a colour says which share is
  larger. Grey is within noise: counts of samples vary by their square root, and what is less than two standard errors
  apart, or has fewer than five samples, says nothing.</p>
  <h3>Mouse and touch</h3>
  <p>Click a bar to zoom, a bar above it to zoom out. Point at a bar for its figures. The right button (a long touch)
  shows what can be done with it. Tap for the figures, tap twice to zoom.</p>
  <h3>Keys</h3>
  <dl>
    <dt><kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd></dt><dd>move to a neighbour, a caller, the heaviest callee</dd>
    <dt><kbd>Enter</kbd></dt><dd>zoom to the frame</dd>
    <dt><kbd>Esc</kbd></dt><dd>end the zoom, then the search</dd>
    <dt><kbd>a</kbd> or the menu key</dt><dd>all that can be done with the frame</dd>
    <dt><kbd>f</kbd> <kbd>h</kbd> <kbd>m</kbd> <kbd>s</kbd> <kbd>c</kbd></dt><dd>focus on it, hide stacks through it, merge it into its callers, sandwich, collapse its recursion; <kbd>F</kbd> <kbd>H</kbd> <kbd>M</kbd> for its package</dd>
    <dt><kbd>y</kbd> <kbd>Ctrl</kbd>+<kbd>C</kbd></dt><dd>copy its name, its stack</dd>
    <dt><kbd>r</kbd> <kbd>x</kbd></dt><dd>leaf first, collapse all recursion</dd>
    <dt><kbd>Backspace</kbd></dt><dd>undo the last of these</dd>
    <dt><kbd>/</kbd></dt><dd>search by regular expression</dd>
    <dt><kbd>n</kbd> <kbd>N</kbd></dt><dd>next, previous hit</dd>
    <dt><kbd>i</kbd></dt><dd>turn the graph upside down</dd>
    <dt><kbd>t</kbd> <kbd>v</kbd> <kbd>e</kbd></dt><dd>table of frames, comparison, export</dd>
    <dt><kbd>?</kbd></dt><dd>this help</dd>
  </dl>
  <p>The address of the page holds what you see: copy it to show somebody the same view.</p>
  <form method="dialog"><button>Close</button></form>
</dialog>`;

/**
 * Fills `host` and gives back its parts.
 * @param {HTMLElement} host
 * @returns {Panel}
 */
export function buildPanel(host) {
  host.innerHTML = MARKUP;
  const part = (/** @type {string} */ selector) => /** @type {any} */ (host.querySelector(selector));
  const selects = (/** @type {string} */ name) =>
    /** @type {any} */ (Object.fromEntries(PICKED.map(([key]) => [key, part(`[data-${name}=${key}] select`)])));
  return {
    picks: selects('for'),
    slice: part('.flame-slice'),
    versus: part('.flame-versus'),
    others: selects('other'),
    compared: part('.flame-compared'),
    otherSlice: part('.flame-versus details'),
    steps: part('.flame-steps'),
    search: part('.flame-tools input'),
    found: part('.flame-found'),
    hits: part('.flame-hits'),
    hitCount: part('.flame-hits span'),
    path: part('.flame-path'),
    views: part('.flame-views'),
    above: part('.flame-above'),
    view: part('.flame-main'),
    tip: part('.flame-tip'),
    said: part('.flame-said'),
    legend: part('.flame-legend'),
    top: part('.flame-top'),
    filter: part('.flame-filter input'),
    table: part('table'),
    more: part('[data-do=more]'),
    help: part('dialog'),
    toast: part('.flame-toast'),
    button: (name) => part(`[data-do=${name}]`),
  };
}
