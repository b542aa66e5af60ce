// <x-tasks>: the timeline of all tasks, and the times of one stage. The slice is shared with the flame graph by the
// address; `tasks-by` (colours), `tasks-view` (drawn piece of time, seconds) and `tasks-at` (task) are its own.

import { unpackColumns } from '../columns.js';
import { onState, readState, writeState } from '../state.js';
import { onThemeChange } from '../theme.js';
import { made } from '../flame/made.js';
import { formatCount, formatTime } from '../flame/format.js';
import { countedBefore, groupOfTask, taskTable, wordAt } from './task_table.js';
import { legendOf, taskColours, taskPalette } from './task_colours.js';
import { createTaskPainter, laneLayout } from './task_draw.js';
import { drawCloud, drawHistogram } from './stage_pictures.js';
import { groupRows, stageName, stageTimes, stageWords, taskWords } from './stage_times.js';
import { listenToTasks } from './task_moves.js';

/** @typedef {import('./task_table.js').Tasks} Tasks */
/** @typedef {import('./task_draw.js').TaskScene} TaskScene */

const TASKS_MARKUP = `
<div class="tasks-bar">
  <label>Stage <select data-pick="stage"></select></label>
  <label>Colours <select data-pick="by"><option value="stage">stage</option><option value="time">what the time was</option><option value="status">outcome</option><option value="locality">locality</option></select></label>
  <span class="tasks-tools"><button type="button" data-do="in" aria-label="Zoom in" title="Zoom in ( + )">+</button><button type="button" data-do="out" aria-label="Zoom out" title="Zoom out ( − )">−</button><button type="button" data-do="whole" title="The whole run ( 0 )">Whole run</button><button type="button" data-do="slice" title="Only samples of the piece of time that is seen here">Flame graph of this time</button></span>
</div>
<div class="tasks-view" tabindex="0" role="application" aria-label="Tasks over time, by executor. Left and right arrows move to the next task of the row, up and down to another row, Enter selects, plus and minus zoom, Shift with an arrow moves the picture, 0 shows the whole run."><div class="tasks-height"></div><canvas></canvas></div>
<p class="tasks-hint quiet">Drag to zoom; Ctrl and the wheel zoom too, Shift and dragging moves. Click a task for its figures.</p>
<ul class="tasks-legend" aria-label="Colours"></ul>
<div class="tasks-detail" hidden></div>
<div class="tasks-stage">
  <h3></h3><p class="tasks-words"></p>
  <button type="button" data-do="versus">Slow tasks against the median ones</button> <span class="tasks-why quiet"></span>
  <div class="tasks-pictures"><figure><canvas class="tasks-histogram" role="img"></canvas><figcaption>Tasks by run time. Box: the quartiles; red: stragglers</figcaption></figure>
  <figure><canvas class="tasks-cloud" role="img" aria-label="Run time of each task against what it read; the words above tell of the stragglers."></canvas><figcaption>Run time against what a task read (shuffle and input): a rising line is uneven data, high points on the left are slow for another reason</figcaption></figure>
  <div class="scroll"><table data-by="host"></table></div><div class="scroll"><table data-by="locality"></table></div></div>
</div>
<p class="unseen" role="status" aria-live="polite"></p>
<div class="tasks-tip" hidden></div>`;
const MOST_OPTIONS = 1000;
const NO_SLICE = { sql: '', stage: '', attempt: '', executor: '', role: '', state: '', task: '', from: '', to: '', versus: '', node: '' };

class TaskTimeline extends HTMLElement {
  async connectedCallback() {
    if (this.dataset.state) return;
    this.dataset.state = 'loading';
    try {
      showTasks(this, taskTable(await unpackColumns(this.querySelector('script')?.textContent ?? '')));
      this.dataset.state = 'ready';
    } catch (error) {
      this.dataset.state = 'failed';
      this.textContent = `The tasks cannot be shown: ${error instanceof Error ? error.message : error}`;
    }
  }
}

/**
 * @param {HTMLElement} host
 * @param {Tasks} tasks
 */
function showTasks(host, tasks) {
  const { columns } = tasks;
  const [recorded, clocked] = [host.dataset.recorded !== undefined, host.dataset.clocked !== undefined];
  host.innerHTML = TASKS_MARKUP;
  const part = (/** @type {string} */ selector) => /** @type {any} */ (host.querySelector(selector));
  const view = /** @type {HTMLElement} */ (part('.tasks-view'));
  const [tip, said, detail] = [part('.tasks-tip'), part('[role=status]'), part('.tasks-detail')];
  const button = (/** @type {string} */ name) => /** @type {HTMLButtonElement} */ (part(`[data-do=${name}]`));
  const picks = { stage: part('[data-pick=stage]'), by: part('[data-pick=by]') };
  const paint = createTaskPainter(part('.tasks-view canvas'));
  const places = /** @type {number[]} */ ([...columns.stage_id.keys()]);
  const byTime = places.slice().sort((a, b) => columns.stage_ms[b] - columns.stage_ms[a]);
  const idOf = (/** @type {number} */ task) => String(columns.task[task]);
  const stageOf = (/** @type {number} */ task) => String(columns.stage_id[columns.stage[task]]);
  const seconds = (/** @type {number} */ ms) => String(Number((ms / 1000).toFixed(4)));
  let state = readState() ?? new URLSearchParams();
  let frame = 0;
  let writing = 0;
  let shown = '';
  /** @type {import('./stage_times.js').StageTimes} */
  let times;
  /** @type {{task: number, x: number, y: number}[]} */
  let points = [];
  const scene = /** @type {TaskScene} */ (/** @type {Partial<TaskScene>} */ ({
    tasks, palette: taskPalette(host), by: 'stage', lit: null, from: 0, to: tasks.end, cursor: -1, selected: -1, brushed: null, chosen: null,
  }));
  const value = (/** @type {string} */ name) => state.get(name) ?? '';

  const draw = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(drawNow);
  };
  const drawNow = () => {
    const layout = laneLayout(tasks, view.clientWidth);
    const total = `${layout.tops[layout.tops.length - 1] + 2}px`;
    part('.tasks-height').style.height = total;
    view.style.setProperty('--tasks-content', total);
    Object.assign(scene, layout, { width: view.clientWidth, height: view.clientHeight, scroll: view.scrollTop });
    paint(scene);
  };

  /** Whether the slice of the address takes a task in; null where it takes all. */
  const taken = () => {
    const [sql, stage, attempt, task, executor] = ['sql', 'stage', 'attempt', 'task', 'executor'].map(value);
    if ([sql, stage, attempt, task, executor].every((text) => text === '')) return null;
    const isIn = (/** @type {string} */ wanted, /** @type {any} */ has) => wanted === '' || wanted === String(has);
    return (/** @type {number} */ one) => {
      const place = columns.stage[one];
      return isIn(sql === 'none' ? '-1' : sql, columns.stage_sql[place]) && isIn(stage, columns.stage_id[place]) && isIn(attempt, columns.stage_attempt[place])
        && isIn(executor, tasks.lanes[columns.executor[one]].id) && (isIn(task, columns.task[one]) || task === groupOfTask(tasks, one));
    };
  };

  /** Shows what the address says. */
  const update = () => {
    const by = [...picks.by.options].find((option) => option.value === value('tasks-by'))?.value ?? 'stage';
    if (by !== scene.by || scene.colours === undefined) {
      scene.by = picks.by.value = by;
      scene.colours = taskColours(tasks, scene.palette, by);
    }
    const takes = taken();
    scene.lit = takes === null ? null : countedBefore(tasks, takes);
    const [from, to] = value('tasks-view').split('-').map((text) => Number(text) * 1000);
    if (writing === 0) [scene.from, scene.to] = from < to ? [from, to] : [0, tasks.end];
    const range = ['from', 'to'].map((name) => (value(name) === '' ? Number.NaN : Number(value(name)) * 1000));
    scene.chosen = range.every(Number.isNaN) ? null : [range[0] >= 0 ? range[0] : 0, range[1] >= 0 ? range[1] : tasks.end];
    const at = value('tasks-at') || value('task');
    const selected = at === '' ? -1 : columns.task.indexOf(Number(at));
    if (selected !== scene.selected) showDetail(selected);
    picks.stage.value = Number(value('attempt')) > 0 ? `${value('stage')}.${value('attempt')}` : value('stage');
    const more = takes === null ? [] : ['Strong: what is chosen here and in the flame graph.'];
    part('.tasks-legend').replaceChildren(...[...legendOf(tasks, by), ...more.map((text) => ['', text])].map(([colour, text]) => {
      const item = made('li', '');
      if (colour !== '') item.append(made('i', ''));
      if (item.firstElementChild instanceof HTMLElement) item.firstElementChild.style.background = `var(--task-${colour})`;
      item.append(text);
      return item;
    }));
    const own = byTime.filter((place) => String(columns.stage_id[place]) === value('stage'));
    showStage(own.find((place) => String(columns.stage_attempt[place]) === value('attempt')) ?? own[0] ?? byTime[0]);
    button('whole').disabled = button('out').disabled = scene.from <= 0 && scene.to >= tasks.end;
    button('slice').hidden = !recorded || !clocked;
    draw();
  };

  const showStage = (/** @type {number} */ place) => {
    const first = value('stage') === '' ? ', that with the most task time' : '';
    if (shown !== place + first) {
      shown = place + first;
      times = stageTimes(tasks, place);
      const words = wordAt(columns.stage_words, place);
      part('h3').replaceChildren(`Stage ${stageName(tasks, place)}${first}`, made('span', ` ${words}`, { className: 'quiet' }));
      const sentences = stageWords(tasks, times);
      part('.tasks-words').textContent = sentences.join(' ');
      part('.tasks-histogram').setAttribute('aria-label', `Histogram. ${sentences[0]}`);
      const line = (/** @type {string} */ tag, /** @type {string[]} */ cells) => {
        const row = made('tr', '');
        row.append(...cells.map((text) => made(tag, text)));
        return row;
      };
      for (const by of /** @type {const} */ (['host', 'locality'])) {
        const rows = groupRows(tasks, times, by);
        const table = part(`table[data-by=${by}]`);
        // Of a stage with folded tasks the long ones are here: they would make every host look slow.
        table.hidden = rows.length < 2 || times.folded > 0;
        const head = line('th', [by === 'host' ? 'Host' : 'Locality', 'Tasks', 'Median', 'Of the stage’s', 'Stragglers']);
        table.replaceChildren(head, ...rows.slice(0, 50).map((row) => line('td', row)));
      }
      const some = times.tasks.some((task) => groupOfTask(tasks, task) === 'slow');
      button('versus').disabled = !some;
      part('.tasks-why').textContent = some ? 'as flame graphs of both, one against the other'
        : recorded ? 'No sample fell into its slowest tasks, so there is nothing to compare.'
          : 'The run was not recorded, so there is no flame graph to compare. emberscope run -- spark-submit … records it.';
    }
    drawStage();
  };
  const drawStage = () => {
    const cloud = part('.tasks-cloud');
    if (cloud.clientWidth === 0) return;
    drawHistogram(part('.tasks-histogram'), tasks, times, scene.palette);
    points = drawCloud(cloud, tasks, times, scene.palette, scene.selected);
    cloud.parentElement.classList.toggle('tasks-none', points.length === 0);
  };

  const showDetail = (/** @type {number} */ task) => {
    scene.selected = task;
    detail.hidden = task < 0;
    if (task < 0) return;
    const [name, ...figures] = taskWords(tasks, task);
    detail.replaceChildren(made('b', name), ...figures.map((text) => made('span', text)));
    const act = (/** @type {string} */ text, /** @type {() => void} */ does) => {
      detail.append(made('button', text, { type: 'button' }));
      detail.lastChild.addEventListener('click', does);
    };
    const stage = stageOf(task);
    if (groupOfTask(tasks, task) !== '') act('Flame graph of this task', () => toFlame({ stage, task: idOf(task) }));
    else if (recorded && clocked) {
      const [from, to] = [tasks.launch[task], tasks.launch[task] + columns.duration[task]].map(seconds);
      const executor = tasks.lanes[columns.executor[task]].id;
      act('Flame graph of its executor, stage and time', () => toFlame({ stage, executor, from, to }));
    }
    act('Close', () => select(-1));
  };

  const toFlame = (/** @type {Record<string, string>} */ changes) => {
    writeState({ ...NO_SLICE, ...changes });
    document.getElementById('flame')?.scrollIntoView();
  };
  const select = (/** @type {number} */ task) => {
    if (task < 0) {
      writeState({ 'tasks-at': '', ...(Number(value('task')) >= 0 ? { task: '', versus: '' } : {}) });
      return;
    }
    const own = groupOfTask(tasks, task) === '' ? '' : idOf(task);
    writeState({ 'tasks-at': idOf(task), stage: stageOf(task), attempt: '', executor: '', task: own, versus: '', node: '' });
    said.textContent = `Selected: ${taskWords(tasks, task).join('. ')}`;
  };

  const zoomTo = (/** @type {number} */ from, /** @type {number} */ to) => {
    const length = Math.min(Math.max(to - from, 1), tasks.end);
    scene.from = Math.max(0, Math.min(from, tasks.end - length));
    scene.to = scene.from + length;
    draw();
    clearTimeout(writing);
    // Browsers let an address change only so often.
    writing = setTimeout(() => {
      writing = 0;
      writeState({ 'tasks-view': length >= tasks.end ? '' : `${seconds(scene.from)}-${seconds(scene.to)}` });
      update();
    }, 150);
  };
  const zoomBy = (/** @type {number} */ factor, time = (scene.from + scene.to) / 2) =>
    zoomTo(time - (time - scene.from) * factor, time + (scene.to - time) * factor);

  const showTip = (/** @type {string[]} */ words, /** @type {number} */ x, /** @type {number} */ y) => {
    tip.hidden = words.length === 0;
    tip.replaceChildren(...words.map((text, place) => made(place === 0 ? 'b' : 'span', text)));
    tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? Math.max(8, y - tip.offsetHeight - 12) : y + 18}px`;
  };
  listenToTasks(view, scene, { draw, zoomTo, zoomBy, select, showTip, say: (words) => (said.textContent = words.join('. ')) });

  const on = (/** @type {string} */ name, /** @type {() => void} */ act) => button(name).addEventListener('click', act);
  on('in', () => zoomBy(1 / 1.6));
  on('out', () => zoomBy(1.6));
  on('whole', () => zoomTo(0, tasks.end));
  on('slice', () => toFlame({ stage: value('stage'), attempt: value('attempt'), from: seconds(scene.from), to: seconds(scene.to) }));
  on('versus', () => toFlame({ stage: String(columns.stage_id[times.place]), task: 'slow', versus: 'task=median' }));
  picks.by.addEventListener('change', () => writeState({ 'tasks-by': picks.by.value === 'stage' ? '' : picks.by.value }));
  picks.stage.addEventListener('change', () => {
    const [stage, attempt = ''] = picks.stage.value.split('.');
    writeState({ stage, attempt, task: '', executor: '', versus: '', 'tasks-at': '' });
  });
  part('.tasks-cloud').addEventListener('click', (/** @type {MouseEvent} */ { offsetX, offsetY }) => {
    const far = (/** @type {{x: number, y: number}} */ { x, y }) => Math.hypot(x - offsetX, y - offsetY);
    const near = points.reduce((best, point) => (far(point) < far(best) ? point : best), points[0]);
    if (near !== undefined && far(near) < 12) select(near.task);
  });
  const offered = byTime.slice(0, MOST_OPTIONS).sort((a, b) => a - b);
  const all = places.length > MOST_OPTIONS ? `all (here: the ${formatCount(MOST_OPTIONS)} with the most task time)` : 'all';
  picks.stage.replaceChildren(new Option(all, ''), ...offered.map((place) => {
    const words = wordAt(columns.stage_words, place);
    const count = columns.stage_tasks[place];
    const text = `${stageName(tasks, place)}: ${formatCount(count)} task${count === 1 ? '' : 's'}, ${formatTime(columns.stage_ms[place])}`;
    return new Option(words === '' ? text : `${text} · ${words.slice(0, 60)}`, stageName(tasks, place));
  }));

  const repaint = () => {
    scene.palette = taskPalette(host);
    scene.colours = taskColours(tasks, scene.palette, scene.by);
    drawNow();
    drawStage();
  };
  onThemeChange(repaint);
  addEventListener('beforeprint', repaint);
  addEventListener('afterprint', repaint);
  new ResizeObserver(() => {
    draw();
    drawStage();
  }).observe(view);
  onState((now) => {
    state = now;
    update();
  });
  update();
}

customElements.define('x-tasks', TaskTimeline);
