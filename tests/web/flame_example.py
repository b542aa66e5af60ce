"""A page with two stages that differ in known ways, and what tests do with it."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

from emberscope.profile.flame_data import flame_data
from emberscope.report.flame_page import flame_page
from tests.profile.strategies import recording
from tests.web.browser import settle

RUN, TASK, SAME = "java.lang.Thread.run", "org.apache.spark.executor.Executor$TaskRunner.run", "com.acme.Same.go"
HERE, THERE, RARE = "com.acme.Here.go", "com.acme.There.go", "com.acme.Rare.go"
ODD = 'odd "name" </script>; with all & 名前'
NATIVE = "libc_read"

STACKS: dict[int, dict[tuple[str, ...], int]] = {
    7: {
        (RUN, TASK, SAME): 500,
        (RUN, TASK, HERE, SAME): 300,
        (RUN, TASK, HERE, HERE, NATIVE): 100,
        (RUN, TASK, THERE): 96,
        (RUN, TASK, RARE): 3,
        (RUN, ODD): 1,
    },
    8: {(RUN, TASK, SAME): 260, (RUN, TASK, THERE): 230, (RUN, TASK, RARE): 1, (RUN, ODD): 9},
}
"""Samples by stage and stack. In shares stage 7 has half of `SAME` alone, stage 8 a little more: within noise."""


def _samples() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for stage, stacks in STACKS.items():
        for stack, count in stacks.items():
            rows.append({"stage_id": stage, "stack": list(stack), "event": "cpu", "count": count, "executor_id": "1"})
    rows.append({"stage_id": 7, "stack": [RUN, HERE], "event": "alloc", "count": 1, "value": 2**53 - 1})
    return rows


RECORDED = recording(_samples())
FLAME = flame_data(RECORDED.samples, RECORDED.stacks, RECORDED.frames)


def write_page(folder: Path) -> Path:
    path = folder / "flame.html"
    path.write_text(flame_page(FLAME, title="Two stages: 7/8"), encoding="utf-8")
    return path


def compared(more: str = "") -> str:
    """The address of stage 7 against stage 8."""
    return f"#stage=7&versus={quote('stage=8')}{more}"


def text(browser: webdriver.Chrome, selector: str) -> str:
    settle(browser)
    return browser.find_element(By.CSS_SELECTOR, selector).get_attribute("textContent") or ""


def fragment(browser: webdriver.Chrome) -> str:
    return str(browser.execute_script("return decodeURIComponent(location.hash)"))


def keys(browser: webdriver.Chrome, *pressed: str) -> None:
    """Presses keys one after the other, wherever the focus is."""
    for key in pressed:
        ActionChains(browser).send_keys(key).perform()
    settle(browser)


def focus_graph(browser: webdriver.Chrome) -> None:
    browser.execute_script("document.querySelector('.flame-main').focus()")


def amount(words: str) -> int:
    found = re.search(r"([\d,]+) samples?", words)
    assert found is not None, words
    return int(found[1].replace(",", ""))
