"""The modules of the timeline against Python: what was packed arrives, and each task is found where it is drawn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from selenium import webdriver

from emberscope.report.assets import joined
from emberscope.report.task_columns import FAILED, task_columns
from emberscope.report.task_data import task_part
from emberscope.tables.run import Run
from tests.runs import any_runs
from tests.web.browser import chromium

pytestmark = pytest.mark.browser

FIND = """
const [packed, done] = arguments;
unpackColumns(packed).then((columns) => {
  const tasks = taskTable(columns);
  const scene = { tasks, from: 0, to: tasks.end, width: 1150, height: 1e6, scroll: 0, ...laneLayout(tasks, 1150) };
  const all = [...tasks.launch.keys()];
  done({
    found: all.map((task) => {
      const x = (taskX(scene, tasks.launch[task]) + taskX(scene, tasks.finish[task])) / 2;
      return taskAt(scene, x, topOfRow(scene, tasks.rowOf[task]) + scene.row / 2).task;
    }),
    wide: all.map((task) => taskX(scene, tasks.finish[task]) - taskX(scene, tasks.launch[task])),
    parts: all.map((task) => partsOf(tasks, task)?.reduce((sum, part) => sum + part, 0) ?? null),
    runs: all.map((task) => runTime(tasks, task)), durations: [...columns.duration],
    ids: [...columns.task], busy: tasks.busy.at(-1), failed: tasks.failed.at(-1),
  });
}, (error) => done(String(error)));
"""
MODULES = ["columns.js", "tasks/task_draw.js", "tasks/task_table.js"]


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        yield browser


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_runs())
def test_prop_each_task_is_found_where_it_is_drawn(browser: webdriver.Chrome, run: Run) -> None:
    part = task_part(run, {})
    if part is None:
        return
    body = joined(MODULES).removeprefix("(() => {").removesuffix("})();\n")
    browser.get("about:blank")
    told = browser.execute_async_script(body + FIND, part.packed)
    whole = task_columns(run)
    assert told["ids"] == whole.figures["task"].tolist()
    assert told["runs"] == whole.figures["run_ms"].tolist()
    assert told["durations"] == whole.duration.tolist()
    assert (told["busy"], told["failed"]) == (whole.duration.sum(), (whole.status == FAILED).sum())
    for place, (found, wide) in enumerate(zip(told["found"], told["wide"], strict=True)):
        assert found == place or wide <= 3
    for run_ms, duration, parts in zip(told["runs"], told["durations"], told["parts"], strict=True):
        assert parts is None if run_ms < 0 else parts == pytest.approx(max(run_ms, duration))
