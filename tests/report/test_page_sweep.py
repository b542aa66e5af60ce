"""The page of each event log and recording among the test data, one after the other in one browser: nothing fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

from emberscope.errors import EmberscopeError
from emberscope.report.diagnosis import diagnose
from emberscope.report.page import report_page
from emberscope.sources.load import load
from emberscope.tables.run import Run
from tests.web.browser import DRAWN, chromium, open_page, requested, settle

pytestmark = pytest.mark.browser

DATA = Path(__file__).parents[1] / "data"
LEAST_FILES = 25


def runs() -> Iterator[tuple[str, Run]]:
    """Whatever among the test data can be read, with its name."""
    for path in sorted(DATA.rglob("*")):
        rolling = path.name.startswith("eventlog_v2_")
        if rolling or (path.is_file() and not path.parent.name.startswith("eventlog_v2_")):
            try:
                yield str(path.relative_to(DATA)), load(str(path))
            except EmberscopeError:
                continue


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        yield browser


def test_no_page_fails_says_nonsense_or_asks_for_anything(browser: webdriver.Chrome, tmp_path: Path) -> None:
    file, opened, drawn = tmp_path / "report.html", 0, 0
    browser.get("about:blank")
    requested(browser), browser.get_log("browser")
    for name, run in runs():
        file.write_bytes(report_page(diagnose(run)).encode("utf-8"))
        open_page(browser, file)
        browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
        settle(browser)
        states = [one.get_attribute("data-state") for one in browser.find_elements(By.CSS_SELECTOR, DRAWN)]
        assert set(states) <= {"ready"}, name
        assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == [], name
        asked = [url for url in requested(browser) if not url.startswith(("file:", "data:", "blob:", "about:"))]
        assert asked == [], name
        assert browser.execute_script("return document.documentElement.scrollWidth <= innerWidth"), name
        words: str = browser.execute_script("return document.querySelector('main').innerText")
        assert re.findall(r"(?<![\w.])(?:nan|NaN|undefined|Infinity|\[object \w+\])(?![\w.])", words) == [], name
        assert len(words) > 200, name
        opened, drawn = opened + 1, drawn + len(states)
    assert opened >= LEAST_FILES
    assert drawn > 2 * LEAST_FILES
