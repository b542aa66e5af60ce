// <x-clock>: which executor and which piece of time the pictures of the part show.

import { onState, writeState } from '../state.js';
import { added, chooseTime, clockText, flameBucket, snapped, stateOf } from './clock.js';

class ClockBar extends HTMLElement {
  connectedCallback() {
    const executors = /** @type {string[]} */ (JSON.parse(this.dataset.executors ?? '[]'));
    const label = added(this, 'label', '', 'Executor ');
    const pick = /** @type {HTMLSelectElement} */ (added(label, 'select'));
    pick.append(new Option('all', ''), ...executors.map((name) => new Option(name, name)));
    label.hidden = executors.length < 2;
    pick.addEventListener('change', () => writeState({ executor: pick.value }));
    const words = added(this, 'span');
    words.setAttribute('role', 'status');
    const zoom = added(this, 'button');
    zoom.addEventListener('click', () => writeState({ 'times-zoom': stateOf('times-zoom') === '1' ? '' : '1' }));
    const all = added(this, 'button', '', 'All the time');
    all.addEventListener('click', () => chooseTime(null));
    const jump = added(this, 'button', '', 'To its flame graph');
    jump.addEventListener('click', () => document.querySelector('#flame')?.scrollIntoView());
    const flame = document.querySelector('x-flame');
    const update = () => {
      if (![...pick.options].some(({ value }) => value === stateOf('executor'))) pick.append(new Option(stateOf('executor'), stateOf('executor')));
      pick.value = stateOf('executor');
      const [from, to] = [stateOf('from'), stateOf('to')];
      zoom.hidden = all.hidden = from === '' && to === '';
      jump.hidden = all.hidden || !flame?.hasAttribute('data-bucket');
      zoom.textContent = stateOf('times-zoom') === '1' ? 'Zoom out' : 'Zoom in';
      const ends = [from && clockText(Number(from)), to && clockText(Number(to))];
      words.textContent = all.hidden
        ? 'All of the time: drag over a picture to choose a piece of it.'
        : `Chosen: ${ends[0] || 'the start'} to ${ends[1] || 'the end'}${!jump.hidden && from && to ? drawnWords(Number(from), Number(to)) : ''}.`;
    };
    onState(update);
    if (flame !== null) new MutationObserver(update).observe(flame, { attributeFilter: ['data-state'] });
    update();
  }
}

/**
 * What the flame graph has of a piece of time: whole steps.
 * @param {number} from
 * @param {number} to
 */
function drawnWords(from, to) {
  const whole = snapped({ from, to });
  const steps = `in steps of ${clockText(flameBucket())}`;
  if (Math.abs(whole.from - from) + Math.abs(whole.to - to) < 1e-5) return `, ${steps}`;
  return `; the flame graph, ${steps}, has ${clockText(whole.from)} to ${clockText(whole.to)}`;
}

customElements.define('x-clock', ClockBar);
