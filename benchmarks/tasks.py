"""How long does a frame of the task timeline take? In a real Chromium, on runs that are made up.

    PYTHONPATH=. python benchmarks/tasks.py [TASKS...]

For each number of tasks (100,000 and 1,000,000): the size of the packed columns, then in the browser the time to unpack
them, to index them, and to draw a frame of 1240 × 520 pixels of the whole run, a tenth and a hundredth of it. Each is
drawn at 25 places from end to end and read back, so that it is drawn: median and longest.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
from tests.runs import START_MS, executor, run_of
from tests.web.browser import chromium

from emberscope.report.assets import joined, style_sheet
from emberscope.report.task_data import task_part
from emberscope.tables.catalog import TABLES
from emberscope.tables.run import Run

CORES = 4
SCRIPT = joined(["columns.js", "tasks/task_draw.js"]).removeprefix("(() => {").removesuffix("})();\n")
ASK = """
const [packed, style, done] = arguments;
const measure = async () => {
  document.head.append(Object.assign(document.createElement('style'), { textContent: style }));
  const host = document.body.appendChild(document.createElement('x-tasks'));
  const canvas = host.appendChild(document.createElement('canvas'));
  const found = {};
  let began = performance.now();
  const took = () => -began + (began = performance.now());
  const columns = await unpackColumns(packed);
  found.unpack = [took()];
  const tasks = taskTable(columns);
  found.index = [took()];
  const palette = taskPalette(host);
  const lit = countedBefore(tasks, (task) => columns.stage[task] === 40);
  const paint = createTaskPainter(canvas);
  for (const by of ['stage', 'time']) {
    const colours = taskColours(tasks, palette, by);
    for (const share of [1, 0.1, 0.01]) {
      const times = [];
      for (let i = 0; i < 25; i++) {
        const from = tasks.end * (1 - share) * (i / 24);
        took();
        const seen = { by, lit: by === 'stage' ? lit : null, from, to: from + tasks.end * share, brushed: null };
        paint({ tasks, palette, colours, ...seen, ...laneLayout(tasks, 1240),
          width: 1240, height: 520, scroll: 0, cursor: -1, selected: -1, chosen: null });
        canvas.getContext('2d').getImageData(0, 0, 1, 1);
        times.push(took());
      }
      times.sort((a, b) => a - b);
      found[`${by}, ${100 * share} %`] = [times[12], times[24]];
    }
  }
  return found;
};
measure().then(done, (error) => done(String(error.stack)));
"""


def made_up(count: int) -> Run:
    """Log-normal run times on executors of four cores, a straggler in 500, a failure in 1,000; 60 stages in turn."""
    random = np.random.default_rng(1)
    executors = max(20, count // 20_000)
    slots = executors * CORES
    length = np.exp(random.normal(6, 0.7, (slots, count // slots))).astype(np.int64) + 5
    length[random.random(length.shape) < 0.002] *= 15
    finish = (np.cumsum(length + random.integers(0, 30, length.shape), axis=1) + 2_000).ravel()
    launch = finish - length.ravel()
    rows, lane = len(launch), np.repeat(np.arange(slots) // CORES, count // slots)
    columns: dict[str, Any] = {
        "stage_id": launch * 60 // (finish.max() + 1),
        "stage_attempt": np.zeros(rows, np.int64),
        "task_id": np.argsort(np.argsort(launch, kind="stable"), kind="stable"),
        "task_index": np.arange(rows) % 2_000,
        "executor_id": [str(place) for place in lane.tolist()],
        "host": [f"host-{place // 2}" for place in lane.tolist()],
        "status": np.where(random.random(rows) < 0.001, "failed", "success").tolist(),
        "launch_ms": launch + START_MS,
        "finish_ms": finish + START_MS,
        "executor_run_time_ms": length.ravel() - 3,
        "executor_cpu_time_ns": (length.ravel() * random.uniform(0.3, 0.9, rows)).astype(np.int64) * 1_000_000,
        "gc_time_ms": (length.ravel() * random.uniform(0, 0.1, rows)).astype(np.int64),
        "shuffle_read_remote_bytes": (length.ravel() * random.uniform(2e4, 7e4, rows)).astype(np.int64),
    }
    run = run_of(int(finish.max()), executors=[executor(str(place), CORES, 90 * place) for place in range(executors)])
    tasks = next(table for table in TABLES if table.name == "tasks").from_columns(columns)
    return replace(run, tables={**run.tables, "tasks": tasks})


def main(counts: list[int]) -> None:
    style = style_sheet(["theme.css", "tasks/tasks.css"])
    for count in counts:
        part = task_part(made_up(count), {}, most=count)
        assert part is not None
        size = len(part.packed) / 1e6
        print(
            f"{part.total:,} tasks: {size:.1f} MB in the page, {len(part.packed) * 0.75 / part.total:.1f} bytes a task"
        )
        with chromium() as browser:
            browser.get("about:blank")
            browser.set_script_timeout(300)
            for name, times in browser.execute_async_script(SCRIPT + ASK, part.packed, style).items():
                print(f"  {name}: " + " to ".join(f"{time:.1f}" for time in times) + " ms")


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or [100_000, 1_000_000])
