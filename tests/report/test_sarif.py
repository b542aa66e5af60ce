from __future__ import annotations

import gzip
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec import structs

from emberscope.report.diagnosis import Diagnosed, diagnose
from emberscope.report.sarif import sarif_document
from emberscope.rules.catalog import RULES
from emberscope.tables.coverage import Coverage, Note
from tests.report.told import three
from tests.runs import run_of, spark_wrote

SCHEMA = Path(__file__).parents[1] / "data" / "sarif" / "sarif-2.1.0-rtm.5.json.gz"


@cache
def validator() -> Any:
    return jsonschema.Draft4Validator(json.loads(gzip.decompress(SCHEMA.read_bytes())))


@pytest.fixture(scope="module")
def item() -> Diagnosed:
    return three()


def results(*items: Diagnosed, **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sarif_document(items, **more)["runs"][0]["results"]
    return found


def test_it_obeys_the_schema_of_the_format(item: Diagnosed) -> None:
    validator().validate(sarif_document([item, diagnose(spark_wrote("driver_idle_gc"))]))
    lost = run_of(coverage=Coverage((Note("cut", "the last line is cut", "events_1", {"lines": 1}),)))
    validator().validate(sarif_document([diagnose(replace(lost, tables={}))]))
    validator().validate(sarif_document([]))


def test_every_rule_has_its_page_as_help(item: Diagnosed) -> None:
    rules = sarif_document([item])["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in RULES]
    assert all(rule["help"]["text"] == ours.page for rule, ours in zip(rules, RULES, strict=True))


def test_a_result_has_level_file_line_and_the_place_in_what_spark_ran(item: Diagnosed) -> None:
    (result,) = [one for one in results(item) if one["ruleId"] == "B1"]
    assert RULES[result["ruleIndex"]].code == "B1"
    assert result["level"] == "note"
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "file:///app/tests/jobs/findings_skew_spill_python.py"},
        "region": {"startLine": 23},
    }
    logical, *machines = location["logicalLocations"]
    assert "host 127.0.0.1" in [machine["name"] for machine in machines]
    assert logical["name"] == "SortMergeJoin key"
    assert logical["fullyQualifiedName"].split("/") == [
        "findings: skew, spill, python",
        "SQL execution 0: join step",
        "stage 4 (collect at findings_skew_spill_python.py:23)",
        "SortMergeJoin key",
    ]
    assert [one["level"] for one in results(item)] == ["warning", "note", "note"]


def test_a_file_that_is_among_the_sources_is_told_as_there(item: Diagnosed) -> None:
    (result,) = [one for one in results(item, locate=lambda path: "jobs/my job.py") if one["ruleId"] == "B1"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "jobs/my%20job.py", "uriBaseId": "SRCROOT"}


def test_fingerprints_are_unique_and_do_not_hang_on_ids_of_the_run(item: Diagnosed) -> None:
    prints = [one["partialFingerprints"]["emberscope/v1"] for one in results(item)]
    assert len(set(prints)) == len(prints)

    def moved(found: Any) -> Any:
        where = found.finding.where
        more = {"stage": where.stage + 5, "job": 99, "sql": 7} if where.stage is not None else {}
        return structs.replace(
            found, app_id="other", finding=structs.replace(found.finding, where=structs.replace(where, **more))
        )

    findings = tuple(moved(one) for one in item.diagnosis.findings)
    again = structs.replace(item, diagnosis=structs.replace(item.diagnosis, findings=findings))
    assert [one["partialFingerprints"]["emberscope/v1"] for one in results(again)] == prints


def test_what_was_not_evaluated_and_what_is_lost_is_told() -> None:
    lost = run_of(coverage=Coverage((Note("cut", "the last line is cut", "events_1", {"lines": 1}),)))
    document = sarif_document([diagnose(replace(lost, tables={}))])
    notes = document["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert {note["associatedRule"]["id"] for note in notes if "associatedRule" in note} == {r.code for r in RULES}
    assert [note["level"] for note in notes if note["descriptor"]["id"] == "cut"] == ["warning"]
