"""The timeline of tasks in a real browser: choosing, zooming and comparing change the flame graph as the tables say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.support.wait import WebDriverWait

from emberscope.profile.single_tasks import single_tasks
from emberscope.report.diagnosis import diagnose
from emberscope.report.page import report_page
from emberscope.tables.run import Run
from emberscope.tables.samples import SAMPLES
from emberscope.tables.stack_tree import StackTree
from tests.runs import START_MS, executor, run_of, stage, task, with_rows
from tests.web.browser import chromium, prefer, settle

pytestmark = pytest.mark.browser

EVIL = "<img src=x onerror=alert(1)>\u202e"


def recorded_run() -> Run:
    """Two executors of two cores, two stages of 40 tasks each, a sample each 100 ms of a task; executor 2 is lost."""
    rows, samples, tree = [], [], StackTree()
    for number in (4, 5):
        for i in range(40):
            run_ms = 9_000 if i == 7 else 400 + 10 * i
            launch = (number - 4) * 30_000 + 1_000 + (i // 4) * 1_000
            lane = str(1 + i % 2)
            rows.append(
                task(number, launch, run_ms, task_id=100 * number + i, task_index=i, executor_id=lane, host=f"h{lane}")
                | {"locality": "ANY" if i % 5 else "NODE_LOCAL", "input_bytes": 1_000 * run_ms}
                | ({"status": "failed", "error_class": EVIL} if i == 30 else {})
            )
            stack = tree.node([tree.frame("a.B.run"), tree.frame(f"a.Op{i % 3}.next")])
            samples += [
                {"event": "cpu", "count": 1, "stack": stack, "stage_id": number, "stage_attempt": 0}
                | {"task_id": 100 * number + i, "executor_id": lane, "role": "executor"}
                | {"time_ns": (START_MS + launch + at) * 1_000_000}
                for at in range(0, run_ms, 100)
            ]
    run = run_of(
        70_000,
        tasks=rows,
        stages=[stage(4, 1_000, 20_000, name=EVIL), stage(5, 31_000, 50_000)],
        executors=[executor("1", 2, 200), executor("2", 2, 300, 60_000) | {"removed_reason": "lost its node"}],
    )
    stacks, frames = tree.tables()
    for name, table in (("samples", SAMPLES.from_rows(samples)), ("stacks", stacks), ("frames", frames)):
        run = with_rows(run, name, table)
    return run


RUN = recorded_run()
MANY = run_of(
    tasks=[task(0, i, 1, task_id=i, status="failed" if i == 12_345 else "success") for i in range(30_000)],
    executors=[executor("1", 1)],
)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("tasks")
    logged = Run(RUN.path, RUN.application, {k: v for k, v in RUN.tables.items() if k != "samples"}, RUN.coverage)
    for name, run in {"recorded": RUN, "logged": logged, "many": MANY}.items():
        (folder / f"{name}.html").write_text(report_page(diagnose(run)), encoding="utf-8")
    return {path.stem: path for path in folder.iterdir()}


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        yield browser


def show(browser: webdriver.Chrome, page: Path, fragment: str = "") -> None:
    browser.get("about:blank")
    browser.get(page.as_uri() + fragment)
    ready = "return [...document.querySelectorAll('x-tasks, x-flame')].every((e) => e.dataset.state === 'ready')"
    WebDriverWait(browser, 30).until(lambda b: b.execute_script(ready))
    settle(browser)


def ask(browser: webdriver.Chrome, script: str, *values: Any) -> Any:
    return browser.execute_script(script, *values)


def press(browser: webdriver.Chrome, name: str) -> None:
    ask(browser, f"document.querySelector('x-tasks [data-do={name}]').click()")
    settle(browser)


def state(browser: webdriver.Chrome) -> dict[str, str]:
    return ask(browser, "return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")


def text(browser: webdriver.Chrome, selector: str) -> str:
    return ask(browser, "return document.querySelector(arguments[0]).textContent", selector)


def flame_samples(browser: webdriver.Chrome) -> int:
    return int(re.match(r"All ([\d,]+) sample", text(browser, ".flame-path"))[1].replace(",", ""))


def sampled(**wanted: Any) -> int:
    """The weight of the samples that have these values, from the tables."""
    rows = RUN.tables["samples"].to_pylist()
    return sum(row["count"] for row in rows if all(row[name] == value for name, value in wanted.items()))


def zoomed(browser: webdriver.Chrome) -> tuple[float, float]:
    """The drawn piece of time in seconds, when it is written into the address."""
    WebDriverWait(browser, 5).until(lambda b: "tasks-view" in state(b))
    begin, end = state(browser)["tasks-view"].split("-")
    return float(begin), float(end)


def place_of(browser: webdriver.Chrome, ms: float) -> float:
    """Where a time stands in the view, in CSS pixels; the whole run is drawn."""
    width = ask(browser, "return document.querySelector('.tasks-view').clientWidth")
    return 150 + ms / 70_000 * (width - 150)


def click_at(browser: webdriver.Chrome, x: float, y: float, *, to: float | None = None) -> None:
    view = browser.find_element("css selector", ".tasks-view")
    ask(browser, "arguments[0].scrollIntoView({block: 'center'})", view)
    size = view.size
    chain = ActionChains(browser).move_to_element_with_offset(view, x - size["width"] / 2, y - size["height"] / 2)
    chain = chain.click() if to is None else chain.click_and_hold().move_by_offset(to - x, 0).release()
    chain.perform()
    settle(browser)


def test_choosing_a_stage_is_shared_with_the_flame_graph(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    show(browser, pages["recorded"])
    assert flame_samples(browser) == sampled()
    for number in (4, 5):
        ask(
            browser,
            "const s = document.querySelector('x-tasks select'); s.value = arguments[0];"
            "s.dispatchEvent(new Event('change'))",
            str(number),
        )
        settle(browser)
        assert state(browser) == {"stage": str(number)}
        assert flame_samples(browser) == sampled(stage_id=number)
        assert text(browser, ".tasks-stage h3").startswith(f"Stage {number}")
        words = text(browser, ".tasks-words")
        assert "Run times of 39 tasks: from 400 ms to 9.0 s" in words
        assert "1 straggler beyond" in words
    ask(browser, "location.hash = '#stage=4'")
    settle(browser)
    assert text(browser, ".tasks-stage h3").startswith("Stage 4")
    assert ask(browser, "return document.querySelector('x-tasks select').value") == "4"


def test_slow_tasks_are_compared_with_the_median_ones_by_one_click(
    browser: webdriver.Chrome, pages: dict[str, Path]
) -> None:
    show(browser, pages["recorded"], "#stage=5&executor=1&search=Op")
    press(browser, "versus")
    assert state(browser) == {"stage": "5", "task": "slow", "versus": "task=median", "search": "Op"}
    compared = text(browser, ".flame-compared")
    told = [int(number) for number in re.findall(r"\((\d+) samples\)", compared)]
    chosen = [one for one in single_tasks(RUN.tables["tasks"]) if one.stage_id == 5]
    expected = [
        sum(sampled(task_id=one.task_id) for one in chosen if one.group == group) for group in ("slow", "median")
    ]
    assert told == expected
    assert expected[0] > expected[1] > 0
    top = ask(browser, "return document.querySelector('#flame').getBoundingClientRect().top")
    assert 0 <= top < 200


def test_zooming_by_drag_keys_and_buttons(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    show(browser, pages["recorded"])
    click_at(browser, place_of(browser, 20_000), 30, to=place_of(browser, 40_000))
    begin, end = zoomed(browser)
    assert begin == pytest.approx(20, abs=0.2)
    assert end == pytest.approx(40, abs=0.2)
    press(browser, "slice")
    # The flame graph takes whole steps of 50 ms, and tells so; the samples stand 100 ms apart.
    step = float(re.search(r"whole steps of ([\d.]+) s", text(browser, ".flame-slice"))[1])
    low, high = round(begin // step * step * 1e9), round(-(-end // step) * step * 1e9)
    times = [t - START_MS * 1_000_000 for t in RUN.tables["samples"]["time_ns"].to_pylist()]
    assert flame_samples(browser) == sum(low <= t < high for t in times)
    assert 0 < flame_samples(browser) < sampled()

    view = browser.find_element("css selector", ".tasks-view")
    ask(browser, "arguments[0].focus()", view)
    view.send_keys("+")
    WebDriverWait(browser, 5).until(lambda b: zoomed(b) != (begin, end))
    inner = zoomed(browser)
    assert inner[1] - inner[0] == pytest.approx((end - begin) / 1.6, abs=0.01)
    view.send_keys(Keys.SHIFT + Keys.ARROW_RIGHT)
    WebDriverWait(browser, 5).until(lambda b: zoomed(b) != inner)
    assert zoomed(browser)[0] == pytest.approx(inner[0] + 0.2 * (inner[1] - inner[0]), abs=0.01)
    press(browser, "whole")
    WebDriverWait(browser, 5).until(lambda b: "tasks-view" not in state(b))
    assert ask(browser, "return document.querySelector('x-tasks [data-do=out]').disabled") is True


def test_a_click_selects_a_task_and_the_flame_graph_follows(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    show(browser, pages["recorded"])
    # Task 407 is the only one of executor 2 that still runs 6 s after its launch.
    for y in (24, 33, 42, 51, 60, 69, 78, 87):
        click_at(browser, place_of(browser, 8_500), y)
        if state(browser).get("task") == "407":
            break
    assert {key: state(browser)[key] for key in ("tasks-at", "stage", "task")} == {
        "tasks-at": "407",
        "stage": "4",
        "task": "407",
    }
    assert flame_samples(browser) == sampled(task_id=407) == 90
    words = text(browser, ".tasks-detail")
    for figure in ("Task 407 of stage 4", "executor 2 on a", "9.0 s, from 2.0 s to 11.0 s", "read 8.6 MiB"):
        assert figure in words
    show(browser, pages["recorded"], "#tasks-at=430")
    assert f"failed: {EVIL.replace(chr(0x202E), '[U+202E]')}" in text(browser, ".tasks-detail")
    assert ask(browser, "return document.querySelectorAll('#tasks img').length") == 0


def test_the_keyboard_reaches_every_task_of_a_row(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    show(browser, pages["recorded"])
    view = browser.find_element("css selector", ".tasks-view")
    ask(browser, "arguments[0].focus()", view)
    seen = []
    for _ in range(4):
        view.send_keys(Keys.ARROW_RIGHT)
        settle(browser)
        seen.append(re.match(r"Task (\d+) of stage 4", text(browser, "x-tasks [role=status]"))[1])
    assert seen == sorted(set(seen))
    view.send_keys(Keys.ARROW_LEFT)
    settle(browser)
    assert text(browser, "x-tasks [role=status]").startswith(f"Task {seen[-2]} ")
    view.send_keys(Keys.ARROW_DOWN)
    settle(browser)
    below = re.match(r"Task (\d+)", text(browser, "x-tasks [role=status]"))[1]
    assert below not in seen
    view.send_keys(Keys.ENTER)
    settle(browser)
    assert state(browser)["tasks-at"] == below
    view.send_keys(Keys.ESCAPE)
    settle(browser)
    assert "tasks-at" not in state(browser)
    assert ask(browser, "return document.querySelector('.tasks-detail').hidden") is True


def test_one_failed_task_of_thirty_thousand_is_seen(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    show(browser, pages["many"])
    found = ask(
        browser,
        """
        const canvas = document.querySelector('.tasks-view canvas');
        const probe = document.querySelector('x-tasks').appendChild(document.createElement('i'));
        probe.style.color = 'var(--task-bad)';
        const [r, g, b] = getComputedStyle(probe).color.match(/\\d+/g).map(Number);
        const { data, width } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        const columns = new Set();
        for (let i = 0; i < data.length; i += 4) {
          if (data[i] === r && data[i + 1] === g && data[i + 2] === b) columns.add((i / 4) % width);
        }
        return [...columns];
        """,
    )
    width = ask(browser, "return document.querySelector('.tasks-view').clientWidth")
    assert found == [int(150 + 12_345 / 100_000 * (width - 150))]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_way_of_colouring_draws_and_says_what_it_means(
    browser: webdriver.Chrome, pages: dict[str, Path], scheme: str
) -> None:
    prefer(browser, scheme)
    browser.get_log("browser")
    pictures = set()
    for by, word in (("stage", "A colour is a stage"), ("time", "CPU"), ("status", "failed"), ("locality", "ANY")):
        show(browser, pages["recorded"], f"#tasks-by={by}")
        assert word in text(browser, ".tasks-legend")
        pictures.add(ask(browser, "return document.querySelector('.tasks-view canvas').toDataURL()"))
    assert len(pictures) == 4
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    prefer(browser, "light")


def test_without_a_recording_it_says_what_is_missing(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    show(browser, pages["logged"], "#stage=4")
    assert ask(browser, "return document.querySelector('x-tasks [data-do=versus]').disabled") is True
    assert "was not recorded" in text(browser, ".tasks-why")
    assert ask(browser, "return document.querySelector('x-tasks [data-do=slice]').hidden") is True


def test_it_fits_a_phone(browser: webdriver.Chrome, pages: dict[str, Path]) -> None:
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    show(browser, pages["recorded"], "#tasks-at=407")
    assert ask(browser, "return document.querySelector('#tasks').getBoundingClientRect().right") <= 390
    wide = ask(
        browser,
        "return [...document.querySelectorAll('#tasks *')].filter((e) => !e.closest('.scroll')"
        " && e.getBoundingClientRect().right > 391).map((e) => e.className || e.tagName)",
    )
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide == []
