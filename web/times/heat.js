// <x-heat>: samples over time, a column for a second and a row for a fraction of it, or a row for each executor.

import { writeState } from '../state.js';
import { TimePicture, added, clockText, coloursOf, stateOf, textsOf } from './clock.js';
import { pictureStack } from './stack.js';

/** @typedef {import('./clock.js').Clock} Clock */
/** @typedef {import('./clock.js').Range} Range */

const HEAT_SHADES = ['time-heat-0', 'time-heat-1', 'time-heat-2', 'time-heat-3', 'time-heat-4', 'time-heat-5'];
const TALL = 200;

class HeatMap extends TimePicture {
  /**
   * @param {Record<string, any>} columns
   * @param {Clock} clock
   */
  build(columns, clock) {
    const [length, first, count, parts] = columns.heat_grid;
    const begin = first * length;
    const [events, executors] = [textsOf(columns.heat_event), textsOf(columns.heat_executor)];
    const many = new Set(executors).size > 1;
    /** Samples by column and row, the lowest row first; `names` are those of executors. */
    let shown = { event: '', names: /** @type {string[]} */ ([]), rows: 1, counts: new Float64Array(0) };
    const readCells = () => {
      const event = events.includes(stateOf('event')) ? stateOf('event') : events[0];
      const executor = executors.includes(stateOf('executor')) ? stateOf('executor') : '';
      const byExecutor = many && stateOf('heat') === 'executors';
      const here = [...events.keys()].filter((i) => events[i] === event && (byExecutor || executor === '' || executors[i] === executor));
      const names = byExecutor ? here.map((i) => executors[i] || 'others').reverse() : [];
      const rows = byExecutor ? here.length : parts;
      const counts = new Float64Array(count * rows);
      here.forEach((series, place) => {
        for (let i = columns.bounds[series]; i < columns.bounds[series + 1]; i++) {
          const cell = columns.cells[i];
          counts[byExecutor ? Math.floor(cell / parts) * rows + rows - 1 - place : cell] += columns.counts[i];
        }
      });
      shown = { event, names, rows, counts };
    };
    /** @param {number} seconds */
    const words = (seconds) => {
      const at = (seconds - begin) / length + 1e-6;
      const column = Math.min(count - 1, Math.max(0, Math.floor(at)));
      const counts = shown.counts.subarray(column * shown.rows, (column + 1) * shown.rows);
      if (shown.names.length > 0) return shown.names.map((name, i) => `${name}: ${counts[i]}`).reverse().join('; ');
      const cell = counts[Math.min(parts - 1, Math.max(0, Math.floor((at - column) * parts)))];
      return `${cell} samples in the cell, ${counts.reduce((a, b) => a + b, 0)} in its column`;
    };
    let output = added(this, 'span');
    pictureStack(
      this,
      'Heat map of samples',
      clock,
      (seen) => {
        readCells();
        const { event, names, rows, counts } = shown;
        const bounds = shadeBounds(counts);
        const picture = heatPicture(counts, count, rows, bounds, coloursOf(this, HEAT_SHADES));
        const [empty] = coloursOf(this, ['time-heat-none']);
        const tall = names.length > 0 ? Math.min(480, Math.max(14, 120 / rows) * rows) : TALL;
        const unit = length < 10 ? [1000, 'ms'] : [1, 's'];
        const axis = names.length > 0
          ? [...names.map((name, i) => [i + 0.5, name.length > 9 ? `${name.slice(0, 8)}…` : name]), [rows, '']]
          : [0, 0.5, 1].map((part) => [part, `${part * length * Number(unit[0])} ${unit[1]}`]);
        return [{
          title: '', unit: '', lines: [], form: 'lines', height: tall,
          rows: new Map(/** @type {[number, string][]} */ (axis)),
          draw: (u) => {
            const { left, width, height } = u.bbox;
            const scale = width / (seen.to - seen.from);
            u.ctx.save();
            u.ctx.beginPath();
            u.ctx.rect(left, u.bbox.top, width, height);
            u.ctx.clip();
            u.ctx.fillStyle = empty;
            u.ctx.fillRect(left, u.bbox.top, width, height);
            // Where columns are narrower than a pixel, a pixel is their mean.
            u.ctx.imageSmoothingEnabled = length * scale < 1;
            u.ctx.imageSmoothingQuality = 'high';
            u.ctx.drawImage(picture, left + (begin - seen.from) * scale, u.bbox.top, count * length * scale, height);
            u.ctx.restore();
          },
          legend: (head) => {
            const scale = added(head, 'span', 'time-scale', `${event} samples in a cell`);
            bounds.forEach((bound, i) => {
              added(scale, 'i').style.background = coloursOf(this, [HEAT_SHADES[shadeOfBound(i, bounds.length)]])[0];
              const last = (bounds[i + 1] ?? 0) - 1;
              scale.append(i === bounds.length - 1 ? `${bound}${i ? ' or more' : ''}` : last > bound ? `${bound}\u2060–\u2060${last}` : `${bound}`);
            });
            const button = added(head, 'button', '', names.length > 0 ? 'A row for each fraction' : 'A row for each executor');
            button.hidden = !many;
            button.addEventListener('click', () => writeState({ heat: names.length > 0 ? '' : 'executors' }));
            output = added(head, 'span', 'quiet time-cell');
          },
        }];
      },
      words,
      (seconds, height) => {
        const column = Math.min(count - 1, Math.max(0, Math.floor((seconds - begin) / length)));
        const from = begin + column * length;
        const part = Math.floor(height * parts);
        const cell = length / parts;
        return shown.names.length > 0 ? { from, to: from + length } : { from: from + part * cell, to: from + (part + 1) * cell };
      },
      () => (shown.names.length > 0 ? length : length / parts),
      (cursor) => (output.textContent = cursor === null ? '' : `${clockText(cursor)}: ${words(cursor)}`),
    );
  }
}

/**
 * The least count of each shade: 1, and steps up to where the busiest hundredth of the cells begins.
 * @param {Float64Array} counts
 */
function shadeBounds(counts) {
  const busy = counts.filter((samples) => samples > 0).sort();
  const most = busy[Math.min(busy.length - 1, Math.floor(busy.length * 0.99))] ?? 1;
  return [...new Set(HEAT_SHADES.map((_, i) => Math.ceil(1 + ((most - 1) * i) / (HEAT_SHADES.length - 1))))];
}

/**
 * Few bounds use the shades from the faintest to the strongest all the same.
 * @param {number} place
 * @param {number} bounds
 */
function shadeOfBound(place, bounds) {
  return bounds === 1 ? HEAT_SHADES.length - 1 : Math.round((place * (HEAT_SHADES.length - 1)) / (bounds - 1));
}

/**
 * A pixel for each cell.
 * @param {Float64Array} counts
 * @param {number} columns
 * @param {number} rows
 * @param {number[]} bounds
 * @param {string[]} shades
 */
function heatPicture(counts, columns, rows, bounds, shades) {
  const colours = bounds.map((_, i) => (shades[shadeOfBound(i, bounds.length)].match(/\d+/g) ?? []).slice(0, 3).map(Number));
  const image = new ImageData(columns, rows);
  counts.forEach((samples, cell) => {
    if (samples === 0) return;
    const shade = bounds.filter((bound) => bound <= samples).length - 1;
    image.data.set([...colours[shade], 255], 4 * ((rows - 1 - (cell % rows)) * columns + Math.floor(cell / rows)));
  });
  const picture = Object.assign(document.createElement('canvas'), { width: columns, height: rows });
  picture.getContext('2d')?.putImageData(image, 0, 0);
  return picture;
}

customElements.define('x-heat', HeatMap);
