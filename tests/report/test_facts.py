"""The data in the page are what the tables hold, whatever their texts are."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from emberscope.report.diagnosis import diagnose, diagnose_document
from emberscope.report.facts import json_script
from emberscope.report.page import report_page
from emberscope.report.waterfall import waterfall
from emberscope.tables.run import Run
from tests.report.test_hotspots import recorded
from tests.runs import spark_wrote


class _Facts(HTMLParser):
    """What stands in the script `emberscope-run`, as a browser reads it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.inside, self.text = False, ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag == "script" and ("id", "emberscope-run") in attrs

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        self.text += data if self.inside else ""


def facts_of(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_Facts(report_page(diagnose(run))).text)
    return found


def test_the_totals_are_those_of_the_tables() -> None:
    samples = [
        {"stack": ["a", "b"], "event": "cpu", "count": 5, "stage_id": 9, "stage_attempt": 0},
        {"stack": ["a"], "event": "cpu", "count": 2},
        {"stack": ["a"], "event": "lock", "count": 3, "value": 17},
    ]
    run = recorded(samples, spark_wrote("skew_spill_python"))
    facts, tasks = facts_of(run), run.tables["tasks"]
    assert next(iter(facts)) == "schema"
    assert facts["schema"] == "emberscope.page/1"
    assert facts["app"]["duration_ms"] == run.application.duration_ms
    assert facts["app"]["tasks"]["total"] == tasks.num_rows
    for name in ("executor_run_time_ms", "gc_time_ms", "disk_spilled_bytes", "input_records"):
        assert facts["app"]["totals"][name] == pc.sum(tasks[name]).as_py()
    assert [part["wall_ms"] for part in facts["waterfall"]] == [part.wall_ms for part in waterfall(run)]
    for bar in ("story", "waterfall"):
        assert sum(part["wall_ms"] for part in facts[bar]) == run.application.duration_ms
    document = diagnose_document([diagnose(run)])
    assert facts["findings"] == json.loads(json.dumps(document["findings"]))
    assert facts["coverage"] == document["coverage"]
    assert facts["samples"] == {"cpu": 7, "lock": 3}
    assert facts["hotspots"]["weight"] == 7
    assert sum(row["tasks"] for row in facts["stages"]) == tasks.num_rows
    assert sum(row["samples"] for row in facts["stages"]) == 5
    assert facts["stages_left_out"] == 0
    assert [row["executor_id"] for row in facts["executors"]] == run.tables["executors"]["executor_id"].to_pylist()
    assert [row["sql_execution_id"] for row in facts["sql"]] == [0, 1]


def test_a_name_cannot_end_the_script_and_arrives_as_it_is() -> None:
    name = "</script><!--<script>\u2028\ud800'\"&"
    run = spark_wrote("none")
    assert facts_of(replace(run, application=replace(run.application, app_name=name)))["app"]["app_name"] == name


@given(st.dictionaries(st.text(), st.text(st.characters(exclude_categories=()))))
def test_prop_what_is_written_is_what_is_read(document: dict[str, str]) -> None:
    text = json_script(document)
    assert json.loads(text) == document
    assert text.isascii()
    assert not set("<>&") & set(text)
