"""The flame graph in use: by keys alone, by fingers, by links, on paper."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.web.browser import chromium, open_page, pixels, settle
from tests.web.flame_example import (
    HERE,
    NATIVE,
    RARE,
    RUN,
    SAME,
    STACKS,
    TASK,
    THERE,
    amount,
    focus_graph,
    fragment,
    keys,
    text,
    write_page,
)

pytestmark = pytest.mark.browser

BOTH = {stack: n for stage in (7, 8) for stack, n in STACKS[stage].items()}
ALL = sum(n for stage in (7, 8) for n in STACKS[stage].values())


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(tmp_path_factory.mktemp("use"))


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        yield browser


def focused(browser: webdriver.Chrome) -> str:
    return str(browser.execute_script("const a = document.activeElement; return a.dataset.do ?? a.textContent"))


def tab_to(browser: webdriver.Chrome, selector: str, *, back: bool = False) -> None:
    """Goes on by Tab until the focus is there."""
    for _ in range(60):
        if browser.execute_script("return document.activeElement.matches(arguments[0])", selector):
            return
        chain = ActionChains(browser)
        (
            chain.key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT) if back else chain.send_keys(Keys.TAB)
        ).perform()
    raise AssertionError(f"no way to {selector} by Tab")


class TestByKeysAlone:
    def test_a_frame_has_a_menu_that_takes_arrows_and_letters(self, browser, page):
        open_page(browser, page, "#stage=7")
        tab_to(browser, ".flame-main")
        keys(browser, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN, "a")
        items = browser.find_elements(By.CSS_SELECTOR, "[role=menu] [role=menuitem]")
        assert items[0].text.startswith("Zoom to this frame")
        assert focused(browser).startswith("Zoom")
        keys(browser, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
        assert fragment(browser) == f"#stage=7&shape=hide:{SAME}"
        assert amount(text(browser, ".flame-path")) == sum(n for s, n in STACKS[7].items() if SAME not in s)
        assert browser.execute_script("return document.activeElement.matches('.flame-main')")
        assert "Without stacks through Same.go. All: 200 samples." in text(browser, ".flame-said")
        keys(browser, Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        ActionChains(browser).key_down(Keys.SHIFT).send_keys(Keys.F10).key_up(Keys.SHIFT).perform()
        keys(browser, "m")
        assert fragment(browser) == f"#stage=7&shape=hide:{SAME},merge:{HERE}"
        keys(browser, Keys.BACKSPACE)
        assert fragment(browser) == f"#stage=7&shape=hide:{SAME}"

    def test_escape_and_tab_close_a_menu_and_nothing_else(self, browser, page):
        open_page(browser, page)
        focus_graph(browser)
        for key in (Keys.ESCAPE, Keys.TAB):
            keys(browser, "a", Keys.ARROW_DOWN, key)
            assert browser.find_elements(By.CSS_SELECTOR, "[role=menu]") == []
            assert browser.execute_script("return document.activeElement.matches('.flame-main')")
        assert fragment(browser) == ""

    def test_letters_work_without_the_menu(self, browser, page):
        open_page(browser, page, "#stage=7&search=Here")
        focus_graph(browser)
        keys(browser, "n", "f")
        assert fragment(browser) == f"#stage=7&search=Here&shape=focus:{HERE}"
        assert amount(text(browser, ".flame-path")) == 400
        keys(browser, "r", "x")
        assert fragment(browser).endswith(f"shape=focus:{HERE},reverse,recursion")
        keys(browser, "r")
        assert fragment(browser).endswith(f"shape=focus:{HERE},recursion")
        keys(browser, "i", "t")
        assert "up=1" in fragment(browser)
        keys(browser, *"Sam")
        rows = browser.find_elements(By.CSS_SELECTOR, ".flame-top tbody tr")
        assert [row.find_elements(By.TAG_NAME, "td")[2].text for row in rows] == [SAME]

    def test_a_package_and_a_family_can_be_meant(self, browser, page):
        open_page(browser, page, "#stage=7")
        focus_graph(browser)
        keys(browser, Keys.ARROW_DOWN, Keys.ARROW_DOWN, "M")
        assert fragment(browser) == "#stage=7&shape=merge*org.apache.spark.executor."
        tab_to(browser, "[data-family=user]")
        keys(browser, Keys.ENTER, "m")
        assert fragment(browser).endswith("shape=merge*org.apache.spark.executor.,merge@user")
        assert amount(text(browser, ".flame-path")) == 1000
        assert browser.execute_script("return document.querySelector('.flame-main').scrollHeight") < 5 * 19

    def test_a_sandwich_from_the_table_and_back(self, browser, page):
        open_page(browser, page, "#stage=7")
        focus_graph(browser)
        keys(browser, "t", *"acme.Here")
        tab_to(browser, "[data-does=sandwich]")
        keys(browser, Keys.ENTER)
        assert fragment(browser) == f"#stage=7&shape=sandwich:{HERE}"
        assert browser.execute_script("return document.activeElement.matches('.flame-main')")
        keys(browser, Keys.ARROW_DOWN)
        assert text(browser, ".flame-said").startswith(f"{HERE}. your code. Total 400 samples (40.0 % of all)")
        keys(browser, Keys.TAB, Keys.ARROW_UP, Keys.ARROW_UP)
        assert text(browser, ".flame-said").startswith(f"{TASK}. Spark core. Total 400 samples (40.0 % of all)")
        keys(browser, Keys.ENTER)
        assert re.search(r"node=\^\d+\.\d+$", fragment(browser))
        tab_to(browser, ".flame-steps button", back=True)
        keys(browser, Keys.ENTER)
        assert fragment(browser) == "#stage=7"

    def test_the_rest_of_the_tools(self, browser, page):
        open_page(browser, page)
        focus_graph(browser)
        keys(browser, "e", Keys.ARROW_UP)
        assert "Copy a link" in focused(browser)
        keys(browser, Keys.ESCAPE)
        assert focused(browser) == "export"
        focus_graph(browser)
        keys(browser, "v")
        tab_to(browser, "[data-other=stage] select", back=True)
        keys(browser, Keys.ARROW_DOWN)
        assert "versus=stage=7" in fragment(browser)


def test_a_link_leads_to_the_zoomed_node_of_a_shaped_tree(browser, page):
    open_page(browser, page, f"#stage=7&shape=merge:{TASK}&search=Here")
    focus_graph(browser)
    keys(browser, "n", "n", Keys.ENTER)
    address = browser.execute_script("return location.hash")
    path = text(browser, ".flame-path")
    assert HERE.split(".", 2)[2] in path
    open_page(browser, page, address)
    assert text(browser, ".flame-path") == path
    open_page(browser, page, "#stage=7&shape=reverse&node=~999.3^77")  # leads nowhere
    assert text(browser, ".flame-path [aria-current]").startswith("All 1,000")


def test_hits_are_counted_and_walked_through(browser, page):
    open_page(browser, page, "#stage=7&search=acme.Here|Same")
    assert text(browser, ".flame-hits span") == "4 hits"
    browser.find_element(By.CSS_SELECTOR, "[data-do=next]").click()
    assert text(browser, ".flame-hits span") == "hit 1 of 4"
    browser.find_element(By.CSS_SELECTOR, "[data-do=previous]").click()
    assert text(browser, ".flame-hits span") == "hit 4 of 4"


PIECES = st.sampled_from(
    ["a", "go", r"\.", "[a-m]", ".*", "(Here|There)", "^com", "run$", r"\$", "Same?", "x|spark", "[^.]", "h{1,2}", ""]
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PIECES, min_size=1, max_size=4).map("".join).filter(bool))
def test_prop_a_search_weighs_each_stack_once(browser, page, pattern):
    if not browser.current_url.startswith(page.as_uri()):
        open_page(browser, page)
    browser.execute_script("location.hash = `search=${encodeURIComponent(arguments[0])}`", pattern)
    expression = re.compile(pattern, re.IGNORECASE)
    expected = sum(
        n for stage in (7, 8) for stack, n in STACKS[stage].items() if any(expression.search(name) for name in stack)
    )
    words = text(browser, ".flame-found")
    assert (amount(words) if expected else words) == (expected or "Nothing matches")


@pytest.mark.parametrize("shape", ["", f"sandwich:{HERE}", "reverse", "recursion"])
def test_a_search_weighs_whole_stacks_whatever_their_shape(browser, page, shape):
    open_page(browser, page, f"#stage=7&shape={shape}&search=TaskRunner|libc")
    through = sum(n for stack, n in STACKS[7].items() if TASK in stack and (HERE in stack or "sandwich" not in shape))
    assert amount(text(browser, ".flame-found")) == through


def test_what_is_copied_is_said(browser, page):
    open_page(browser, page)
    focus_graph(browser)
    keys(browser, Keys.ARROW_DOWN, Keys.ARROW_DOWN, "y")
    assert text(browser, ".flame-toast") == "Name copied"
    ActionChains(browser).key_down(Keys.CONTROL).send_keys("c").key_up(Keys.CONTROL).perform()
    assert text(browser, ".flame-toast") == "Stack copied"
    browser.execute_script("document.querySelector('.flame-search input, .flame-tools input').focus()")
    ActionChains(browser).key_down(Keys.CONTROL).send_keys("v").key_up(Keys.CONTROL).perform()
    assert browser.execute_script("return document.querySelector('.flame-tools input').value") == f"{RUN} {TASK}"


def test_what_the_address_asks_for_and_is_not_here_is_said(browser, page):
    open_page(browser, page, "#stage=99&shape=hide:nothing.of.that.name")
    assert "asks for stage 99" in text(browser, ".flame-slice")
    assert "no frame matches" in text(browser, ".flame-steps")
    assert amount(text(browser, ".flame-path")) == ALL


def test_an_anchor_of_the_page_does_not_lose_what_is_seen(browser, page):
    open_page(browser, page, f"#stage=7&shape=hide:{SAME}")
    browser.execute_script("location.hash = '#findings'")
    focus_graph(browser)
    keys(browser, Keys.ARROW_DOWN, Keys.ENTER)
    assert fragment(browser).startswith(f"#stage=7&shape=hide:{SAME}&node=")


def test_a_tap_shows_figures_and_two_taps_zoom(browser, page):
    metrics = {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    try:
        open_page(browser, page, "#stage=7")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
        edge = browser.execute_script(
            "const r = document.querySelector('.flame-main').getBoundingClientRect(); return [r.left, r.top]"
        )

        def tap() -> None:
            point = [{"x": edge[0] + 40, "y": edge[1] + 2 * 19 + 9}]
            browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": point})
            browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
            settle(browser)

        tap()
        assert TASK in text(browser, ".flame-tip")
        assert fragment(browser) == "#stage=7"
        browser.find_element(By.XPATH, "//*[contains(@class, 'flame-tip')]/button[.='Zoom']").click()
        assert text(browser, ".flame-path [aria-current]") == "Executor$TaskRunner.run"
        keys(browser, Keys.ESCAPE)
        tap(), tap()
        assert text(browser, ".flame-path [aria-current]") == "Executor$TaskRunner.run"
    finally:
        browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_on_paper_it_is_light_and_whole(browser, page):
    open_page(browser, page, "#stage=7&theme=dark")
    dark = sum(pixels(browser, 600, 5, 1, 1)[0])
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    light = sum(pixels(browser, 600, 5, 1, 1)[0])
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert (dark < 300, light > 500, sum(pixels(browser, 600, 5, 1, 1)[0])) == (True, True, dark)


def test_the_total_that_is_drawn_is_exact_however_narrow_its_parts(browser, page):
    open_page(browser, page, f"#shape=focus:{RARE}")
    assert amount(text(browser, ".flame-path")) == 4
    open_page(browser, page, f"#stage=8&shape=hide:{SAME},hide:{THERE},hide:{NATIVE}")
    assert amount(text(browser, ".flame-path")) == 10
    assert f"{RUN} {10}" not in text(browser, ".flame-tip")


def test_what_a_search_finds_can_be_hidden_as_one(browser, page):
    open_page(browser, page, "#stage=7&search=$%26|Here|There")
    browser.find_element(By.CSS_SELECTOR, "[data-do=shape]").click()
    items = browser.find_elements(By.CSS_SELECTOR, "[role=menu] button:enabled")
    hide = next(item for item in items if item.text == "Hide stacks through /$&|Here|There/")
    hide.click()
    assert "shape=hide/$&|Here|There" in fragment(browser)
    assert amount(text(browser, ".flame-path")) == 504
