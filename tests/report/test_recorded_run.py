"""The page of a run that Spark ran and the recorder recorded: whatever it shows is what the run's tables add up to.

The run is made here (half a minute); EMBERSCOPE_TEST_RUN names one to check instead. All sums are made anew from the
tables, sample by sample, without the code that makes the page.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from tests.jvm.conftest import jar  # noqa: F401
from tests.report.recorded_run import COUNTED, FACETS, Recorded, recorded_by_spark
from tests.web.browser import chromium, settle
from tests.web.flame_example import amount, focus_graph, keys, text

pytestmark = [pytest.mark.spark, pytest.mark.browser]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, jar: Path) -> Recorded:  # noqa: F811
    return recorded_by_spark(tmp_path_factory.mktemp("run"))


@pytest.fixture(scope="module")
def browser(recorded: Recorded) -> Iterator[webdriver.Chrome]:
    with chromium() as browser:
        browser.get(recorded.page.as_uri())
        wanted = "x-flame, x-tasks, x-series, x-states, x-heat"
        ready = f"return [...document.querySelectorAll('{wanted}')].every((e) => e.dataset.state === 'ready')"
        WebDriverWait(browser, 60).until(lambda b: b.execute_script(ready))
        assert len(browser.find_elements(By.CSS_SELECTOR, wanted)) == 5
        yield browser


@pytest.fixture(scope="module")
def bucket_s(browser: webdriver.Chrome) -> float:
    return float(browser.find_element(By.TAG_NAME, "x-flame").get_attribute("data-bucket") or "nan")


@pytest.fixture(scope="module")
def facts(browser: webdriver.Chrome) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(browser.find_element(By.ID, "emberscope-run").get_attribute("textContent") or "")
    return found


def go(browser: webdriver.Chrome, choice: dict[str, str]) -> None:
    browser.execute_script("location.hash = arguments[0]", urlencode(choice, quote_via=quote))
    settle(browser)


def shown(browser: webdriver.Chrome) -> int:
    return amount(text(browser, ".flame-path button"))


def choices(recorded: Recorded, seed: int, number: int) -> Iterator[dict[str, str]]:
    """Choices that some sample is in: a few facets of one drawn at random, and perhaps a piece of time about it."""
    drawn = random.Random(seed)
    known = np.flatnonzero(np.isin(recorded.columns["event"], COUNTED))
    for _ in range(number):
        row = int(drawn.choice(known))
        choice = {"event": recorded.columns["event"][row]}
        for facet in drawn.sample(sorted(FACETS), drawn.randint(0, 3)):
            choice[facet] = recorded.columns[facet][row] or "none"
        if drawn.random() < 0.5:
            choice["from"] = str(round(max(0.0, recorded.since_s[row] - drawn.random() * 20), 2))
        if drawn.random() < 0.4:
            choice["to"] = str(round(recorded.since_s[row] + 0.05 + drawn.random() * 30, 2))
        yield choice


class TestTables:
    def test_samples_by_event_stage_and_executor(self, recorded, facts):
        of = recorded.columns
        for event, count in facts["samples"].items():
            assert count == recorded.count(of["event"] == event)
        assert sum(facts["samples"].values()) == of["count"].sum()
        first = of["event"] == recorded.events[0]
        for row in facts["stages"]:
            mine = (of["stage"] == str(row["stage_id"])) & (of["attempt"] == str(row["attempt"]))
            assert row["samples"] == recorded.count(first & mine)
        for row in facts["executors"]:
            assert row["samples"] == recorded.count(first & (of["executor"] == row["executor_id"]))

    def test_tasks_of_stages_and_executors(self, recorded, facts):
        tasks = recorded.run.tables["tasks"].to_pylist()
        assert facts["stages_left_out"] == 0
        assert sum(row["tasks"] for row in facts["stages"]) == len(tasks) == facts["app"]["tasks"]["total"]
        for row in facts["stages"]:
            mine = [
                one for one in tasks if (one["stage_id"], one["stage_attempt"]) == (row["stage_id"], row["attempt"])
            ]
            assert row["tasks"] == len(mine)
            assert row["failed"] == sum(one["status"] == "failed" for one in mine)
            for name, columns in {
                "task_ms": ["executor_run_time_ms"],
                "input_bytes": ["input_bytes"],
                "shuffle_read_bytes": ["shuffle_read_local_bytes", "shuffle_read_remote_bytes"],
                "shuffle_write_bytes": ["shuffle_write_bytes"],
                "spilled_bytes": ["disk_spilled_bytes"],
            }.items():
                assert row[name] == sum(one[column] or 0 for one in mine for column in columns), name
            runs = sorted(one["executor_run_time_ms"] for one in mine if one["status"] == "success")
            if row["spread"] is not None:
                assert (row["spread"]["least"], row["spread"]["most"]) == (runs[0], runs[-1])
                assert row["spread"]["median"] == np.median(runs)
        stages = recorded.run.tables["stages"].to_pylist()
        walls = {(s["stage_id"], s["stage_attempt"]): (s["submitted_ms"], s["completed_ms"]) for s in stages}
        for row in facts["stages"]:
            begin, end = walls[row["stage_id"], row["attempt"]]
            assert row["wall_ms"] == end - begin
        for row in facts["executors"]:
            mine = [one for one in tasks if one["executor_id"] == row["executor_id"]]
            assert (row["tasks"], row["task_ms"]) == (len(mine), sum(one["executor_run_time_ms"] for one in mine))

    def test_both_bars_sum_to_the_duration(self, recorded, facts):
        application = recorded.run.application
        assert facts["app"]["duration_ms"] == application.app_end_ms - application.app_start_ms
        for bar in ("story", "waterfall"):
            assert sum(part["wall_ms"] for part in facts[bar]) == pytest.approx(facts["app"]["duration_ms"])

    def test_the_tables_that_are_seen_have_the_same_rows(self, recorded, facts, browser):
        rows = browser.execute_script(
            "const rows = [...document.querySelectorAll('#stages tbody tr[id]')];"
            "return rows.map((row) => [row.id, row.lastElementChild.textContent])"
        )
        expected = [[f"stage-{s['stage_id']}-{s['attempt']}", f"{s['samples']:,}"] for s in facts["stages"]]
        assert rows == expected
        said = text(browser, "#tasks > p")
        assert said.startswith(f"{recorded.run.tables['tasks'].num_rows:,} task attempts")

    def test_a_stage_row_leads_to_its_samples(self, recorded, facts, browser):
        for row in facts["stages"]:
            here = f"#stage-{row['stage_id']}-{row['attempt']} a"
            mine = recorded.rows({"stage": str(row["stage_id"]), "attempt": str(row["attempt"])}, 1)
            if not recorded.count(mine):
                continue
            browser.execute_script("document.querySelector(arguments[0]).click()", here)
            settle(browser)
            assert shown(browser) == recorded.count(mine)


class TestChoices:
    def test_any_choice_shows_its_samples(self, recorded, browser, bucket_s):
        seen = 0
        for choice in choices(recorded, 1, 40):
            go(browser, choice)
            expected = recorded.count(recorded.rows(choice, bucket_s))
            assert shown(browser) == expected > 0, choice
            seen += 1
        assert seen == 40

    def test_single_tasks(self, recorded, browser, bucket_s):
        options = browser.execute_script(
            "location.hash = ''; return [...document.querySelectorAll('#stages tbody a')].map((a) => a.hash)"
        )
        checked = 0
        for stage in options[:5]:
            browser.execute_script("location.hash = arguments[0]", stage)
            settle(browser)
            values = browser.execute_script(
                "return [...document.querySelectorAll('[data-for=task] option')].map((o) => o.value)"
            )
            for task in [value for value in values if value.isdigit()][:4]:
                choice = {"stage": stage.removeprefix("#stage=").partition("&")[0], "task": task}
                go(browser, choice)
                assert shown(browser) == recorded.count(recorded.rows(choice, bucket_s)), choice
                checked += 1
        assert checked > 0

    def test_the_slowest_tasks_of_a_stage(self, recorded, browser, bucket_s):
        """A quarter of them, no more than 20."""
        tasks = recorded.run.tables["tasks"].to_pylist()
        checked = 0
        for stage in sorted({one["stage_id"] for one in tasks}):
            mine = [one for one in tasks if one["stage_id"] == stage]
            mine.sort(key=lambda one: (-one["executor_run_time_ms"], one["task_id"]))
            slowest = {str(one["task_id"]) for one in mine[: min(20, max(1, len(mine) // 4))]}
            rows = recorded.rows({"stage": str(stage)}, bucket_s) & np.isin(recorded.columns["task"], list(slowest))
            if recorded.count(rows):
                go(browser, {"stage": str(stage), "task": "slow"})
                assert shown(browser) == recorded.count(rows), stage
                checked += 1
        assert checked > 0

    def test_two_choices_are_compared(self, recorded, browser, bucket_s):
        picked = [c for c in choices(recorded, 2, 12) if c["event"] == recorded.events[0]]
        for here, there in zip(picked[::2], picked[1::2], strict=False):
            versus = {**dict.fromkeys(set(here) - set(there), ""), **there}
            go(browser, here | {"versus": urlencode(versus)})
            wanted = [recorded.count(recorded.rows(one, bucket_s)) for one in (here, there)]
            words = text(browser, ".flame-path button")
            found = re.findall(r"([\d,]+) samples?", words)
            assert [int(one.replace(",", "")) for one in found] == wanted, (here, there)

    def test_brushing_the_heat_map_chooses_its_time(self, recorded, browser, bucket_s):
        go(browser, {})
        area = browser.find_element(By.CSS_SELECTOR, "x-heat [tabindex='0']")
        browser.execute_script("arguments[0].focus()", area)
        keys(browser, Keys.HOME, Keys.PAGE_DOWN, Keys.PAGE_DOWN)
        browser.execute_script(
            """const press = (key) => arguments[0].dispatchEvent(
                 new KeyboardEvent('keydown', { key, shiftKey: true, bubbles: true, cancelable: true }));
               for (let i = 0; i < 40; i++) press('PageDown');""",
            area,
        )
        settle(browser)
        state = browser.execute_script("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")
        assert float(state["to"]) > float(state["from"])
        expected = recorded.count(recorded.rows({"from": state["from"], "to": state["to"]}, bucket_s))
        assert shown(browser) == expected


class TestStacks:
    def patterns(self, recorded: Recorded, seed: int, number: int) -> Iterator[str]:
        """Regular expressions from pieces of the names of frames that were sampled."""
        drawn = random.Random(seed)
        names = sorted({name for name in recorded.names if name})
        for _ in range(number):
            pieces = []
            for _ in range(drawn.randint(1, 3)):
                name = drawn.choice(names)
                begin = drawn.randrange(len(name))
                piece = re.escape(name[begin : begin + drawn.randint(2, 12)])
                # What only one of the two languages escapes needs no escape.
                piece = re.sub(r"\\([^.$\[\](){}*+?^|/\\])", r"\1", piece)
                pieces.append(drawn.choice(["{}", "^{}", "{}$", "{}.*", "({})+", "[a-m]{}", "{}\\w"]).format(piece))
            yield drawn.choice(["|", ".*"]).join(pieces)

    def test_a_search_weighs_each_stack_once(self, recorded, browser, bucket_s):
        found = 0
        wheres = list(choices(recorded, 3, 10))
        # Which names were sampled differs from run to run, and with it how many of the patterns match.
        for place, pattern in enumerate(self.patterns(recorded, 4, 200)):
            if place >= 50 and found >= 10:
                break
            choice = {} if place % 2 else wheres[place // 2 % len(wheres)]
            go(browser, choice | {"search": pattern})
            expected = recorded.holding(pattern, recorded.rows(choice, bucket_s))
            words = text(browser, ".flame-found")
            assert (amount(words) if expected else words) == (expected or "Nothing matches"), (pattern, choice)
            found += expected > 0
        assert found >= 10

    def test_zooming_down_shows_what_passes_through(self, recorded, browser, bucket_s):
        """By the keys, from caller to callee; each step has the total of the stacks that begin with these frames."""
        go(browser, {})
        mine = recorded.rows({}, bucket_s)
        through = recorded.by_node(mine)
        for node in range(len(through) - 1, 0, -1):
            through[recorded.parents[node]] += through[node]
        callees: dict[int, list[int]] = {}
        for node in range(1, len(through)):
            callees.setdefault(recorded.parents[node], []).append(node)
        focus_graph(browser)
        at = {0}
        depth = 0
        for _ in range(8):
            keys(browser, Keys.ARROW_DOWN)
            said = text(browser, ".flame-said")
            reached = {n for k in at for n in callees.get(k, []) if said.startswith(f"{recorded.names[n]}. ")}
            same = {n for n in reached if through[n] == amount(said)}
            if not same:
                break
            at, depth = same, depth + 1
        assert depth > 3
        keys(browser, Keys.ENTER)
        words = text(browser, ".flame-path")
        total = recorded.count(mine)
        (weight,) = {int(through[n]) for n in at}
        assert f"{weight:,} samples, {100 * weight / total:.1f}" in words.replace(" ", " ")

    def test_shapes_keep_or_leave_out_the_stacks_that_they_say(self, recorded, browser, bucket_s):
        mine = recorded.rows({}, bucket_s)
        whole, by_node = recorded.count(mine), recorded.by_node(mine)
        drawn = random.Random(5)
        leaves = [recorded.names[n] for n in np.flatnonzero(by_node) if n]
        for name in drawn.sample(sorted(set(leaves)), 4):
            with_it = recorded.holding(f"^{re.escape(name)}$", mine)
            package = name.rpartition(".")[0].rpartition(".")[0] + "."
            with_package = recorded.holding(f"^{re.escape(package)}", mine)
            for shape, expected in {
                f"hide:{name}": whole - with_it,
                f"focus:{name}": with_it,
                f"sandwich:{name}": with_it,
                f"merge:{name}": whole,
                "reverse": whole,
                "recursion": whole,
                "direct": whole,
                **({f"hide*{package}": whole - with_package} if len(package) > 1 else {}),
            }.items():
                go(browser, {"shape": shape})
                path = text(browser, ".flame-path")
                assert amount(path) == expected, (shape, path)
