// <x-tasks>: the timeline of all tasks, and the times of one stage. The slice is shared with the flame graph by the
// address; `tasks-by` (colours), `tasks-view` (drawn piece of time) and `tasks-at` (task) are its own.

import { unpackColumns } from '../columns.js';
import { onState, readState, writeState } from '../state.js';
import { onThemeChange } from '../theme.js';
import { made } from '../flame/made.js';
import { formatCount, formatTime } from '../flame/format.js';
import { counted, firstEnding, groupOfTask, taskTable } from './task_table.js';
import { COLOUR_WORDS, PART_NAMES, colourName, taskColours, taskPalette } from './task_colours.js';
import { AXIS, createTaskPainter, laneLayout, laneName, taskAt, timeAt, topOfRow, xOf } from './task_draw.js';
import { drawCloud, drawHistogram, groupRows, stageName, stageTimes, stageWords, taskWords } from './stage_times.js';

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
  <figure><canvas class="tasks-cloud" role="img"></canvas><figcaption>Run time against what a task read (shuffle and input): a rising line is uneven data, high points on the left are slow for another reason</figcaption></figure>
  <div class="scroll"><table data-by="host"></table></div><div class="scroll"><table data-by="locality"></table></div></div>
</div>
<p class="unseen" role="status" aria-live="polite"></p>
<div class="tasks-tip" hidden></div>`;

class TaskTimeline extends HTMLElement {
  async connectedCallback() {
    if (this.dataset.state) return;
    this.dataset.state = 'loading';
    try {
      const tasks = taskTable(await unpackColumns(this.querySelector('script')?.textContent ?? ''));
      showTasks(this, tasks);
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
  const largest = Array.from(columns.stage_ms, (ms, place) => [ms, place]).sort((a, b) => b[0] - a[0])[0][1];
  let state = readState() ?? new URLSearchParams();
  let palette = taskPalette(host);
  let frame = 0;
  let writing = 0;
  let stageShown = -1;
  /** @type {import('./stage_times.js').StageTimes} */
  let times;
  /** @type {{task: number, x: number, y: number}[]} */
  let points = [];
  /** @type {{x: number, y: number, from: number, to: number, pan: boolean} | null} */
  let dragged = null;
  const scene = /** @type {TaskScene} */ (/** @type {Partial<TaskScene>} */ ({
    tasks, palette, by: 'stage', lit: null, from: 0, to: tasks.end, cursor: -1, selected: -1, brushed: null, chosen: null,
  }));
  const value = (/** @type {string} */ name) => state.get(name) ?? '';

  const draw = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(drawNow);
  };
  const drawNow = () => {
    const layout = laneLayout(tasks, view.clientWidth);
    Object.assign(scene, layout, { width: view.clientWidth, height: view.clientHeight, scroll: view.scrollTop });
    const total = layout.tops[layout.tops.length - 1] + 2;
    part('.tasks-height').style.height = `${total}px`;
    view.style.setProperty('--tasks-content', `${total}px`);
    paint(scene);
  };

  /** Whether the slice of the address takes a task in. */
  const taken = () => {
    const [stage, attempt, task, executor] = ['stage', 'attempt', 'task', 'executor'].map(value);
    if ([stage, attempt, task, executor].every((text) => text === '')) return null;
    const inStage = Array.from(columns.stage_id, (id, place) =>
      (stage === '' || stage === String(id)) && (attempt === '' || attempt === String(columns.stage_attempt[place])));
    const group = task === 'slow' || task === 'median';
    return (/** @type {number} */ one) => inStage[columns.stage[one]]
      && (executor === '' || executor === tasks.lanes[columns.executor[one]].id)
      && (task === '' || (group ? task === groupOfTask(tasks, one) : task === String(columns.task[one])));
  };

  /** The stage that is shown below: that of the address, else that with the most task time. */
  const shownStage = () => {
    const [stage, attempt] = ['stage', 'attempt'].map(value);
    const found = [...columns.stage_id.keys()].filter((place) => String(columns.stage_id[place]) === stage);
    return found.find((place) => String(columns.stage_attempt[place]) === attempt) ?? found.sort((a, b) => columns.stage_ms[b] - columns.stage_ms[a])[0] ?? largest;
  };

  const update = () => {
    const by = picks.by.querySelector(`[value="${CSS.escape(value('tasks-by'))}"]`)?.value ?? 'stage';
    if (by !== scene.by || scene.colours === undefined) {
      scene.by = picks.by.value = by;
      scene.colours = taskColours(tasks, palette, by);
    }
    const takes = taken();
    scene.lit = takes === null ? null : counted(tasks, takes);
    const [from, to] = value('tasks-view').split('-').map(Number);
    if (dragged === null && writing === 0) [scene.from, scene.to] = from < to ? [from * 1000, to * 1000] : [0, tasks.end];
    const range = ['from', 'to'].map((name) => (value(name) === '' ? Number.NaN : Number(value(name)) * 1000));
    scene.chosen = range.every(Number.isNaN) ? null : [range[0] >= 0 ? range[0] : 0, range[1] >= 0 ? range[1] : tasks.end];
    const at = value('tasks-at') || value('task');
    const selected = at === '' ? -1 : columns.task.indexOf(Number(at));
    if (selected !== scene.selected || detail.hidden === selected >= 0) showDetail(selected);
    picks.stage.value = [value('stage'), ...(value('attempt') === '' ? [] : [value('attempt')])].join('.');
    if (picks.stage.value === '') picks.stage.value = value('stage');
    showLegend(takes);
    showStage(shownStage());
    const zoomed = scene.from > 0 || scene.to < tasks.end;
    button('whole').disabled = button('out').disabled = !zoomed;
    button('slice').hidden = !recorded || !clocked;
    draw();
  };

  const showLegend = (/** @type {((task: number) => boolean) | null} */ takes) => {
    const item = (/** @type {string} */ colour, /** @type {string} */ text) => {
      const made_ = made('li', '');
      const swatch = made('i', '');
      swatch.style.background = `var(--task-${colour})`;
      made_.append(swatch, text);
      return made_;
    };
    const { by } = scene;
    const names = by === 'time' ? [...PART_NAMES, 'unknown'] : by === 'status' ? ['success', 'failed', 'killed', 'running']
      : ['level0', 'level1', 'level2', 'level3', 'level4', 'unknown'];
    const seen = new Set();
    if (by !== 'stage' && by !== 'time') for (let task = 0; task < tasks.count; task++) seen.add(colourName(tasks, task, by));
    const items = by === 'stage' ? [made('li', 'A colour is a stage; eight repeat, the number in the bar tells them apart.')]
      : names.flatMap((name, place) => (by === 'time' || seen.has(name) ? [item(name, COLOUR_WORDS[by][place])] : []));
    if (by === 'time') items.push(made('li', 'Parts of a bar are shares, not moments.'));
    items.push(item('bad', 'failed (foot of a bar), executor removed'));
    if (takes !== null) items.push(made('li', 'Strong: what the flame graph shows.'));
    if (tasks.piece > 0) items.push(item('quiet', 'foot of a lane: tasks that are not in this page one by one, darker where more cores were busy with them'));
    part('.tasks-legend').replaceChildren(...items);
  };

  const showStage = (/** @type {number} */ place) => {
    if (place !== stageShown) {
      stageShown = place;
      times = stageTimes(tasks, place);
      const words = columns.stage_words.values[columns.stage_words.places[place]];
      part('h3').replaceChildren(`Stage ${stageName(tasks, place)}`, value('stage') === '' ? ', that with the most task time' : '', made('span', words === '' ? '' : ` ${words}`, { className: 'quiet' }));
      const sentences = stageWords(tasks, times);
      part('.tasks-words').textContent = sentences.join(' ');
      part('.tasks-histogram').setAttribute('aria-label', `Histogram of run times. ${sentences[0]}`);
      part('.tasks-cloud').setAttribute('aria-label', 'Run time of each task against what it read; the figures of stragglers are in the words above.');
      for (const by of /** @type {const} */ (['host', 'locality'])) {
        const rows = groupRows(tasks, times, by);
        const table = part(`table[data-by=${by}]`);
        table.hidden = rows.length < 2;
        const head = made('tr', '');
        head.append(...[by === 'host' ? 'Host' : 'Locality', 'Tasks', 'Median', 'Of the stage’s', 'Stragglers'].map((text) => made('th', text, { scope: 'col' })));
        table.replaceChildren(head, ...rows.slice(0, 50).map((row) => {
          const line = made('tr', '');
          line.append(...row.map((text) => made('td', text)));
          return line;
        }));
      }
    }
    const slow = times.tasks.filter((task) => groupOfTask(tasks, task) === 'slow').length;
    button('versus').disabled = slow === 0;
    part('.tasks-why').textContent = slow > 0 ? 'as flame graphs of both, one against the other'
      : recorded ? 'No sample fell into its slowest tasks, so there is nothing to compare.' : 'The run was not recorded, so there is no flame graph to compare. emberscope run -- spark-submit … records it.';
    drawStage();
  };
  const drawStage = () => {
    if (part('.tasks-histogram').clientWidth === 0) return;
    drawHistogram(part('.tasks-histogram'), tasks, times, palette);
    const cloud = part('.tasks-cloud');
    points = drawCloud(cloud, tasks, times, palette, scene.selected);
    cloud.parentElement.hidden = points.length === 0;
  };

  const showDetail = (/** @type {number} */ task) => {
    scene.selected = task;
    detail.hidden = task < 0;
    if (task < 0) return;
    const [name, ...figures] = taskWords(tasks, task);
    detail.replaceChildren(made('b', name), ...figures.map((text) => made('span', text)));
    const link = (/** @type {string} */ text, /** @type {Record<string, string>} */ changes) => {
      const act = made('button', text, { type: 'button' });
      act.addEventListener('click', () => toFlame(changes));
      detail.append(act);
    };
    const stage = String(columns.stage_id[columns.stage[task]]);
    const seconds = (/** @type {number} */ ms) => String(Math.round(ms) / 1000);
    if (groupOfTask(tasks, task) !== '') link('Flame graph of this task', { stage, task: String(columns.task[task]) });
    else if (recorded && clocked) {
      link('Flame graph of its executor, stage and time', { stage, executor: tasks.lanes[columns.executor[task]].id, from: seconds(tasks.launch[task]), to: seconds(tasks.launch[task] + columns.duration[task]) });
    }
    const close = made('button', 'Close', { type: 'button' });
    close.addEventListener('click', () => writeState({ 'tasks-at': '', task: '' }));
    detail.append(close);
  };

  const NOTHING = { sql: '', stage: '', attempt: '', executor: '', role: '', state: '', task: '', from: '', to: '', versus: '', node: '' };
  const toFlame = (/** @type {Record<string, string>} */ changes) => {
    writeState({ ...NOTHING, ...changes });
    document.getElementById('flame')?.scrollIntoView();
  };

  const select = (/** @type {number} */ task) => {
    if (task < 0) return;
    const own = groupOfTask(tasks, task) === '' ? '' : String(columns.task[task]);
    writeState({ 'tasks-at': String(columns.task[task]), stage: String(columns.stage_id[columns.stage[task]]), attempt: '', executor: '', task: own, versus: '', node: '' });
    said.textContent = `Selected: ${taskWords(tasks, task).join('. ')}`;
  };

  const zoomTo = (/** @type {number} */ from, /** @type {number} */ to) => {
    const length = Math.min(Math.max(to - from, 1), tasks.end);
    scene.from = Math.max(0, Math.min(from, tasks.end - length));
    scene.to = scene.from + length;
    draw();
    clearTimeout(writing);
    // Browsers allow an address to change only so often.
    writing = setTimeout(() => {
      writing = 0;
      const whole = scene.from <= 0 && scene.to >= tasks.end;
      writeState({ 'tasks-view': whole ? '' : [scene.from, scene.to].map((ms) => (ms / 1000).toFixed(4)).map(Number).join('-') });
      update();
    }, 150);
  };
  const zoomBy = (/** @type {number} */ factor, /** @type {number} */ time = (scene.from + scene.to) / 2) =>
    zoomTo(time - (time - scene.from) * factor, time + (scene.to - time) * factor);
  const panBy = (/** @type {number} */ share) => {
    const by = share * (scene.to - scene.from);
    zoomTo(scene.from + by, scene.to + by);
  };

  const showTip = (/** @type {string[]} */ words, /** @type {number} */ x, /** @type {number} */ y) => {
    tip.hidden = words.length === 0;
    if (tip.hidden) return;
    tip.replaceChildren(made('b', words[0]), ...words.slice(1).map((text) => made('span', text)));
    tip.style.left = `${Math.max(8, Math.min(x + 14, innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > innerHeight ? Math.max(8, y - tip.offsetHeight - 12) : y + 18}px`;
  };
  const laneWords = (/** @type {number} */ place) => {
    const lane = tasks.lanes[place];
    const cores = lane.cores > 0 ? `${lane.cores} ${lane.cores === 1 ? 'core' : 'cores'}, ` : '';
    return [`${laneName(lane)} on ${lane.host || 'a host not known'}`, `${cores}${formatCount(lane.count)} tasks here, at most ${lane.rows} at once`,
      ...(Number.isNaN(lane.added) ? [] : [`came at ${formatTime(lane.added)}`]),
      Number.isNaN(lane.removed) ? 'not removed as far as is known' : `removed at ${formatTime(lane.removed)}: ${lane.reason || 'no reason given'}`];
  };
  const pointOf = (/** @type {MouseEvent} */ event) => {
    const edge = view.getBoundingClientRect();
    return { x: event.clientX - edge.left, y: event.clientY - edge.top };
  };

  view.addEventListener('pointerdown', (event) => {
    const { x, y } = pointOf(event);
    if (event.button !== 0 || event.pointerType === 'touch' || x > view.clientWidth) return;
    dragged = { x, y, from: scene.from, to: scene.to, pan: event.shiftKey };
    view.setPointerCapture(event.pointerId);
  });
  view.addEventListener('pointermove', (event) => {
    const { x, y } = pointOf(event);
    if (dragged === null) {
      const { lane, task } = taskAt(scene, x, y);
      showTip(task >= 0 ? taskWords(tasks, task) : lane >= 0 ? laneWords(lane) : [], event.clientX, event.clientY);
      return;
    }
    showTip([], 0, 0);
    if (dragged.pan) {
      const by = ((dragged.x - x) / (scene.width - scene.gutter)) * (dragged.to - dragged.from);
      zoomTo(dragged.from + by, dragged.to + by);
    } else if (scene.brushed !== null || Math.abs(x - dragged.x) > 4) {
      const ends = [dragged.x, x].map((end) => timeAt(scene, Math.max(scene.gutter, Math.min(scene.width, end))));
      scene.brushed = [Math.min(...ends), Math.max(...ends)];
      draw();
    }
  });
  view.addEventListener('pointerleave', () => showTip([], 0, 0));
  view.addEventListener('pointerup', () => {
    if (dragged === null) return;
    dragged = null;
    if (scene.brushed !== null && scene.brushed[1] > scene.brushed[0]) zoomTo(...scene.brushed);
    else if (scene.brushed === null) return;
    view.dataset.dragged = '';
    scene.brushed = null;
    setTimeout(() => delete view.dataset.dragged);
  });
  view.addEventListener('pointercancel', () => {
    dragged = scene.brushed = null;
    draw();
  });
  view.addEventListener('click', (event) => {
    if (view.dataset.dragged !== undefined || event.shiftKey) return;
    const { x, y } = pointOf(event);
    const { task } = taskAt(scene, x, y);
    if (task < 0) return;
    scene.cursor = task;
    select(task);
    if (/** @type {PointerEvent} */ (event).pointerType === 'touch') showTip([], 0, 0);
  });
  view.addEventListener('wheel', (event) => {
    const { x } = pointOf(event);
    if (event.ctrlKey || event.metaKey) zoomBy(1.0015 ** event.deltaY, timeAt(scene, Math.max(scene.gutter, x)));
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey) panBy((event.deltaX || event.deltaY) / (scene.width - scene.gutter));
    else return;
    event.preventDefault();
  }, { passive: false });

  /** Puts the keyboard on a task, into view, and says what it is. */
  const moveTo = (/** @type {number} */ task) => {
    if (task < 0) return;
    scene.cursor = task;
    const [begin, end] = [tasks.launch[task], tasks.finish[task]];
    const length = scene.to - scene.from;
    if (end < scene.from || begin > scene.to) zoomTo((begin + end - length) / 2, (begin + end + length) / 2);
    const top = topOfRow(scene, tasks.rowOf[task]);
    if (top < AXIS) view.scrollTop += top - AXIS;
    if (top + scene.row > view.clientHeight) view.scrollTop += top + scene.row - view.clientHeight;
    const words = taskWords(tasks, task);
    said.textContent = words.join('. ');
    const edge = view.getBoundingClientRect();
    showTip(words, edge.left + Math.max(scene.gutter, Math.min(scene.width - 40, xOf(scene, begin))), edge.top + topOfRow(scene, tasks.rowOf[task]) + scene.row);
    draw();
  };
  /** The task that an arrow leads to: the next in the row, or what ran at the same time in the nearest row with any. */
  const taskForKey = (/** @type {string} */ key) => {
    const now = scene.cursor >= 0 ? scene.cursor : scene.selected;
    if (now < 0) return tasks.order[firstEnding(tasks, tasks.rowOf[0] ?? 0, scene.from)] ?? 0;
    const row = tasks.rowOf[now];
    if (key === 'ArrowLeft' || key === 'ArrowRight') {
      let place = firstEnding(tasks, row, tasks.finish[now] - 0.5);
      while (tasks.order[place] !== now && place < tasks.bounds[row + 1] - 1) place++;
      place += key === 'ArrowLeft' ? -1 : 1;
      return place < tasks.bounds[row] || place >= tasks.bounds[row + 1] ? -1 : tasks.order[place];
    }
    const step = key === 'ArrowUp' ? -1 : 1;
    for (let other = row + step; other >= 0 && other < tasks.laneOf.length; other += step) {
      const last = tasks.bounds[other + 1] - 1;
      if (last >= tasks.bounds[other]) return tasks.order[Math.min(last, firstEnding(tasks, other, tasks.launch[now]))];
    }
    return -1;
  };
  view.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    if (key === '+' || key === '=') zoomBy(1 / 1.6);
    else if (key === '-') zoomBy(1.6);
    else if (key === '0' || key === 'Home') zoomTo(0, tasks.end);
    else if (event.shiftKey && key === 'ArrowLeft') panBy(-0.2);
    else if (event.shiftKey && key === 'ArrowRight') panBy(0.2);
    else if (key.startsWith('Arrow')) moveTo(taskForKey(key));
    else if (key === 'Enter') select(scene.cursor);
    else if (key === 'Escape') {
      scene.cursor = -1;
      writeState({ 'tasks-at': '', task: '' });
    } else return;
    event.preventDefault();
  });
  view.addEventListener('blur', () => showTip([], 0, 0));
  view.addEventListener('scroll', draw, { passive: true });

  button('in').addEventListener('click', () => zoomBy(1 / 1.6));
  button('out').addEventListener('click', () => zoomBy(1.6));
  button('whole').addEventListener('click', () => zoomTo(0, tasks.end));
  button('slice').addEventListener('click', () =>
    toFlame({ stage: value('stage'), from: (scene.from / 1000).toFixed(3), to: (scene.to / 1000).toFixed(3) }));
  button('versus').addEventListener('click', () =>
    toFlame({ stage: String(columns.stage_id[stageShown]), task: 'slow', versus: 'task=median' }));
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

  const stages = [...columns.stage_id.keys()].map((place) => {
    const words = columns.stage_words.values[columns.stage_words.places[place]];
    const value_ = [columns.stage_id[place], columns.stage_attempt[place] || []].flat().join('.');
    return new Option(`${stageName(tasks, place)}: ${formatCount(columns.stage_tasks[place])} tasks, ${formatTime(columns.stage_ms[place])}${words === '' ? '' : ` · ${words.slice(0, 60)}`}`, value_);
  });
  picks.stage.replaceChildren(new Option('all', ''), ...stages);

  const repaint = () => {
    palette = scene.palette = taskPalette(host);
    scene.colours = taskColours(tasks, palette, scene.by);
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
