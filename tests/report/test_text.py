from __future__ import annotations

import re
from dataclasses import replace

import pytest

from emberscope.report.diagnosis import diagnose
from emberscope.report.text import coverage_line, diagnosis_markdown, diagnosis_text
from emberscope.tables.coverage import Coverage, Note
from tests.runs import run_of, spark_wrote, without


def test_the_text_tells_outcome_parts_findings_settings_and_coverage_in_this_order() -> None:
    text = diagnosis_text([diagnose(spark_wrote("skew_spill_python"))])
    at = [
        text.index("findings: skew, spill, python ran"),
        text.index("driver alone, no job"),
        text.index("waited for Python: weigh()"),
        text.rindex("Coverage: complete"),
    ]
    assert at == sorted(at)
    assert "--conf spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes=83m" in text
    assert re.search(r"Follows from finding \d: mend that first\.", text)
    assert max(len(line) for line in text.splitlines() if "--conf" not in line) <= 100


def test_the_shares_of_the_bar_list_are_those_of_the_parts() -> None:
    item = diagnose(spark_wrote("driver_idle_gc"))
    text = diagnosis_text([item])
    for part in item.waterfall:
        (line,) = [line for line in text.splitlines() if line.startswith(f"  {part.label}  ")]
        assert line.rstrip().endswith("%")
    longest = max(item.waterfall, key=lambda part: part.wall_ms)
    assert next(line for line in text.splitlines() if longest.label in line and "█" in line).count("█") == 30


def test_nothing_found_is_not_the_same_as_not_evaluated() -> None:
    text = diagnosis_text([diagnose(without(run_of(), "tasks", "plan_nodes"))])
    assert "No finding: none of the rules that could be evaluated" in text
    assert "Not evaluated: B1 needs tasks" in text


def test_a_run_without_times_says_so() -> None:
    assert "Where the time went is not known" in diagnosis_text([diagnose(run_of(None))])


@pytest.mark.parametrize("render", [diagnosis_text, diagnosis_markdown])
def test_names_from_a_log_cannot_command_a_terminal_or_a_page(render) -> None:  # type: ignore[no-untyped-def]
    run = run_of()
    run = replace(run, application=replace(run.application, app_name="evil\x1b[2J<script>\u202e"))
    shown = render([diagnose(run)])
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    if render is diagnosis_markdown:
        assert "<script>" not in shown


def test_markdown_has_settings_in_one_block_per_finding() -> None:
    text = diagnosis_markdown([diagnose(spark_wrote("skew_spill_python"))])
    setting = "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes 83m"
    assert f"```properties\n{setting}\n```" in text
    assert "| driver alone, no job |" in text


def test_the_coverage_line_names_what_is_lost() -> None:
    note = Note("cut", "the last line is cut", "events_1", {"lines": 1})
    assert coverage_line(Coverage((note,))) == "Coverage: not complete. the last line is cut (events_1)"
    limited = Note("limited", "only the first part was asked for")
    assert coverage_line(Coverage((limited,))).startswith("Coverage: complete. only")
