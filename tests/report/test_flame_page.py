"""The flame graph page: complete in itself, harmless whatever names hold, in a real browser what Python says."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from emberscope.profile.classify import FAMILIES
from emberscope.profile.flame_data import flame_data
from emberscope.profile.flame_tree import FlameData
from emberscope.report.assets import joined, style_sheet
from emberscope.report.flame_page import MODULES, STYLES, flame_page
from emberscope.tables.coverage import Coverage, Note
from tests.profile.strategies import recording
from tests.web.browser import chromium, open_page, pixels, prefer, requested, settle

WEB = Path(__file__).parents[2] / "web"
EVIL = '</script><img src=x onerror="window.harmed=1">&amp;\'"{{7*7}}'
BASE = ["java.lang.Thread.run", "org.apache.spark.executor.Executor$TaskRunner.run"]
ROW = 19
GENERATED = "o.a.s.catalyst.expressions.GeneratedClass$GeneratedIteratorForCodegenStage1.hashAgg_doConsume_0"


def example() -> FlameData:
    """Two stages of one SQL execution on two executors, the driver outside, CPU and allocation."""
    leaves = [
        (7, 3, "1", [*BASE, GENERATED, "java.util.HashMap.get"], 50),
        (7, 3, "2", [*BASE, GENERATED], 30),
        (8, 3, "1", [*BASE, "com.acme.Enrich.apply", "com.acme.Enrich.apply", EVIL], 15),
        (None, None, "driver", ["com.acme.Main.main", "com.acme.Enrich.plan"], 5),
        (None, None, "driver", [], 2),
        # Siblings much narrower than a pixel, one of them with a name of its own.
        *((8, 3, "1", [*BASE, "com.acme.Many.go", f"com.acme.Tiny{i % 977}.x"], 1) for i in range(977)),
        (8, 3, "1", [*BASE, "com.acme.Many.go", "com.acme.Needle.prick"], 1),
    ]
    wide = [(7, 3, "1", [*BASE, "com.acme.Wide.go"], 40_000)]
    samples = [
        {
            "event": "cpu",
            "stage_id": stage,
            "sql_execution_id": sql,
            "executor_id": executor,
            "stack": stack,
            "count": n,
        }
        for stage, sql, executor, stack, n in [*leaves, *wide]
    ]
    alloc = {"event": "alloc", "stage_id": 8, "sql_execution_id": 3, "executor_id": "1", "count": 1, "value": 3 * 2**20}
    recorded = recording([*samples, {**alloc, "stack": [*BASE, "com.acme.Enrich.apply"]}])
    return flame_data(recorded.samples, recorded.stacks, recorded.frames)


FLAME = example()
PAGE = flame_page(
    FLAME,
    title=f"Run {EVIL}",
    subtitle="application_1_1",
    coverage=Coverage((Note("cut", f"The recording ends early {EVIL}", "executor-1"),)),
    stage_names={7: "count at job.py:3", 8: EVIL},
    sql_names={3: "SELECT 1"},
    codegen={3: {1: "WholeStageCodegen (1): HashAggregate, Range"}},
)
TOTAL = int(FLAME.tree("cpu").self_weights.sum())


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def test_names_are_text_never_markup():
    tags = [tag for tag, _ in _Tags(PAGE).seen]
    assert tags.count("script") == 2
    assert "img" not in tags
    assert "{{7*7}}" in PAGE  # a template in a name is not run
    names = dict(next(attrs for tag, attrs in _Tags(PAGE).seen if tag == "x-flame"))["data-names"]
    assert EVIL.replace('"', '\\"') in (names or "")


def test_the_page_names_no_other_place():
    without_data = re.sub(r'<script type="application/octet-stream">.*?</script>', "", PAGE, flags=re.S)
    for identifier in ("https://www.speedscope.app/file-format-schema.json", "http://www.w3.org/2000/svg"):
        without_data = without_data.replace(f"'{identifier}'", "").replace(f'"{identifier}"', "")
    assert not re.findall(r"(?:https?:)?//[a-z0-9-]+\.", without_data)
    assert not any({"src", "href"} & attrs.keys() for _, attrs in _Tags(PAGE).seen)


def test_the_policy_allows_just_these_scripts_and_styles():
    policy = next(a["content"] for tag, a in _Tags(PAGE).seen if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    for name, text in (("script-src", joined(MODULES)), ("style-src", style_sheet(STYLES))):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}';" in policy
        assert text in PAGE
    assert "unsafe" not in policy


def test_every_family_has_a_colour():
    style = style_sheet(STYLES)
    for family in FAMILIES:
        assert f"--flame-{family}:" in style
        assert f".flame-{family} " in style


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "flame page.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        yield browser


def text(browser: webdriver.Chrome, selector: str) -> str:
    settle(browser)
    return browser.find_element(By.CSS_SELECTOR, selector).get_attribute("textContent") or ""


def fragment(browser: webdriver.Chrome) -> str:
    return str(browser.execute_script("return location.hash"))


def press(browser: webdriver.Chrome, *keys: str) -> None:
    browser.execute_script("document.querySelector('.flame-view').focus()")
    for key in keys:
        ActionChains(browser).send_keys(key).perform()
    settle(browser)


def amount(words: str) -> int:
    found = re.search(r"([\d,]+) samples?", words)
    assert found is not None, words
    return int(found[1].replace(",", ""))


@pytest.mark.browser
class TestInABrowser:
    def test_opens_from_disk_and_asks_for_nothing_else(self, browser, page):
        browser.get("about:blank")
        requested(browser), browser.get_log("browser")  # what the browser did on its own account before
        open_page(browser, page)
        assert browser.execute_script("return document.querySelector('x-flame').dataset.state") == "ready"
        press(browser, "/", *"acme", Keys.ENTER)
        press(browser, "?")
        addresses = [url for url in requested(browser) if not url.startswith(("file:", "data:", "blob:", "about:"))]
        assert addresses == []
        assert browser.get_log("browser") == []
        assert browser.execute_script("return window.harmed === undefined")

    def test_draws_the_frames_with_the_colours_of_their_families(self, browser, page):
        prefer(browser, "light")
        open_page(browser, page)
        assert amount(text(browser, ".flame-path")) == TOTAL
        assert len(set(pixels(browser, 0, 0, 1300, 5 * ROW))) > 20
        words = text(browser, ".flame-legend")
        assert "your code" in words

    def test_total_of_a_search_counts_each_sample_once(self, browser, page):
        open_page(browser, page)
        press(browser, "/", *"acme")
        tree = FLAME.tree("cpu")
        expected = 0
        for node, weight in enumerate(tree.self_weights.tolist()):
            at, hit = node, False
            while at > 0:
                hit = hit or "acme" in tree.names[tree.frames[at]]
                at = int(tree.parents[at])
            expected += weight if hit else 0
        assert amount(text(browser, ".flame-found")) == expected
        assert "search=acme" in fragment(browser)

    def test_what_is_no_regular_expression_is_said(self, browser, page):
        open_page(browser, page)
        press(browser, "/", *"a(")
        assert text(browser, ".flame-found") == "Not a regular expression"

    def test_a_hit_narrower_than_a_pixel_is_seen(self, browser, page):
        open_page(browser, page)
        row = (0, 4 * ROW + 8, 1340, 1)
        before = pixels(browser, *row)
        press(browser, "/", *"Needle")
        magenta = [p for p in pixels(browser, *row) if p[0] > 180 and p[1] < 80 and p[2] > 120]
        assert len(magenta) == 1
        assert not [p for p in before if p[0] > 180 and p[1] < 80 and p[2] > 120]

    def test_a_click_zooms_and_escape_resets(self, browser, page):
        open_page(browser, page)
        view = browser.find_element(By.CSS_SELECTOR, ".flame-view")
        corner = {"xoffset": -view.size["width"] // 2 + 30, "yoffset": -view.size["height"] // 2 + 3 * ROW + 10}
        ActionChains(browser).move_to_element_with_offset(view, **corner).perform()
        assert "com.acme.Wide.go" in text(browser, ".flame-tip")
        assert "40,000 samples" in text(browser, ".flame-tip")
        ActionChains(browser).click().perform()
        wide = FLAME.names.index("com.acme.Wide.go")
        assert fragment(browser) == f"#node={FLAME.frames.tolist().index(wide)}"
        assert text(browser, ".flame-path [aria-current]") == "Wide.go"
        press(browser, Keys.ESCAPE)
        assert fragment(browser) == ""
        assert text(browser, ".flame-path [aria-current]").startswith("All")

    def test_generated_code_is_told_by_its_node_of_the_plan(self, browser, page):
        open_page(browser, page, f"#node={FLAME.frames.tolist().index(FLAME.names.index(GENERATED))}")
        press(browser, Keys.ARROW_DOWN, Keys.ARROW_UP)
        assert "WholeStageCodegen (1): HashAggregate, Range. Total" in text(browser, ".flame-said")

    def test_arrows_move_and_enter_zooms(self, browser, page):
        open_page(browser, page)
        press(browser, Keys.ARROW_DOWN)
        assert text(browser, ".flame-said").startswith(f"{BASE[0]}. Java. Total")
        press(browser, Keys.ARROW_RIGHT)
        assert text(browser, ".flame-said").startswith("com.acme.Main.main. your code.")
        press(browser, Keys.ARROW_LEFT, Keys.ARROW_DOWN, Keys.ENTER)
        assert text(browser, ".flame-path [aria-current]") == "Executor$TaskRunner.run"
        press(browser, Keys.ARROW_UP)
        assert text(browser, ".flame-said").startswith(BASE[0])
        press(browser, "i")
        assert "up=1" in fragment(browser)
        press(browser, Keys.ARROW_UP)
        assert text(browser, ".flame-said").startswith("com.acme.Wide.go")

    def test_n_walks_through_the_hits(self, browser, page):
        open_page(browser, page)
        press(browser, "/", *"Enrich", Keys.ENTER)
        assert text(browser, ".flame-said").startswith("com.acme.Enrich.apply")
        press(browser, "n", "n")
        assert text(browser, ".flame-said").startswith("com.acme.Enrich.plan")

    def test_help_opens_on_question_mark(self, browser, page):
        open_page(browser, page)
        press(browser, "?")
        assert browser.execute_script("return document.querySelector('dialog').open")

    @pytest.mark.parametrize(
        ("pick", "value", "where"),
        [
            ("stage", "7", {"stage": 7}),
            ("executor", "driver", {"executor": "driver"}),
            ("sql", "3", {"sql": 3}),
        ],
    )
    def test_a_slice_has_the_total_that_python_has(self, browser, page, pick, value, where):
        open_page(browser, page)
        Select(browser.find_element(By.CSS_SELECTOR, f"[data-for={pick}] select")).select_by_value(value)
        assert amount(text(browser, ".flame-path")) == int(FLAME.tree("cpu", where).self_weights.sum())
        assert fragment(browser) == f"#{pick}={value}"

    def test_another_event_has_its_own_unit(self, browser, page):
        open_page(browser, page)
        Select(browser.find_element(By.CSS_SELECTOR, "[data-for=event] select")).select_by_value("alloc")
        assert text(browser, ".flame-path") == "All 3.0 MiB"

    def test_choices_show_names_as_text(self, browser, page):
        open_page(browser, page)
        assert "8 · </script><img" in text(browser, "[data-for=stage] select")

    def test_the_address_alone_leads_back_to_the_view(self, browser, page):
        node = FLAME.frames.tolist().index(FLAME.names.index("com.acme.Many.go"))
        open_page(browser, page, f"#stage=8&node={node}&search=Needle&theme=dark")
        assert text(browser, ".flame-path [aria-current]") == "Many.go"
        assert text(browser, ".flame-found") == "Matched 1 sample, 0.1 % of the zoomed frame"
        assert browser.execute_script("return document.documentElement.dataset.theme") == "dark"
        browser.execute_script("location.hash = '#stage=7'")
        assert amount(text(browser, ".flame-path")) == int(FLAME.tree("cpu", {"stage": 7}).self_weights.sum())
        browser.execute_script("location.hash = '#findings'")
        assert fragment(browser) == "#findings"

    def test_an_address_that_fits_nothing_shows_all(self, browser, page):
        open_page(browser, page, "#event=nothing&stage=99&node=99999999&executor=%00")
        assert amount(text(browser, ".flame-path")) == TOTAL

    def test_a_combination_without_samples_is_empty_not_broken(self, browser, page):
        browser.get_log("browser")
        open_page(browser, page, "#stage=7&executor=driver")
        press(browser, Keys.ARROW_DOWN, Keys.ENTER)
        assert text(browser, ".flame-path") == "All 0 samples"
        assert browser.get_log("browser") == []

    def test_a_recording_without_samples_says_so(self, browser, tmp_path):
        empty = recording([])
        path = tmp_path / "empty.html"
        path.write_text(flame_page(flame_data(empty.samples, empty.stacks, empty.frames), title="x"), encoding="utf-8")
        open_page(browser, path)
        assert text(browser, "x-flame") == "There are no samples to show."

    def test_data_that_are_cut_are_named(self, browser, tmp_path):
        path = tmp_path / "cut.html"
        path.write_text(re.sub(r"(octet-stream\">[\w+/]{400})[^<]*", r"\1", PAGE), encoding="utf-8")
        open_page(browser, path)
        assert text(browser, "x-flame").startswith("The flame graph cannot be shown: ")

    def test_dark_and_light_follow_the_system_and_the_button(self, browser, page):
        def ground() -> int:
            settle(browser)
            return sum(pixels(browser, 1200, 4 * ROW + 8, 1, 1)[0])

        prefer(browser, "light")
        open_page(browser, page)
        light = ground()
        prefer(browser, "dark")
        dark = ground()
        browser.find_element(By.CSS_SELECTOR, "x-theme button").click()
        assert (light > 600, dark < 200, ground()) == (True, True, light)
        prefer(browser, "light")

    def test_the_table_has_self_and_total_by_frame(self, browser, page):
        open_page(browser, page)
        browser.find_element(By.CSS_SELECTOR, ".flame-top summary").click()
        browser.find_element(By.CSS_SELECTOR, "[data-by=total]").click()
        settle(browser)
        rows = browser.find_elements(By.CSS_SELECTOR, ".flame-top tbody tr")
        first = [cell.text for cell in rows[0].find_elements(By.TAG_NAME, "td")]
        through = TOTAL - 7  # all but the driver's samples and those without a stack
        assert first == ["0 0 %", f"{through:,} 100 %", BASE[0], "Sandwich"]
        apply = next(row.text for row in rows if "Enrich.apply" in row.text)
        assert "15" in apply.split()  # a frame that calls itself counts once
        rows[0].find_element(By.TAG_NAME, "button").click()
        assert amount(text(browser, ".flame-found")) == through
