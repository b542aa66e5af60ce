"""Two slices against each other: widths, colours, figures, and what is within noise."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from tests.web.browser import chromium, open_page, pixels, prefer
from tests.web.flame_example import (
    HERE,
    ODD,
    RARE,
    SAME,
    STACKS,
    THERE,
    compared,
    focus_graph,
    fragment,
    keys,
    text,
    write_page,
)
from tests.web.flame_modules import install

pytestmark = pytest.mark.browser

WHOLES = [sum(STACKS[stage].values()) for stage in (7, 8)]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(tmp_path_factory.mktemp("compare"))


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        yield browser


COUNTS = st.integers(0, 5000)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(COUNTS, COUNTS, COUNTS, COUNTS), min_size=40, max_size=40))
def test_prop_noise_is_less_than_two_errors_of_the_counts(browser, cases):
    install(browser)
    script = """return arguments[0].map(([a, b, restA, restB]) => {
      const pair = { wholes: [a + restA, b + restB], counted: true };
      const { points, lean, sigmas, noise } = window.parts.difference(pair, a, b);
      return [points, lean, sigmas, noise];
    })"""
    for (a, b, rest_a, rest_b), told in zip(cases, browser.execute_script(script, cases), strict=True):
        whole_a, whole_b = a + rest_a, b + rest_b
        share_a, share_b = a / whole_a if whole_a else 0, b / whole_b if whole_b else 0
        error = math.sqrt(a / max(whole_a, 1) ** 2 + b / max(whole_b, 1) ** 2)
        sigmas = (share_a - share_b) / error if error else 0
        lean = (share_a - share_b) / (share_a + share_b) if share_a + share_b else 0
        assert told[:3] == pytest.approx([share_a - share_b, lean, sigmas])
        assert told[3] == (a + b < 5 or abs(sigmas) < 2)


def test_the_head_says_what_is_compared(browser, page):
    open_page(browser, page, compared())
    words = text(browser, ".flame-compared")
    assert f"CPU. Here: stage 7 ({WHOLES[0]:,} samples)" in words
    assert f"There: stage 8 ({WHOLES[1]:,} samples)" in words
    assert "mean of both shares" in words
    assert text(browser, ".flame-path") == f"All {WHOLES[0]:,} samples here, {WHOLES[1]:,} samples there"
    assert "within noise" in text(browser, ".flame-legend")


def row_of_level(browser, page, more: str = "") -> dict[str, tuple[int, int, int]]:
    """Colour of the middle of each node of level 3 in its order: mean share, the heaviest of the data first."""
    open_page(browser, page, compared(more))
    width = browser.execute_script("return document.querySelector('.flame-main').clientWidth")
    shares = {
        name: sum(
            sum(n for stack, n in STACKS[stage].items() if stack[2:3] == (name,)) / whole
            for stage, whole in zip((7, 8), WHOLES, strict=True)
        )
        / 2
        for name in (SAME, HERE, THERE, RARE)
    }
    row = pixels(browser, 0, 3 * 19 + 2, width, 1)
    edges: list[int] = [0, *(x for x in range(1, width) if row[x] != row[x - 1]), width]
    spans = [(edges[i], edges[i + 1]) for i in range(len(edges) - 1) if edges[i + 1] - edges[i] > 4]
    by_width = sorted(spans, key=lambda span: span[0] - span[1])[:3]
    names = sorted((SAME, HERE, THERE), key=lambda name: -shares[name])
    for (left, right), name in zip(by_width, names, strict=True):
        assert right - left == pytest.approx(shares[name] * width, abs=3)
    return {name: row[(left + right) // 2] for (left, right), name in zip(by_width, names, strict=True)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_widths_are_mean_shares_and_colours_say_where_there_is_more(browser, page, scheme):
    prefer(browser, scheme)
    colours = row_of_level(browser, page)
    prefer(browser, "light")
    red, _, blue = colours[HERE]
    assert red > blue + 80  # orange
    red, _, blue = colours[THERE]
    assert blue > red + 60  # blue
    assert max(colours[SAME]) - min(colours[SAME]) < 20  # grey


def test_what_is_said_of_a_frame_has_both_slices_and_their_difference(browser, page):
    open_page(browser, page, compared(f"&search={HERE.replace('.', '%5C.')}"))
    focus_graph(browser)
    keys(browser, "n")
    words = text(browser, ".flame-said")
    assert "Total 400 samples (40.0 %) here, 0 samples (0 %) there. +40.0 percentage points, only here" in words
    assert "Matched 400 samples here, 0 samples there, 40.0 % and 0 % of all" in text(browser, ".flame-found")
    open_page(browser, page, compared(f"&search=^{SAME}$"))
    focus_graph(browser)
    keys(browser, "n")
    assert re.search(
        r"\(50\.0 %\) here, 260 samples \(52\.0 %\) there. −2\.0 percentage points: within noise, 0\.", said(browser)
    )
    open_page(browser, page, compared("&search=Rare"))
    focus_graph(browser)
    keys(browser, "n")
    assert "within noise, fewer than 5 samples" in said(browser)


def said(browser: webdriver.Chrome) -> str:
    return text(browser, ".flame-said")


def test_the_table_can_be_sorted_by_difference(browser, page):
    open_page(browser, page, compared())
    browser.find_element(By.CSS_SELECTOR, ".flame-top summary").click()
    browser.find_element(By.CSS_SELECTOR, "[data-by=difference]").click()
    rows = [
        [cell.text for cell in row.find_elements(By.TAG_NAME, "td")]
        for row in browser.find_elements(By.CSS_SELECTOR, ".flame-top tbody tr")
    ]
    assert rows[0][4:6] == ["−36.4", THERE]
    assert rows[0][:4] == ["96 9.6 %", "46.0 %", "96 9.6 %", "46.0 %"]
    noise = {row[5] for row in rows if row[4] == "within noise"}
    assert RARE in noise
    assert {HERE, ODD, THERE} & noise == {HERE}  # it has no self weight


def test_a_comparison_is_begun_swapped_and_ended_on_the_page(browser, page):
    open_page(browser, page, "#stage=7")
    browser.find_element(By.CSS_SELECTOR, "[data-do=compare]").click()
    Select(browser.find_element(By.CSS_SELECTOR, "[data-other=stage] select")).select_by_value("8")
    assert fragment(browser) == "#stage=7&versus=stage=8"
    browser.find_element(By.CSS_SELECTOR, "[data-do=swap]").click()
    assert fragment(browser) == "#stage=8&versus=stage=7"
    assert f"Here: stage 8 ({WHOLES[1]:,} samples)" in text(browser, ".flame-compared")
    browser.find_element(By.CSS_SELECTOR, "[data-do=end]").click()
    assert fragment(browser) == "#stage=8"
    share = f"{100 * WHOLES[1] / sum(map(sum, (of.values() for of in STACKS.values()))):.1f} %"
    assert text(browser, ".flame-path") == f"All {WHOLES[1]:,} samples, {share} of the whole"


def test_steps_apply_to_both_slices(browser, page):
    open_page(browser, page, compared(f"&shape=hide:{SAME}"))
    left = [sum(n for stack, n in STACKS[stage].items() if SAME not in stack) for stage in (7, 8)]
    assert f"All {left[0]:,} samples here, {left[1]:,} samples there" in text(browser, ".flame-path")
    assert "leaves out 80.0 % and 52.0 %" in text(browser, ".flame-steps")


def test_weights_that_are_no_counts_are_not_called_noise(browser, page):
    open_page(browser, page, "#event=alloc&stage=7&versus=stage%3D")
    assert "Weights are no counts of samples" in text(browser, ".flame-legend")
    focus_graph(browser)
    keys(browser, Keys.ARROW_DOWN)
    assert "noise" not in said(browser)
