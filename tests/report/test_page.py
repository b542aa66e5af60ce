from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from selenium.webdriver.common.by import By

from emberscope.report.diagnosis import diagnose
from emberscope.report.page import report_page
from emberscope.tables.coverage import Coverage, Note
from emberscope.tables.run import Application, Run
from emberscope.tables.samples import SAMPLES
from emberscope.tables.spans import SPANS
from emberscope.tables.stack_tree import StackTree
from tests.runs import executor, job, run_of, spark_wrote, stage, task, with_rows, without
from tests.web.browser import chromium, open_page, prefer, requested, settle

EVIL = "<script>alert(1)</script>\" onload='x"


class Links(HTMLParser):
    """Ids, local links and addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.sources: list[str] = []
        self.styled = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name == "href" and value:
                self.targets.append(value)
            if name == "src" and value:
                self.sources.append(value)
            self.styled += name == "style"


@pytest.fixture(scope="module")
def page() -> str:
    return report_page(diagnose(spark_wrote("skew_spill_python")))


def test_all_links_lead_to_somewhere_in_the_page(page: str) -> None:
    no_dead_links(page)


def test_the_page_of_a_recording_alone_has_no_dead_links() -> None:
    run = without(recorded(), "tasks", "stages", "jobs", "sql_executions", "executors", "conf")
    page = report_page(diagnose(replace(run, application=Application())))
    no_dead_links(page)
    assert "The hottest methods" in page
    assert 'href="#sql"' not in page


def no_dead_links(page: str) -> None:
    links = Links(page)
    assert links.sources == []
    assert {target for target in links.targets if unquote(target.removeprefix("#")) not in links.ids} == set()
    assert len(links.ids) == len(set(links.ids))


def test_the_page_loads_nothing_and_has_a_strict_policy(page: str) -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert "default-src &#39;none&#39;" in policy
    assert "unsafe" not in policy
    assert Links(page).styled == 0


def test_the_first_screen_needs_no_script(page: str) -> None:
    before, _, _ = page.partition("<script")
    assert "Where the time went" in before
    assert "is skewed: one task ran" in before
    assert "--conf spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes=83m" in before
    assert "waited for Python: weigh()" in before


@pytest.mark.parametrize("place", [0, 1])
def test_the_bars_are_as_wide_as_the_whole(page: str, place: int) -> None:
    bar = re.findall(r'<svg class="bar".*?</ol>', page, flags=re.S)[place]
    widths = [float(width) for width in re.findall(r'<svg x="[\d.]+%" width="([\d.]+)%"', bar)]
    assert sum(widths) == pytest.approx(100, abs=0.1)
    written = re.findall(r"<b>(<?[\d.]+) %</b>", bar)
    assert len(written) >= len(widths)
    assert sum(float(number) for number in written if number[0] != "<") == pytest.approx(100, abs=0.05 * len(written))


def test_findings_stages_executors_and_settings_are_there(page: str) -> None:
    assert "(<code>@pandas_udf</code>)" in page
    for words in (
        "Follows from",
        "SortMergeJoin by key",
        "spark.memory.fraction",
        "Nothing of what was recorded is known to be lost.",
        "Not recorded.",
    ):
        assert words in page


def test_text_from_a_log_is_only_text() -> None:
    run = run_of(
        tasks=[task(0, 0, 30_000 if i == 0 else 100, task_id=i, host=EVIL) for i in range(5)],
        stages=[stage(0, 0, 30_000, name=EVIL, description=EVIL)],
        conf={"spark.evil": EVIL},
    )
    run = replace(
        run,
        application=replace(run.application, app_name=EVIL, user=EVIL),
        coverage=Coverage((Note("cut", EVIL, EVIL),)),
    )
    shown = report_page(diagnose(run))
    assert "<script>alert" not in shown
    assert shown.count("&lt;script&gt;alert(1)") >= 6


def test_a_run_of_which_nothing_is_known_still_has_a_page() -> None:
    run = replace(run_of(None), tables={})
    shown = report_page(diagnose(run))
    for words in (
        "Not known: nothing that was read",
        "No task is known",
        "Not recorded.",
        "Not evaluated: A1, A2, ",
        " need a Spark event log",
        "this is no all-clear",
    ):
        assert words in shown


def test_a_page_of_very_many_stages_stays_small_and_says_what_it_leaves_out() -> None:
    many = range(1_500)
    run = run_of(
        150_000,
        tasks=[task(i, i * 100, 90, task_id=i) for i in many],
        stages=[stage(i, i * 100, i * 100 + 95, job_id=i) for i in many],
        jobs=[job(i, i * 100, i * 100 + 98, sql_execution_id=i) for i in many],
        sql_executions=[
            {"sql_execution_id": i, "description": f"batch {i} {'x' * 5_000}", "status": "succeeded"}
            | {"started_ms": i * 100, "ended_ms": i * 100 + 99}
            for i in many
        ],
        executors=[executor("1", 2)],
    )
    shown = report_page(diagnose(run))
    assert "And 1,300 more stages with" in shown
    assert '"stages_left_out":1300' in shown
    assert '"sql_left_out":500' in shown
    assert "1,500 times" in shown
    assert len(shown) < 2_000_000


def recorded() -> Run:
    """What Spark logged, with samples of the skewed stage and of the driver."""
    run, tree = spark_wrote("skew_spill_python"), StackTree()
    task = tree.node([tree.frame("java.lang.Thread.run"), tree.frame("org.example.Hot.spot")])
    driver = tree.node([tree.frame("java.lang.Thread.run"), tree.frame("org.example.Main.main")])
    samples = SAMPLES.from_rows(
        [
            {"event": "cpu", "count": 70, "stack": task, "stage_id": 4, "sql_execution_id": 0, "executor_id": "1"},
            {"event": "cpu", "count": 30, "stack": driver, "executor_id": "driver"},
        ]
    )
    stacks, frames = tree.tables()
    return with_rows(with_rows(with_rows(run, "samples", samples), "stacks", stacks), "frames", frames)


def test_links_of_stages_lead_to_the_flame_graph_of_a_recorded_run() -> None:
    links = Links(report_page(diagnose(recorded())))
    assert "#stage=4" in links.targets
    assert "stage=4" in links.ids
    assert "#stage=8" not in links.targets


@pytest.mark.browser
def test_thread_cpu_stands_beside_the_samples_where_threads_were_measured() -> None:
    run = recorded()
    assert "calibrated by thread CPU time" not in report_page(diagnose(run))
    rows = run.tables["samples"].to_pylist()
    place = {name: rows[0][name] for name in ("role", "executor_id", "thread_id", "stage_id")} | {"stage_attempt": 0}
    spans = [
        {**place, "task_id": task_id, "start_ns": 0, "end_ns": 9, "cpu_start_ns": 0, "cpu_ns": cpu_ns}
        for task_id, cpu_ns in ((1, 2_500_000_000), (10**9, 1_500_000_000))
    ]
    samples = [{**row, "task_id": 1, "in_span": True} for row in rows]
    tables = {**run.tables, "spans": SPANS.from_rows(spans), "samples": SAMPLES.from_rows(samples)}
    page = report_page(diagnose(replace(run, tables=tables)))
    words = "calibrated by thread CPU time: 4.0 s, of it 1.5 s not seen: 1 task without a sample"
    assert f"<summary>CPU of the tasks, {words}</summary>" in page
    assert re.search(r"<td>4\.0 s</td>\s*<td>1\.5 s, 1 task</td>", page)


def test_opens_from_disk_in_a_real_browser_without_any_request(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_page(diagnose(recorded())))
    with chromium() as browser:
        browser.get("about:blank")
        requested(browser), browser.get_log("browser")  # what the browser did on its own account before
        open_page(browser, file)
        assert [url for url in requested(browser) if not url.startswith(("file:", "data:", "blob:", "about:"))] == []
        assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
        bar = browser.find_element(By.CSS_SELECTOR, "svg.bar")
        assert bar.rect["width"] > 1_000
        widths = [rect.rect["width"] for rect in bar.find_elements(By.TAG_NAME, "rect")]
        assert sum(widths) == pytest.approx(bar.rect["width"], abs=len(widths) + 1)
        assert bar.rect["y"] + bar.rect["height"] < 500
        assert browser.find_element(By.ID, "finding-1").rect["y"] < 700
        browser.find_element(By.CSS_SELECTOR, "#stage-4-0 a").click()
        settle(browser)
        assert "stage=4" in browser.current_url
        assert "70 samples" in browser.find_element(By.TAG_NAME, "x-flame").text
        flame = browser.find_element(By.TAG_NAME, "x-flame")
        top = browser.execute_script("return arguments[0].getBoundingClientRect().top", flame)
        assert 0 < top < 700


@pytest.mark.browser
def test_a_link_to_a_view_leads_to_the_flame_graph(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_page(diagnose(recorded())))
    with chromium() as browser:
        for fragment, led in (("#stage=4&search=Hot", True), ("#theme=dark", False), ("", False)):
            open_page(browser, file, fragment)
            top = browser.execute_script("return document.getElementById('flame').getBoundingClientRect().top")
            assert (top < 700) == led, fragment  # near the end of a page that is short


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_their_ground(scheme: str, page: str, tmp_path: Path) -> None:
    """At least 4.5 to 1, as WCAG 2 asks for text."""
    file = tmp_path / "report.html"
    file.write_text(page)
    with chromium() as browser:
        prefer(browser, scheme)
        browser.get(file.as_uri())
        contrasts = browser.execute_script(_CONTRASTS)
    assert len(contrasts) > 8
    assert {words: ratio for words, ratio in contrasts.items() if ratio < 4.5} == {}


_CONTRASTS = """
const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
const rgb = (colour) => {
  canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const light = ([r, g, b]) => {
  const f = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
};
const ground = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const colour = rgb(getComputedStyle(e).backgroundColor);
    if (colour[3] === 255) return colour;
  }
  return [255, 255, 255, 255];
};
const found = {};
for (const query of ['h1', 'nav a', '.outcome', '.parts a', '.parts span', '.parts small', '.severity', '.finding p',
                     '.evidence code', '.setting', '.basis', '.cause', 'details summary', 'th', 'td', '.quiet']) {
  const element = document.querySelector(query);
  if (!element) continue;
  const [a, b] = [light(rgb(getComputedStyle(element).color)), light(ground(element))];
  found[query] = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
return found;
"""
