from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from emberscope.report.diagnosis import Diagnosed, diagnose
from emberscope.report.junit import junit_xml
from emberscope.rules.catalog import RULES
from tests.report.told import three
from tests.runs import run_of, spark_wrote


@pytest.fixture(scope="module")
def item() -> Diagnosed:
    return three()


def cases(text: str) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(text)
    return {case.get("name", "").partition(" ")[0]: case for case in root.iter("testcase")}


def test_a_case_for_each_rule_and_a_suite_for_each_application(item: Diagnosed) -> None:
    root = ElementTree.fromstring(junit_xml([item, diagnose(spark_wrote("none"))], "low"))
    suites = root.findall("testsuite")
    assert [suite.get("name") for suite in suites] == ["findings: skew, spill, python", "findings: none"]
    for suite in suites:
        assert [case.get("name") for case in suite.iter("testcase")] == [f"{r.code} {r.name}" for r in RULES]
        for name, tag in (("failures", "failure"), ("skipped", "skipped")):
            assert int(suite.get(name, "")) == len(list(suite.iter(tag)))
    assert root.get("tests") == str(2 * len(RULES))
    assert suites[0].get("time") == "114.688"


def test_what_is_severe_enough_fails_and_the_rest_is_told(item: Diagnosed) -> None:
    found = cases(junit_xml([item], "medium"))
    failure = found["F3"].find("failure")
    assert failure is not None
    assert failure.get("type") == "medium"
    assert failure.get("message", "").startswith("Stage 9 waited for Python")
    assert "Saves up to 14.9 s" in (failure.text or "")
    assert found["B1"].find("failure") is None
    assert "Stage 4 is skewed" in (found["B1"].findtext("system-out") or "")
    assert "<failure" not in junit_xml([item], None)


def test_a_rule_that_could_not_be_asked_is_skipped_with_the_reason() -> None:
    found = cases(junit_xml([diagnose(replace(run_of(), tables={}))], "info"))
    skipped = found["B1"].find("skipped")
    assert skipped is not None
    assert "spark.eventLog.enabled=true" in skipped.get("message", "")


def test_any_name_is_well_formed(item: Diagnosed) -> None:
    run = replace(item.run, application=replace(item.run.application, app_name="<&\x00\x1b\ud800\uffff]]>"))
    assert ElementTree.fromstring(junit_xml([diagnose(run)], None)).find("testsuite") is not None
