// The one clock of all pictures over time: the piece of it that is chosen, and where the pointer is.

import { unpackColumns } from '../columns.js';
import { readState, writeState } from '../state.js';

/** @typedef {{from: number, to: number}} Range seconds since the start */
/** @typedef {{stage: number, lane: number, from: number, to: number, title: string}} Band a stage attempt */
/** @typedef {Range & {length: number, count: number, bands: Band[]}} Clock `length` of a bucket in seconds */

/** An element whose packed data lie in a script inside it. */
export class TimePicture extends HTMLElement {
  async connectedCallback() {
    if (this.dataset.state) return;
    this.dataset.state = 'loading';
    const script = this.querySelector('script')?.textContent ?? '';
    try {
      const columns = await unpackColumns(script);
      this.replaceChildren();
      this.build(columns, readClock(columns));
      this.dataset.state = 'ready';
    } catch (error) {
      this.dataset.state = 'failed';
      this.append(`This picture cannot be shown: ${error instanceof Error ? error.message : error}`);
    }
  }

  /**
   * @param {Record<string, any>} _columns
   * @param {Clock} _clock
   */
  build(_columns, _clock) {}
}

/**
 * @param {Record<string, any>} columns
 * @returns {Clock}
 */
function readClock(columns) {
  const [length, first, count] = columns.grid;
  const titles = textsOf(columns.band_title);
  const bands = titles.map((title, i) => ({
    title, stage: columns.band_stage[i], lane: columns.band_lane[i], from: columns.band_from[i], to: columns.band_to[i],
  }));
  return { length, count, from: first * length, to: (first + count) * length, bands };
}

/**
 * @param {import('../columns.js').Words} words
 * @returns {string[]}
 */
export function textsOf(words) {
  return Array.from(words.places, (place) => words.values[place] ?? '');
}

/** What the address says of one key; an anchor of the page says nothing. @param {string} key */
export function stateOf(key) {
  return readState()?.get(key) ?? '';
}

/**
 * @param {Range} clock
 * @returns {Range | null} null is all of the time
 */
export function chosenTime(clock) {
  const [from, to] = ['from', 'to'].map((key) => (stateOf(key).trim() === '' ? NaN : Number(stateOf(key))));
  const range = { from: Number.isNaN(from) ? clock.from : from, to: Number.isNaN(to) ? clock.to : to };
  return (Number.isNaN(from) && Number.isNaN(to)) || range.from >= range.to ? null : range;
}

/**
 * What the pictures show: all, or the chosen piece where it is zoomed into.
 * @param {Clock} clock
 * @returns {Range}
 */
export function seenTime(clock) {
  const chosen = stateOf('times-zoom') === '1' ? chosenTime(clock) : null;
  const range = { from: Math.max(clock.from, chosen?.from ?? clock.from), to: Math.min(clock.to, chosen?.to ?? clock.to) };
  return range.from < range.to ? range : clock;
}

/**
 * Where a time lies in a range, from 0 to 1.
 * @param {number} seconds
 * @param {Range} range
 */
export function shareOf(seconds, range) {
  return Math.min(1, Math.max(0, (seconds - range.from) / (range.to - range.from)));
}

/** The length of the flame graph's buckets in seconds; a hundredth where there is none. */
export function flameBucket() {
  return Number(document.querySelector('x-flame[data-bucket]')?.getAttribute('data-bucket') ?? 0.01);
}

/**
 * The whole buckets of the flame graph that have a part of a range.
 * @param {Range} range
 * @returns {Range}
 */
export function snapped({ from, to }) {
  const bucket = flameBucket();
  const exact = (/** @type {number} */ buckets) => Math.round(buckets * bucket * 1e6) / 1e6;
  const low = Math.floor(from / bucket + 1e-6);
  return { from: exact(low), to: exact(Math.max(low + 1, Math.ceil(to / bucket - 1e-6))) };
}

/** @param {Range | null} range to choose, made larger to whole buckets; null is all */
export function chooseTime(range) {
  const { from, to } = range === null ? { from: '', to: '' } : snapped(range);
  writeState({ from: String(from), to: String(to), ...(range === null ? { 'times-zoom': '' } : {}) });
}

/** @param {number} seconds */
export function clockText(seconds) {
  const text = `${(Math.round(seconds * 100) / 100).toLocaleString('en-US')} s`;
  return Math.abs(seconds) < 120 ? text : `${text} (${minutesText(seconds)})`;
}

/** @param {number} seconds */
export function minutesText(seconds) {
  const whole = Math.round(Math.abs(seconds));
  return `${seconds < 0 ? '−' : ''}${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** Where the pointer or the keyboard is, for all pictures. @param {number | null} seconds */
export function tellCursor(seconds) {
  document.dispatchEvent(new CustomEvent('emberscope-cursor', { detail: seconds }));
}

/**
 * Custom properties as the colours that hold now.
 * @param {Element} element
 * @param {string[]} names
 */
export function coloursOf(element, names) {
  const probe = element.appendChild(document.createElement('i'));
  const found = names.map((name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  return found;
}

/**
 * @template {HTMLElement} E
 * @param {E} parent
 * @param {string} tag
 * @param {string} [className]
 * @param {string} [text]
 */
export function added(parent, tag, className = '', text = '') {
  return parent.appendChild(Object.assign(document.createElement(tag), { className, textContent: text }));
}
