"""What a recording tells beside its samples, in a real browser: heaps over time, kinds of events, cost and losses."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from emberscope.report.diagnosis import diagnose
from emberscope.report.heap_looks import MOST_CLASSES, MOST_LOOKS, MOST_PROCESSES
from emberscope.report.page import report_page
from emberscope.sources.lost import executor_notes
from emberscope.tables.coverage import Coverage
from emberscope.tables.run import Run
from emberscope.units import format_bytes
from tests.report.test_hotspots import recorded
from tests.runs import START_MS, executor, run_of, stage, task
from tests.sources.test_lost import chunk
from tests.web.browser import chromium, open_page, prefer

pytestmark = pytest.mark.browser

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
EVIL = "<img src=x onerror=window.harmed=1>\u202e"
LOOKS, CLASSES, PROCESSES = 15, 24, MOST_PROCESSES + 2
LATE = "org.example.CameLate"
NS = 1_000_000


def size(number: int, look: int) -> int:
    """Bytes of a class at a look of executor 1: the higher its number, the more it grows."""
    return 1_000_000 + 1_000 * number * look


def heap_rows() -> list[dict[str, Any]]:
    rows = []
    for look in range(LOOKS):
        at = {"time_ns": (START_MS + 4_000 * look) * NS, "executor_id": "1", "role": "executor"}
        names = [f"org.example.{'Long' * 40}.C{n:02}" if n else EVIL for n in range(CLASSES)]
        rows += [at | {"object_class": names[n], "size_bytes": size(n, look), "instances": 7} for n in range(CLASSES)]
        rows += [at | {"object_class": None, "size_bytes": 12_345, "instances": 99}]
        if look == LOOKS - 1:
            rows.append(at | {"object_class": LATE, "size_bytes": 50_000_000, "instances": 1_234})
    for number in range(2, PROCESSES + 1):
        at = {"time_ns": START_MS * NS, "executor_id": str(number), "role": "executor"}
        rows.append(at | {"object_class": "a.B", "size_bytes": 1_000 * number, "instances": 1})
    return rows


def recorded_run() -> Run:
    """Two executors, the second of which was killed 3 s after its last chunk."""
    begin_ns, of_task = (START_MS + 1_000) * NS, {"role": "executor", "executor_id": "1", "host": "a", "thread_id": 9}
    of_stage = {"stage_id": 4, "stage_attempt": 0, "task_id": 40}
    span = {"start_ns": begin_ns, "end_ns": begin_ns + 8_000 * NS, "cpu_start_ns": 5, "cpu_ns": 6_000 * NS}
    end_ns = begin_ns + 700 * NS
    base = run_of(
        70_000,
        tasks=[task(4, 1_000, 8_000, task_id=40, executor_id="1")],
        stages=[stage(4, 1_000, 9_000)],
        executors=[executor("1", 2, 200), executor("2", 2, 300, 60_000) | {"removed_reason": f"exit code 137 {EVIL}"}],
        spans=[of_task | of_stage | span],
        series=[{"name": "cpu_samples_lost", "time_ns": begin_ns + NS, "value": 11.0, **of_task}],
        heap_classes=heap_rows(),
        marks=[
            {"mark": "compilation", "name": "a.B.run", "text": "c2", "time_ns": begin_ns, "end_ns": end_ns},
            {"mark": "deoptimization", "name": EVIL, "text": "unstable_if", "time_ns": begin_ns},
            {"mark": "class_load", "name": "a.Slow", "time_ns": begin_ns, "end_ns": end_ns},
        ],
    )
    sample = {"event": "cpu", "count": 300, "value": 20 * NS, "in_span": True, "stack": ["a.B.run"]}
    run = recorded([sample | of_task | of_stage | {"time_ns": begin_ns + NS}], base)
    chunks = [
        chunk(START_MS, START_MS + 70_000, last=True),
        chunk(START_MS, START_MS + 57_000, executor="2"),
    ]
    own_cpu = [{"role": "executor", "processes": 2, "own_cpu_ns": 5_000_000, "process_cpu_ns": 1_000_000_000}]
    notes = executor_notes(run.tables["executors"], chunks, run.application)
    return replace(run, recorder={"own_cpu": own_cpu}, coverage=Coverage(tuple(notes)))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tables") / "report.html"
    path.write_text(report_page(diagnose(recorded_run())), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        yield browser


def cells(browser: webdriver.Chrome, label: str) -> list[list[str]]:
    """The shown texts of the table whose region has this label: heads first, then row by row."""
    found: list[list[str]] = browser.execute_script(
        "return [...document.querySelector(`[aria-labelledby='${arguments[0]}'] table`).rows].map("
        "(row) => [...row.cells].map((cell) => cell.innerText.trim()))",
        label,
    )
    return found


def text(browser: webdriver.Chrome, selector: str) -> str:
    found: str = browser.execute_script("return document.querySelector(arguments[0]).innerText", selector)
    return found


def test_the_heap_over_time_has_the_figures_of_its_table(browser: webdriver.Chrome, page: Path) -> None:
    open_page(browser, page)
    assert text(browser, "#heap-looks-1") == "The heap of the executor 1 by class"
    heads, *rows = cells(browser, "heap-looks-1")
    assert len(heads) == 1 + MOST_LOOKS + 1
    assert (heads[1], heads[-2], heads[-1]) == ("first look", "56.0 s later", "Objects")
    assert len(rows) == MOST_CLASSES + 1
    assert rows[0] == [LATE, *["–"] * (MOST_LOOKS - 1), format_bytes(50_000_000), "1,234"]
    name, first, *_, last, objects = rows[1]
    assert name.startswith("…")
    assert name.endswith(f".C{CLASSES - 1:02}")
    assert (first, last, objects) == (
        format_bytes(size(CLASSES - 1, 0)),
        format_bytes(size(CLASSES - 1, LOOKS - 1)),
        "7",
    )
    assert rows[-1][0] == "all other classes"
    hidden = CLASSES + 1 - MOST_CLASSES
    shown = " ".join(text(browser, "#hotspots").split())
    assert f"–: too small then to be told from the others. And {hidden} more classes." in shown
    assert "The heaps of 2 more processes were looked at" in shown
    assert len(browser.find_elements(By.CSS_SELECTOR, "[id^='heap-looks-']")) == MOST_PROCESSES


def test_every_kind_has_its_line(browser: webdriver.Chrome, page: Path) -> None:
    open_page(browser, page)
    rows = [tuple(row) for row in cells(browser, "recorded")[1:]]
    assert ("jit", "1 long compilation that took 700 ms added up; most for a.B.run (700 ms)") in rows
    assert ("classes", "1 slow class load that took 700 ms added up; most for a.Slow (700 ms)") in rows
    assert any(kind == "jit" and "unstable_if" in words and "[U+202E]" in words for kind, words in rows)
    assert rows[0][0] == "cpu"


def test_cost_and_losses_of_the_recorder_are_told(browser: webdriver.Chrome, page: Path) -> None:
    open_page(browser, page)
    assert "Its own threads used 0.5 % of the executors' CPU." in text(browser, ".seen")
    notes = "return [...document.querySelectorAll('#coverage li')].map((one) => one.innerText)"
    (note,) = browser.execute_script(notes)
    assert note.startswith("Executor 2 ended without closing its recording: its end is missing, 3.0 s at most (exit ")
    assert note.endswith("executor 2")
    browser.execute_script("document.querySelector('#stage-cpu').open = true")
    told: list[str] = browser.execute_script(
        "return [...document.querySelector('#stage-cpu tbody tr').cells].map((cell) => cell.innerText.trim())"
    )
    assert told == ["4", "8.0 s", "300", "6.0 s", "11", "6.0 s", "–", "–"]
    harm = "return [window.harmed, document.querySelectorAll('section img').length]"
    assert browser.execute_script(harm) == [None, 0]


@pytest.mark.parametrize("columns", [1280, 390])
def test_the_tables_scroll_by_themselves(browser: webdriver.Chrome, page: Path, columns: int) -> None:
    metrics = {"width": columns, "height": 800, "deviceScaleFactor": 1, "mobile": columns < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    open_page(browser, page)
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    wide = browser.execute_script("return document.documentElement.scrollWidth")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= columns


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_in_them(browser: webdriver.Chrome, page: Path, scheme: str) -> None:
    if not AXE.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs Node and `npm ci --prefix tests/web`")
    prefer(browser, scheme)
    browser.get_log("browser")
    open_page(browser, page)
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = browser.execute_async_script(
        "const done = arguments[0];"
        "axe.run({include: [['#hotspots'], ['#coverage'], ['#stages']]}, {resultTypes: ['violations']})"
        ".then((r) => done(r.violations))"
    )
    assert {f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]} == set()
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    prefer(browser, "light")
