"""Slices of a page in a real browser: each shows the total that `profile/slice.py` and `fold` have for its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from emberscope.profile.flame_data import flame_data
from emberscope.profile.fold import fold
from emberscope.profile.slice import Slice, select
from emberscope.report.flame_page import flame_page
from tests.profile.strategies import recording
from tests.profile.test_flame_data import TASKS
from tests.web.browser import chromium, open_page, settle

pytestmark = pytest.mark.browser

S = 1_000_000_000
START_NS = 1_796_048_599 * S + 123


def samples() -> list[dict[str, Any]]:
    """Ten tasks of stage 0 in two attempts, one of stage 3, and the driver; ten minutes, a sample every 0.25 s."""
    rows = []
    for n in range(2400):
        task = n % 12
        row = {"stack": ["run", f"f{n % 7}"], "event": "cpu", "count": 1 + n % 3, "time_ns": START_NS + n * S // 4}
        row |= {"state": ("STATE_RUNNABLE", "STATE_SLEEPING")[n % 5 == 0]}
        if task < 10:
            row |= {"stage_id": 0, "stage_attempt": task % 2, "task_id": task, "sql_execution_id": 4}
        elif task == 10:
            row |= {"stage_id": 3, "stage_attempt": 0, "task_id": 55}
        role = "driver" if task == 11 else "executor"
        rows.append(row | {"role": role, "executor_id": "driver" if task == 11 else str(task % 3)})
    return rows


RECORDED = recording(samples())
FLAME = flame_data(RECORDED.samples, RECORDED.stacks, RECORDED.frames, TASKS, START_NS)
NOTE = "To keep this page small, its flame graph knows times in steps of 1 s, not of 500 ms."


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "slices.html"
    path.write_text(flame_page(replace(FLAME, notes=(NOTE,)), title="slices"), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        yield browser


def shown(browser: webdriver.Chrome) -> int:
    settle(browser)
    words = browser.find_element(By.CSS_SELECTOR, ".flame-path").get_attribute("textContent") or ""
    found = re.search(r"([\d,]+) samples?", words)
    assert found is not None, words
    return int(found[1].replace(",", ""))


def folded(*wheres: Slice) -> int:
    """The samples of these slices together."""
    return sum(
        int(fold(select(RECORDED.samples, where), RECORDED.stacks, RECORDED.frames).self_weights.sum())
        for where in wheres
    )


def between(begin_s: float, end_s: float, **more: Any) -> Slice:
    return Slice(from_ns=START_NS + int(begin_s * S), to_ns=START_NS + int(end_s * S), **more)


@pytest.mark.parametrize(
    ("fragment", "wheres"),
    [
        ("", [Slice()]),
        ("#stage=0&attempt=1", [Slice(stage=0, attempt=1)]),
        ("#state=STATE_SLEEPING&executor=2", [Slice(state="STATE_SLEEPING", executor="2")]),
        ("#role=driver", [Slice(role="driver")]),
        ("#sql=4&task=9", [Slice(sql=4, task=9)]),
        ("#stage=0&task=slow", [Slice(stage=0, task=9), Slice(stage=0, task=8)]),
        ("#stage=0&task=median", [Slice(stage=0, task=5), Slice(stage=0, task=4)]),
        ("#task=none&stage=3", [Slice(stage=3)]),
        ("#from=100&to=200", [between(100, 200)]),
        ("#from=100.2&to=100.9&stage=0", [between(100, 101, stage=0)]),
        ("#from=599", [between(599, 700)]),
    ],
)
def test_a_slice_has_the_total_of_the_same_rows(browser, page, fragment, wheres):
    open_page(browser, page, fragment)
    assert shown(browser) == folded(*wheres) > 0


def test_one_page_goes_from_slice_to_slice_without_loading(browser, page):
    open_page(browser, page, "#stage=0")
    browser.execute_script("window.sameAsBefore = true; location.hash = '#stage=0&task=slow&from=10&to=300'")
    assert shown(browser) == folded(between(10, 300, stage=0, task=9), between(10, 300, stage=0, task=8))
    assert browser.execute_script("return window.sameAsBefore")


def test_the_drawn_time_and_what_is_coarser_are_said(browser, page):
    assert FLAME.bucket_ns == S // 2
    open_page(browser, page, "#from=100.2&to=100.9")
    words = browser.find_element(By.CSS_SELECTOR, "x-flame").get_attribute("textContent") or ""
    assert "100 s to 101 s, in whole steps of 0.5 s" in words
    assert NOTE in words


def test_tasks_are_offered_by_name_with_their_run_time(browser, page):
    open_page(browser, page, "#stage=0")
    options = browser.find_elements(By.CSS_SELECTOR, "[data-for=task] option")
    texts = [re.sub(r" \([\d.]+ %\)$", "", option.get_attribute("textContent") or "") for option in options]
    assert texts[:3] == ["all", "the 2 slowest", "the 2 median"]
    assert sorted(texts[3:-1]) == ["4 · 104 ms", "5 · 105 ms", "8 · 108 ms, slow", "9 · 109 ms, slow"]
    assert texts[-1] == "all other tasks"
