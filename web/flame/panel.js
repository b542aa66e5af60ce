// The parts around the picture. Fixed words are markup here; everything that comes from data is set as text.

/**
 * @typedef {object} Panel
 * @property {Record<'event' | import('./unpack.js').Facet, HTMLSelectElement>} picks
 * @property {HTMLElement} slice what of the run is shown, where that is not all of it
 * @property {HTMLInputElement} search
 * @property {HTMLElement} found
 * @property {HTMLElement} path
 * @property {HTMLElement} view the part that scrolls
 * @property {HTMLElement} height gives the scroll bar its length
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} hover
 * @property {HTMLElement} focus
 * @property {HTMLElement} tip
 * @property {HTMLElement} said for screen readers
 * @property {HTMLElement} legend
 * @property {HTMLDetailsElement} top
 * @property {HTMLTableElement} table
 * @property {HTMLDialogElement} help
 * @property {HTMLButtonElement} flip
 * @property {HTMLButtonElement} reset
 * @property {HTMLButtonElement} ask
 */

const MARKUP = `
<div class="flame-bar">
  <label data-for="event">Event <select></select></label>
  <label data-for="sql">SQL execution <select></select></label>
  <label data-for="stage">Stage <select></select></label>
  <label data-for="attempt">Attempt <select></select></label>
  <label data-for="task">Tasks <select></select></label>
  <label data-for="executor">Executor <select></select></label>
  <label data-for="role">Process <select></select></label>
  <label data-for="state">Thread state <select></select></label>
  <span class="flame-tools">
    <input type="search" placeholder="Search" aria-label="Search frames by regular expression" title="Regular expression; case does not matter ( / )" spellcheck="false" autocomplete="off">
    <button type="button" data-do="flip"></button>
    <button type="button" data-do="reset" title="Show all again (Esc)">Reset</button>
    <button type="button" data-do="help" aria-label="Help" title="Keys and meaning ( ? )">?</button>
  </span>
</div>
<p class="flame-slice" hidden></p>
<div class="flame-line"><nav class="flame-path" aria-label="Zoomed frame and its callers"></nav><output class="flame-found"></output></div>
<div class="flame-view" tabindex="0" role="application" aria-label="Flame graph. Arrow keys move, Enter zooms, Escape resets, question mark for help.">
  <div class="flame-height"></div><canvas></canvas><div class="flame-mark flame-focus" hidden></div><div class="flame-mark flame-hover" hidden></div>
</div>
<ul class="flame-legend" aria-label="Colours: whose code it is, and its share of self weight"></ul>
<details class="flame-top"><summary>Frames by self and total</summary>
  <table><caption></caption><thead><tr>
    <th scope="col" colspan="2" aria-sort="descending"><button type="button" data-by="self">Self</button></th>
    <th scope="col" colspan="2"><button type="button" data-by="total">Total</button></th>
    <th scope="col">Frame</th></tr></thead><tbody></tbody></table>
</details>
<p class="flame-said" role="status" aria-live="polite"></p>
<div class="flame-tip" hidden></div>
<dialog class="flame-help" aria-label="Help on the flame graph">
  <h3>Reading it</h3>
  <p>Each bar is a frame; below it (above it, as flames) stand the frames it called. Its width is the weight of all
  samples whose stack passes through it; left to right is no time: what is heaviest by the first event stands left, and
  keeps its place in every slice. <b>Self</b> is the weight of samples that ended in the frame itself, <b>total</b>
  that of everything it called as well.</p>
  <h3>Mouse</h3>
  <p>Click a bar to zoom, a bar above it to zoom out. Point at a bar for its figures.</p>
  <h3>Keys</h3>
  <dl>
    <dt><kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd></dt><dd>move to a neighbour, a caller, the heaviest callee</dd>
    <dt><kbd>Enter</kbd></dt><dd>zoom to the frame</dd>
    <dt><kbd>Esc</kbd></dt><dd>end the zoom, then the search</dd>
    <dt><kbd>/</kbd></dt><dd>search by regular expression</dd>
    <dt><kbd>n</kbd> <kbd>N</kbd></dt><dd>next, previous hit</dd>
    <dt><kbd>i</kbd></dt><dd>turn the graph upside down</dd>
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
  const pick = (/** @type {string} */ key) => part(`[data-for=${key}] select`);
  return {
    picks: {
      event: pick('event'),
      sql: pick('sql'),
      stage: pick('stage'),
      attempt: pick('attempt'),
      task: pick('task'),
      executor: pick('executor'),
      role: pick('role'),
      state: pick('state'),
    },
    slice: part('.flame-slice'),
    search: part('input'),
    found: part('.flame-found'),
    path: part('.flame-path'),
    view: part('.flame-view'),
    height: part('.flame-height'),
    canvas: part('canvas'),
    hover: part('.flame-hover'),
    focus: part('.flame-focus'),
    tip: part('.flame-tip'),
    said: part('.flame-said'),
    legend: part('.flame-legend'),
    top: part('.flame-top'),
    table: part('table'),
    help: part('dialog'),
    flip: part('[data-do=flip]'),
    reset: part('[data-do=reset]'),
    ask: part('[data-do=help]'),
  };
}

/**
 * Gives a choice its options.
 * @param {HTMLSelectElement} select
 * @param {{value: string, text: string}[]} options
 * @param {string} value
 * @param {boolean} shown whether there is anything to choose
 */
export function fillPick(select, options, value, shown) {
  select.replaceChildren(...options.map((option) => new Option(option.text, option.value)));
  select.value = value;
  /** @type {HTMLElement} */ (select.parentElement).hidden = !shown;
}
