"""The findings in the page: nested, folded, linked to what they are about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec import structs
from selenium.webdriver.common.by import By

from emberscope.report.bars import Anchors
from emberscope.report.diagnosis import Diagnosed
from emberscope.report.finding_links import Link, frame_links, links_of
from emberscope.report.page import report_page
from emberscope.rules.base import Where
from tests.report.told import of, three
from tests.web.browser import chromium, open_page, settle


@pytest.fixture(scope="module")
def item() -> Diagnosed:
    """Three findings of a log, the third a consequence of the second, and twelve hints."""
    item = three()
    last = item.diagnosis.findings[-1]
    hint = structs.replace(
        last, severity="info", caused_by=(), finding=structs.replace(last.finding, title="A mere hint")
    )
    return of(item, *item.diagnosis.findings, *[hint] * 12)


@pytest.fixture(scope="module")
def section(item: Diagnosed) -> str:
    found = re.search(r'<section id="findings".*?</section>', report_page(item), re.DOTALL)
    assert found is not None
    return found[0]


def test_every_finding_has_its_anchor_once(section: str) -> None:
    assert re.findall(r'id="finding-(\d+)"', section) == [str(number) for number in range(1, 16)]


def test_what_follows_stands_closed_in_its_cause(section: str) -> None:
    article = section[section.index('id="finding-2"') : section.index('id="finding-4"')]
    inner = article[article.index('id="finding-3"') :]
    assert re.match(r'id="finding-2">\s*<details open>', article)
    assert re.match(r'id="finding-3">\s*<details>', inner)
    assert 'Follows from <a href="#finding-2">finding 2</a>' in inner


def test_hints_are_folded_together(section: str) -> None:
    hints = section[section.index('class="hints"') :]
    assert hints.count("A mere hint") == 12
    assert "<summary>12 hints, each worth less" in hints
    assert "A mere hint" not in section[: section.index('class="hints"')]


def test_settings_stand_once_with_a_button_that_copies(section: str) -> None:
    (patch,) = re.findall(r'<pre class="patch" id="patch-text".*?</pre>', section, re.DOTALL)
    assert "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes=83m" in patch
    assert '<x-copy data-of="patch-text">' in section


def test_links_lead_to_stage_execution_operator_and_flame_graph(item: Diagnosed) -> None:
    finding = item.diagnosis.findings[1]
    anchors = Anchors(item.diagnosis.findings, {(4, 0)}, {0}, recorded=True)
    assert links_of(2, finding, anchors, {2: "#plan-0-7"}) == (
        Link("stage 4", "stage-4-0"),
        Link("SQL execution 0", "sql-0"),
        Link("the operator in its plan", "plan-0-7"),
        Link("flame graph of stage 4", "stage=4"),
    )
    assert links_of(3, finding, Anchors((), set(), set(), recorded=False), {}) == ()
    driver = structs.replace(finding, finding=structs.replace(finding.finding, where=Where(executor="driver")))
    assert links_of(3, driver, anchors, {}) == (Link("flame graph of the driver", "executor=driver"),)


def test_frames_of_an_evidence_lead_into_the_flame_graph_of_its_stage(item: Diagnosed) -> None:
    finding = item.diagnosis.findings[1]
    first, *rest = finding.finding.evidence
    shown = structs.replace(first, frames=("java.lang.Thread.run", "app.Job.parse", "java.util.regex.Pattern.compile"))
    finding = structs.replace(finding, finding=structs.replace(finding.finding, evidence=(shown, *rest)))
    recorded = Anchors((finding,), set(), set(), recorded=True)
    assert [(link.words, link.fragment) for link in frame_links(finding, recorded)[0]] == [
        ("java.util.regex.Pattern.compile", r"stage=4&search=^java\.util\.regex\.Pattern\.compile$"),
        ("app.Job.parse", r"stage=4&search=^app\.Job\.parse$"),
        ("java.lang.Thread.run", r"stage=4&search=^java\.lang\.Thread\.run$"),
    ]
    assert frame_links(finding, Anchors((finding,), set(), set(), recorded=False)) == {}
    assert 'class="frames"' not in report_page(of(item, finding))  # nothing was recorded: no flame graph to lead to


def test_a_link_to_frames_is_a_state_that_the_browser_reads_as_it_was_meant() -> None:
    link = Link("f", "stage=7&search=^a\\.b\\+c$")
    assert link.href == "#stage=7&search=%5Ea%5C.b%5C%2Bc%24"


@pytest.mark.browser
def test_a_link_to_a_folded_finding_opens_it_and_its_settings_are_copied(item: Diagnosed, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_page(item))
    with chromium() as browser:
        open_page(browser, file, "#finding-9")
        assert browser.find_element(By.CSS_SELECTOR, "#finding-9 .evidence").is_displayed()
        assert not browser.find_element(By.CSS_SELECTOR, "#finding-10 .evidence").is_displayed()
        browser.execute_script("location.hash = '#finding-3'")
        settle(browser)
        assert browser.find_element(By.CSS_SELECTOR, "#finding-3 .evidence").is_displayed()
        button = browser.find_element(By.CSS_SELECTOR, "x-copy button")
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", button)
        button.click()
        settle(browser)
        assert button.text == "Copied"
