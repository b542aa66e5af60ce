"""The pictures over time in a real browser: what is chosen in one is what the flame graph shows, by hand or by keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.action_builder import ActionBuilder
from selenium.webdriver.common.actions.pointer_input import PointerInput
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

from emberscope.profile.fold import fold
from emberscope.profile.slice import Slice, select
from emberscope.report.diagnosis import diagnose
from emberscope.report.page import report_page
from emberscope.tables.series import SERIES
from tests.profile.strategies import recording
from tests.runs import START_MS, executor, run_of, spark_wrote, stage, task
from tests.web.browser import chromium, requested, settle

pytestmark = pytest.mark.browser

START_NS = START_MS * 1_000_000
S = 1_000_000_000
LENGTH_S = 60
SAMPLES = [
    {"stack": ["com.acme.Job.run", f"com.acme.Step{i % 3}.go"], "event": event, "count": 1 + i % 4, "value": S // 50}
    | {"executor_id": str(1 + i % 2), "task_id": 1 + i % 2, "stage_id": 0, "stage_attempt": 0, "role": "executor"}
    | {"state": "STATE_RUNNABLE" if i % 3 else "STATE_SLEEPING", "time_ns": START_NS + i * LENGTH_S * S // 3000}
    for event in ("cpu", "wall")
    for i in range(3000)
]
RECORDED = recording(SAMPLES)
# One bucket of the flame graph, and one cell of the heat map.
BUCKET_S = 0.05
CELL_S = 0.02


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    ends = {"finish_ms": LENGTH_S * 1000}
    run = run_of(
        LENGTH_S * 1000,
        tasks=[task(0, 0, 60_000, task_id=i, executor_id=str(i), shuffle_write_bytes=10**8, **ends) for i in (1, 2)],
        stages=[stage(0, 0, 30_000), stage(1, 30_000, 60_000)],
        executors=[executor("1", 1), executor("2", 1)],
    )
    series = [
        {"name": name, "executor_id": one, "time_ns": START_NS + i * S, "value": value * (1 + i % 7), "label": label}
        for name, value, label in (("cpu_process_ratio", 0.1, None), ("heap_used_bytes", 1e8, "After GC"))
        for one in ("1", "2")
        for i in range(LENGTH_S)
    ]
    tables = {"samples": RECORDED.samples, "stacks": RECORDED.stacks, "frames": RECORDED.frames}
    recorded = replace(run, tables={**run.tables, **tables, "series": SERIES.from_rows(series)})
    folder = tmp_path_factory.mktemp("times")
    for name, item in {"recorded": recorded, "log": spark_wrote("skew_spill_python")}.items():
        (folder / f"{name}.html").write_text(report_page(diagnose(item)), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in ("recorded", "log")}


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def page(browser: webdriver.Chrome, pages: dict[str, Path]) -> webdriver.Chrome:
    show(browser, pages["recorded"])
    return browser


def show(browser: webdriver.Chrome, path: Path, fragment: str = "") -> None:
    browser.get("about:blank")
    browser.get(path.as_uri() + fragment)
    ready = """return document.readyState === 'complete' && [...document.querySelectorAll(
      'x-series, x-states, x-heat, x-flame')].every((e) => e.dataset.state === 'ready')"""
    WebDriverWait(browser, 20).until(lambda b: b.execute_script(ready))
    settle(browser)


def drag(browser: webdriver.Chrome, selector: str, begin: float, end: float, kind: str = "mouse") -> None:
    """From one share of the picture's width to another, one quarter above its lower edge."""
    plot = browser.find_element(By.CSS_SELECTOR, f"{selector} .time-inside")
    browser.execute_script("arguments[0].scrollIntoView({ block: 'center' })", plot)
    box = browser.execute_script(
        "const b = arguments[0].getBoundingClientRect(); return [b.left, b.top, b.width, b.height]", plot
    )
    y = round(box[1] + 0.75 * box[3])
    actions = ActionChains(browser, duration=20)
    if kind == "touch":
        actions.w3c_actions = ActionBuilder(browser, mouse=PointerInput("touch", "finger"), duration=20)
    pointer = actions.w3c_actions.pointer_action
    pointer.move_to_location(round(box[0] + begin * box[2]), y).pointer_down()
    for step in (0.3, 0.7, 1):
        pointer.move_to_location(round(box[0] + (begin + step * (end - begin)) * box[2]), y)
    pointer.pointer_up()
    actions.perform()
    settle(browser)


def chosen(browser: webdriver.Chrome) -> tuple[float, float]:
    state = browser.execute_script("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")
    return float(state["from"]), float(state["to"])


def drawn(browser: webdriver.Chrome) -> int:
    """The samples that the flame graph shows."""
    settle(browser)
    words = browser.find_element(By.CSS_SELECTOR, ".flame-path").get_attribute("textContent") or ""
    found = re.search(r"([\d,]+) samples?", words)
    assert found is not None, words
    return int(found[1].replace(",", ""))


def folded(begin_s: float | None = None, end_s: float | None = None, **more: Any) -> int:
    """The CPU samples of this piece of time, from the tables."""
    times = {} if begin_s is None else {"from_ns": START_NS + round(begin_s * S), "to_ns": START_NS + round(end_s * S)}
    of = select(RECORDED.samples.filter(pc.equal(RECORDED.samples["event"], "cpu")), Slice(**times, **more))
    return int(fold(of, RECORDED.stacks, RECORDED.frames).self_weights.sum())


def text(browser: webdriver.Chrome, selector: str) -> str:
    return browser.find_element(By.CSS_SELECTOR, selector).get_attribute("textContent") or ""


@pytest.mark.parametrize(
    ("selector", "kind"), [("x-series", "mouse"), ("x-states", "mouse"), ("x-heat", "mouse"), ("x-heat", "touch")]
)
def test_a_brush_makes_the_flame_graph_show_just_that_piece(page, selector, kind):
    assert drawn(page) == folded()
    drag(page, selector, 0.25, 0.5, kind)
    begin, end = chosen(page)
    assert begin == pytest.approx(0.25 * LENGTH_S, abs=1.1)
    assert end == pytest.approx(0.5 * LENGTH_S, abs=1.1)
    for edge in (begin, end):
        assert edge / BUCKET_S == pytest.approx(round(edge / BUCKET_S))
    assert drawn(page) == folded(begin, end) < folded()
    assert f"in steps of {BUCKET_S} s" in text(page, "x-clock")


def test_a_brush_backwards_is_the_same_and_escape_chooses_all(page):
    drag(page, "x-series", 0.8, 0.6)
    begin, end = chosen(page)
    assert (begin, end) == (pytest.approx(36, abs=0.5), pytest.approx(48, abs=0.5))
    page.find_element(By.CSS_SELECTOR, "x-series .time-area").send_keys(Keys.ESCAPE)
    assert "from" not in page.execute_script("return location.hash")
    assert drawn(page) == folded()


def test_a_column_of_the_heat_map_has_pieces_of_a_second(page):
    """A brush over a few cells of one column is less than its second."""
    drag(page, "x-heat", 0.5, 0.5 + 1 / LENGTH_S)
    begin, end = chosen(page)
    assert end - begin < 1.5
    assert (begin % 1, end % 1) != (0, 0)
    assert drawn(page) == folded(begin, end)


@pytest.mark.parametrize("selector", ["x-series", "x-states", "x-heat"])
def test_the_keys_choose_and_say_what_they_do(page, selector):
    area = page.find_element(By.CSS_SELECTOR, f"{selector} .time-area")
    area.send_keys(Keys.HOME)
    for _ in range(3):
        area.send_keys(Keys.PAGE_DOWN)
    said = text(page, f"{selector} [aria-live]")
    assert re.match(r"[\d.]+ s: .*\d", said), said
    area.send_keys(Keys.SHIFT + Keys.ARROW_RIGHT * 3 + Keys.NULL)
    begin, end = chosen(page)
    assert 0 < begin < end < LENGTH_S
    assert text(page, f"{selector} [aria-live]").startswith("Chosen: ")
    assert drawn(page) == folded(begin, end)
    area.send_keys(Keys.SHIFT + Keys.END + Keys.NULL)
    assert chosen(page)[1] == pytest.approx(LENGTH_S, abs=1)
    area.send_keys(Keys.ESCAPE)
    assert drawn(page) == folded()


def test_a_stage_chooses_its_time(page):
    page.execute_script("document.querySelectorAll('.time-stage')[1].click()")
    assert chosen(page) == (30, 60)
    assert drawn(page) == folded(30, 60)


def test_the_executor_is_one_for_all(page):
    Select(page.find_element(By.CSS_SELECTOR, "x-clock select")).select_by_value("2")
    assert drawn(page) == folded(executor="2")
    assert "mean of executors" not in text(page, "x-series")
    assert "JVM" in text(page, "x-series")
    page.execute_script("location.hash = '#executor='")


def test_zoomed_pictures_show_the_piece_alone(page, pages):
    show(page, pages["recorded"], "#from=10&to=20&times-zoom=1")
    drag(page, "x-series", 0.5, 0.75)
    assert chosen(page) == (pytest.approx(15, abs=0.2), pytest.approx(17.5, abs=0.2))


def test_the_cells_of_the_map_are_those_of_the_tables(page, pages):
    """What the keys read out, second by second, for all and by executor."""
    show(page, pages["recorded"], "#event=wall")
    area = page.find_element(By.CSS_SELECTOR, "x-heat .time-area")
    area.send_keys(Keys.HOME)
    area.send_keys(Keys.ARROW_RIGHT * 10)
    samples = [row for row in SAMPLES if row["event"] == "wall"]
    in_second = [row for row in samples if row["time_ns"] < START_NS + S]
    cell = [row for row in samples if 0.2 * S <= row["time_ns"] - START_NS < 0.22 * S]
    wanted = (sum(row["count"] for row in rows) for rows in (cell, in_second))
    assert text(page, "x-heat [aria-live]") == "0.2 s: {} samples in the cell, {} in its column".format(*wanted)
    page.find_element(By.XPATH, "//button[text()='A row for each executor']").click()
    settle(page)
    page.find_element(By.CSS_SELECTOR, "x-heat .time-area").send_keys(Keys.HOME)
    by_executor = [sum(row["count"] for row in in_second if row["executor_id"] == one) for one in ("1", "2")]
    assert text(page, "x-heat [aria-live]") == "0 s: 1: {}; 2: {}".format(*by_executor)


def test_lines_can_be_switched_off_and_say_their_values(page):
    key = "x-series .time-key"
    before = text(page, key)
    assert re.search(r"max [\d.]+", before)
    page.find_element(By.CSS_SELECTOR, "x-series .time-area").send_keys(Keys.HOME)
    assert "max" not in text(page, key)
    page.find_element(By.CSS_SELECTOR, key).click()
    assert page.find_element(By.CSS_SELECTOR, key).get_attribute("aria-pressed") == "false"


@pytest.mark.parametrize("name", ["recorded", "log"])
def test_a_table_stands_behind_each_picture_and_nothing_is_asked_for(browser, pages, name):
    requested(browser)
    browser.get_log("browser")
    show(browser, pages[name])
    assert [url for url in requested(browser) if not url.startswith(("file:", "data:", "about:"))] == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    pictures = browser.find_elements(By.CSS_SELECTOR, "#times x-series, #times x-states, #times x-heat")
    assert len(pictures) == (3 if name == "recorded" else 2)
    for picture in pictures:
        rows = browser.execute_script(
            "return arguments[0].nextElementSibling.querySelectorAll('tbody tr').length", picture
        )
        assert rows > 0
    if name == "log":
        assert "emberscope run" in text(browser, "#times")
        drag(browser, "x-series", 0.2, 0.4)
        assert chosen(browser)[0] > 0


def test_it_fits_a_phone(browser, pages):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        show(browser, pages["recorded"])
        wide = "return [...document.querySelectorAll('#times :is(x-series, x-states, x-heat, x-clock) *')]"
        wide += ".filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length"
        assert browser.execute_script(wide) == 0
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
