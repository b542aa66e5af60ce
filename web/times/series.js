// <x-series>: what was measured over time, with the stages behind. <x-states>: what the threads of tasks did.

import { onState } from '../state.js';
import { TimePicture, added, chooseTime, clockText, seenTime, shareOf, stateOf, textsOf } from './clock.js';
import { lineText } from './chart.js';
import { pictureStack } from './stack.js';

/** @typedef {import('./clock.js').Clock} Clock */

const LANE = 17;
/** States that always have the same colour; others take that of a line. */
const STATE_COLOURS = /** @type {Record<string, string>} */ ({
  'on the CPU': 'run', runnable: 'run', running: 'run', default: 'run', 'garbage collection': 'gc',
  'waiting for a lock': 'lock', blocked: 'lock', contended: 'lock', sleeping: 'wait', parked: 'wait',
  'waiting for a file or socket': 'wait',
  'waiting for shuffle blocks': 'wait', 'writing shuffle output': 'write', 'not sampled': 'none', 'not counted': 'none',
});

class TimeSeries extends TimePicture {
  /**
   * @param {Record<string, any>} columns
   * @param {Clock} clock
   */
  build(columns, clock) {
    
    const [keys, titles, units, forms] = ['chart', 'title', 'unit', 'form'].map((name) => textsOf(columns[name]));
    const isStates = forms[0] === 'areas';
    if (clock.bands.length > 0 && !isStates) showStages(this, clock);
    const [charts, names, executors] = ['line_chart', 'line_name', 'line_executor'].map((name) => textsOf(columns[name]));
    const lines = names.map((name, i) => {
      const levels = columns.levels.subarray(columns.bounds[i], columns.bounds[i + 1]);
      const values = Float64Array.from(levels, (level) => (level < 0 ? NaN : level * columns.line_step[i]));
      return { name, values, chart: charts[i], executor: executors[i] };
    });
    const plans = () =>
      keys.flatMap((key, place) => {
        const all = lines.filter(({ chart }) => chart === key);
        // What is of one process alone is the same for all and for one.
        const wanted = all.every(({ executor }) => executor === '') ? '' : stateOf('executor');
        const chosen = all
          .filter(({ executor }) => executor === wanted)
          .map((line, i) => {
            const state = isStates ? STATE_COLOURS[line.name] : undefined;
            return { ...line, colour: state ? `time-state-${state}` : `time-line-${i % 5}` };
          });
        const form = /** @type {import('./chart.js').Plan['form']} */ (forms[place]);
        const plan = { title: titles[place], unit: units[place], form, lines: chosen, height: isStates ? 150 : 84 };
        return chosen.length === 0 ? [] : [plan];
      });
    pictureStack(this, isStates ? 'Thread states over time' : 'Charts over time', clock, plans, (seconds) =>
      plans()
        .flatMap(({ title, unit, lines: of }) => of.map((one) => `${title}, ${one.name} ${lineText(clock, one, seconds, unit, clock)}`))
        .join('; '),
    );
  }
}

/**
 * The strip of stages above the charts: a link for each, which chooses its time.
 * @param {HTMLElement} host
 * @param {Clock} clock
 */
function showStages(host, clock) {
  const strip = added(host, 'div', 'time-strip');
  strip.style.height = `${LANE * (1 + Math.max(...clock.bands.map(({ lane }) => lane)))}px`;
  const links = clock.bands.map(({ stage, lane, from, to, title }, i) => {
    const link = /** @type {HTMLAnchorElement} */ (added(strip, 'a', i % 2 ? 'time-stage other' : 'time-stage', String(stage)));
    link.title = `${title}\n${clockText(from)} to ${clockText(to)}: a click chooses this time`;
    link.href = `#from=${from}&to=${to}`;
    link.tabIndex = -1;
    link.style.top = `${lane * LANE}px`;
    link.addEventListener('click', (event) => {
      event.preventDefault(); // the address keeps all else
      chooseTime({ from, to });
    });
    return link;
  });
  const place = () => {
    const seen = seenTime(clock);
    clock.bands.forEach(({ lane, from, to }, i) => {
      links[i].hidden = lane < 0 || from >= seen.to || to <= seen.from;
      links[i].style.left = `${100 * shareOf(from, seen)}%`;
      links[i].style.width = `${100 * (shareOf(to, seen) - shareOf(from, seen))}%`;
    });
  };
  onState(place);
  place();
}

customElements.define('x-series', TimeSeries);
customElements.define('x-states', class extends TimeSeries {});
