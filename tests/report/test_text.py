from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from emberscope.report.diagnosis import diagnose
from emberscope.report.markdown import diagnosis_markdown
from emberscope.report.text import coverage_line, diagnosis_text
from emberscope.sources.load import load
from emberscope.tables.coverage import Coverage, Note
from tests.runs import run_of, spark_wrote, without

RECORDING = Path(__file__).parent.parent / "data" / "jfr" / "FastSlow_2024_01_16_180855.jfr.gz"


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
    said = " ".join(text.split())
    assert re.search(r"Not evaluated: .*\bB1, .*need a Spark event log \(spark\.eventLog\.enabled=true\)\.", said)


def test_a_recording_alone_is_no_all_clear_and_shows_what_is_hot() -> None:
    run = load(str(RECORDING))
    text = diagnosis_text([diagnose(run)])
    assert "No rule could be evaluated" in " ".join(text.split())
    assert "this is no all-clear" in text
    assert text.count("spark.eventLog.enabled") == 1
    assert re.search(r"1,012 cpu samples.*98\.7 %  user.*98\.7 %  FastSlow\.fib\n", text, re.DOTALL)
    assert "Where the time went is not known" not in text


def test_a_log_without_its_start_lacks_times_and_says_it_once() -> None:
    text = " ".join(diagnosis_text([diagnose(run_of(None))]).split())
    assert text.count("the start of the application and a time after it, which this log does not hold") == 1


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


def test_markdown_has_proof_advice_and_one_block_of_settings() -> None:
    text = diagnosis_markdown([diagnose(spark_wrote("skew_spill_python"))])
    setting = "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes"
    assert text.count("```properties") == 1
    assert f"\n{setting}=83m\n" in text[text.index("```properties") :]
    assert f"- [ ] `{setting}=83m`: " in text
    assert "- longest task 13.7 s, median 956 ms, 8 tasks (`tasks.executor_run_time_ms`)" in text
    assert "| driver alone, no job |" in text
    assert re.search(r"- so also \d+\. Stage 4 spilled 129 MiB to disk \(C3, low\)", text)


def test_several_applications_have_their_findings_each_under_its_own_heading() -> None:
    items = [diagnose(spark_wrote(name)) for name in ("skew_spill_python", "driver_idle_gc")]
    for render in (diagnosis_text, diagnosis_markdown):
        text = " ".join(render(items).replace("\\_", "_").split())
        second = text.index("findings: gc, driver, idle")
        assert text.index("is skewed: one task") < second
        assert items[1].diagnosis.findings[0].finding.title in text[second:]


def test_the_coverage_line_names_what_is_lost() -> None:
    note = Note("cut", "the last line is cut", "events_1", {"lines": 1})
    assert coverage_line(Coverage((note,))) == "Coverage: not complete. the last line is cut (events_1)"
    limited = Note("limited", "only the first part was asked for")
    assert coverage_line(Coverage((limited,))).startswith("Coverage: complete. only")
