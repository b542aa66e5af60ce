"""The report in a real browser: for eyes, for keyboards, for screen readers, on paper, and with any names in it."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from emberscope.report.diagnosis import diagnose
from emberscope.report.page import report_page
from emberscope.report.visible import visible
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Run
from tests.report.test_hotspots import recorded
from tests.runs import executor, job, run_of, spark_wrote, stage, task
from tests.web.browser import DRAWN, chromium, open_page, prefer, requested, settle

pytestmark = pytest.mark.browser

AXE = Path(__file__).parents[1] / "web" / "node_modules" / "axe-core" / "axe.min.js"
ACTS = "</script><script>window.harmed=1</script><img src=x onerror=window.harmed=1>\"'`&amp;{{7*7}}"
SIGNS = "\u202eRLO \u2066\x01\x1b[31m\x7f\x85 שלום مرحبا"
EVIL = f"{ACTS} {SIGNS} " + "x" * 10_000
HALF = "half \ud800 pair"


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What Spark logged of a job with findings, with samples."""
    logged = spark_wrote("skew_spill_python")
    assert logged.start_ns is not None
    task_stack = ["java.lang.Thread.run", "org.example.Hot.spot"]
    in_task = {"stage_id": 4, "sql_execution_id": 0, "executor_id": "1", "role": "executor"}
    samples = [
        {"event": "cpu", "count": 70, "stack": task_stack, **in_task},
        {"event": "cpu", "count": 30, "stack": ["java.lang.Thread.run", "org.example.Main.main"]},
        {"event": "alloc", "count": 3, "value": 5 << 20, "stack": task_stack, "object_class": "byte[]"},
    ]
    samples = [row | {"time_ns": logged.start_ns + (i + 1) * 1_000_000_000} for i, row in enumerate(samples)]
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(report_page(diagnose(recorded(samples, logged))), encoding="utf-8")
    return path


def evil_run() -> Run:
    run = run_of(
        tasks=[task(0, 0, 30_000 if i == 0 else 100, task_id=i, host=EVIL) for i in range(5)],
        stages=[stage(0, 0, 30_000, name=EVIL, description=EVIL, sql_execution_id=1)],
        jobs=[job(0, 0, 30_000, job_group=EVIL, description=EVIL, sql_execution_id=1)],
        sql_executions=[
            {"sql_execution_id": 1, "description": EVIL, "details": EVIL, "physical_plan": EVIL, "status": "failed"}
            | {"error_message": EVIL, "started_ms": 0, "ended_ms": 30_000}
        ],
        plan_nodes=[
            {"sql_execution_id": 1, "node_id": 0, "name": EVIL, "detail": EVIL, "stage_ids": [0]},
            {"sql_execution_id": 1, "node_id": 1, "parent_node_id": 0, "name": ACTS, "detail": EVIL, "stage_ids": [0]},
        ],
        executors=[executor("1", 2) | {"host": EVIL, "removed_reason": EVIL}],
        conf={"spark.evil": EVIL, EVIL[:300]: "1"},
        coverage=Coverage((Note("cut", EVIL, EVIL),)),
    )
    run = recorded(
        [
            {"event": "cpu", "count": 7, "stack": [EVIL, "org.example.Hot.spot"], "stage_id": 0, "thread_name": EVIL},
            {"event": "live", "count": 7, "value": 7, "stack": [EVIL], "object_class": EVIL},
        ],
        run,
    )
    application = replace(run.application, app_name=HALF + EVIL, user=HALF + EVIL, master=HALF, java_version=HALF)
    return replace(run, application=application)


def width(browser: webdriver.Chrome, columns: int, rows: int) -> None:
    metrics = {"width": columns, "height": rows, "deviceScaleFactor": 1, "mobile": columns < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


@pytest.fixture(autouse=True)
def _usual_size(browser: webdriver.Chrome) -> Iterator[None]:
    width(browser, 1280, 800)
    prefer(browser, "light")
    yield
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_answer_is_seen_without_scrolling(browser: webdriver.Chrome, real: Path) -> None:
    open_page(browser, real)
    for query in (".outcome", "#time .bar", ".parts", ".saves", ".seen"):
        assert browser.find_element(By.CSS_SELECTOR, query).rect["y"] > 0
        box = browser.find_element(By.CSS_SELECTOR, query).rect
        assert box["y"] + box["height"] <= 800, query


@pytest.mark.parametrize("columns", [1280, 390])
def test_nothing_is_wider_than_the_screen(browser: webdriver.Chrome, real: Path, columns: int) -> None:
    width(browser, columns, 800)
    open_page(browser, real)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= columns


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("columns", [1280, 390])
def test_axe_finds_no_fault(browser: webdriver.Chrome, real: Path, scheme: str, columns: int) -> None:
    if not AXE.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)("needs Node and `npm ci --prefix tests/web`")
    width(browser, columns, 800)
    prefer(browser, scheme)
    open_page(browser, real, "#stage=4&search=Hot&versus=stage%3D" if columns == 1280 else "")
    drawn = browser.find_elements(By.CSS_SELECTOR, DRAWN)
    assert [one.get_attribute("data-state") for one in drawn] == ["ready"] * 5
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = browser.execute_async_script(
        "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations))"
    )
    assert {f"{one['id']}: {node['html'][:200]}" for one in found for node in one["nodes"]} == set()


def test_the_keyboard_reaches_everything(browser: webdriver.Chrome, real: Path) -> None:
    """Everything that a mouse can use gets the focus by Tab alone, in the order of the page, and shows it."""
    open_page(browser, real)
    wanted = browser.execute_script(
        """
        window.seen = []; window.unmarked = [];
        document.addEventListener('focusin', (event) => {
          window.seen.push(event.target);
          const style = getComputedStyle(event.target);
          if (style.outlineStyle === 'none') window.unmarked.push(event.target.outerHTML.slice(0, 80));
        });
        window.wanted = [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
          .filter((one) => one.tabIndex >= 0 && !one.disabled && one.checkVisibility());
        return window.wanted.length;
        """
    )
    assert wanted > 40
    ActionChains(browser).send_keys(*[Keys.TAB] * (wanted + 5)).perform()
    missed = browser.execute_script(
        "return wanted.filter((one) => !seen.includes(one)).map((one) => one.outerHTML.slice(0, 80))"
    )
    assert missed == []
    assert browser.execute_script("return unmarked") == []


def test_without_scripts_all_but_the_pictures_is_there(browser: webdriver.Chrome, real: Path) -> None:
    """And in the place of each picture stands what would be drawn there."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get("about:blank")
        browser.get(real.as_uri())
        # Scripts of the driver run all the same.
        assert browser.find_elements(By.CSS_SELECTOR, "[data-state], canvas") == []
        for part, words in {
            "time": "most of it stage",
            "findings": "What to do",
            "cores": "garbage collection",
            "sql": "SQL execution",
            "stages": "Median",
            "hotspots": "org.example.Hot.spot",
            "executors": "Peak heap",
            "coverage": "Recorder",
        }.items():
            assert words in browser.find_element(By.ID, part).text, part
        for picture in browser.find_elements(By.CSS_SELECTOR, DRAWN):
            assert "by a script in this page, which does not run here" in picture.text
        assert browser.find_element(By.CSS_SELECTOR, "#sql svg").is_displayed()
        rows = browser.find_elements(By.CSS_SELECTOR, "#stages tbody tr")
        assert rows
        assert all(row.is_displayed() for row in rows)
        browser.find_element(By.CSS_SELECTOR, "#times summary").click()
        assert browser.find_element(By.CSS_SELECTOR, "#times table").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_links_and_details_open_by_keyboard(browser: webdriver.Chrome, real: Path) -> None:
    open_page(browser, real)
    ActionChains(browser).send_keys(Keys.TAB, Keys.ENTER).perform()
    settle(browser)
    assert browser.current_url.endswith("#time")
    summary = browser.find_element(By.CSS_SELECTOR, "#settings summary")
    browser.execute_script("arguments[0].focus()", summary)
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    assert browser.find_element(By.CSS_SELECTOR, "#settings table").is_displayed()


def test_a_hot_method_leads_to_itself_in_the_flame_graph(browser: webdriver.Chrome, real: Path) -> None:
    open_page(browser, real)
    browser.find_element(By.LINK_TEXT, "org.example.Hot.spot").click()
    settle(browser)
    flame = browser.find_element(By.TAG_NAME, "x-flame")
    assert "70.0 %" in flame.find_element(By.CLASS_NAME, "flame-found").text
    assert 0 <= browser.execute_script("return arguments[0].getBoundingClientRect().top", flame) < 500


def test_names_are_shown_as_text_and_harm_nothing(browser: webdriver.Chrome, tmp_path: Path) -> None:
    page = report_page(diagnose(evil_run()))
    file = tmp_path / "evil.html"
    file.write_bytes(page.encode("utf-8"))  # strictly: what UTF-8 cannot hold would raise
    browser.get("about:blank")
    requested(browser), browser.get_log("browser")
    open_page(browser, file)
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    settle(browser)
    assert browser.execute_script("return [window.harmed, document.images.length]") == [None, 0]
    assert [url for url in requested(browser) if not url.startswith(("file:", "data:", "blob:", "about:"))] == []
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    title = browser.find_element(By.TAG_NAME, "h1").text
    assert title.startswith(f"half \ufffd pair{ACTS} [U+202E]RLO [U+2066]␁␛[31m␡\ufffd שלום")
    assert len(title) < 300
    body: str = browser.execute_script("return document.body.innerText")
    for sign in ("\u202e", "\u2066", "\x01", "\x1b", "\x85"):
        assert sign not in body
    assert visible(ACTS) in body
    sections = [one.get_attribute("id") for one in browser.find_elements(By.CSS_SELECTOR, "main > section")]
    assert sections == [
        one.get_attribute("href").partition("#")[2] for one in browser.find_elements(By.CSS_SELECTOR, "nav a")
    ]
    facts = json.loads(browser.find_element(By.ID, "emberscope-run").get_attribute("textContent"))
    assert facts["executors"][0]["host"].startswith(EVIL[:300])
    assert facts["app"]["user"] == HALF + EVIL
    assert browser.find_element(By.TAG_NAME, "x-flame").get_attribute("data-state") == "ready"
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 1280
    assert len(page) < 2_000_000


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_theme_can_be_given(browser: webdriver.Chrome, tmp_path: Path, theme: str) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_page(diagnose(spark_wrote("none")), theme=theme), encoding="utf-8")
    prefer(browser, "dark" if theme == "light" else "light")
    browser.get(file.as_uri())
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") == (theme == "light")
    button = browser.find_element(By.CSS_SELECTOR, "x-theme button")
    button.click()
    assert browser.current_url.endswith(f"#theme={'dark' if theme == 'light' else 'light'}")
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") != ground
    button.click()
    assert browser.current_url.endswith("#")


def test_it_prints_on_paper(browser: webdriver.Chrome, real: Path) -> None:
    """All of it, in light colours whatever the screen has, and no wider than the paper."""
    prefer(browser, "dark")
    open_page(browser, real)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    width(browser, 720, 1000)
    settle(browser)
    assert browser.execute_script("return getComputedStyle(document.body).color") == "rgb(28, 33, 38)"
    assert not browser.find_element(By.TAG_NAME, "nav").is_displayed()
    wide = browser.execute_script(
        "return [...document.querySelectorAll('main *:not(.bar *)')]"
        ".filter((one) => one.getBoundingClientRect().right > 720).map((one) => one.outerHTML.slice(0, 80)).slice(0, 9)"
    )
    assert wide == []
    paper = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    assert base64.b64decode(paper["data"]).startswith(b"%PDF")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
