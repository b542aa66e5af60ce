from __future__ import annotations

import re
from dataclasses import replace

import pytest
from msgspec import structs

from emberscope.report.closing import closing_lines
from emberscope.report.diagnosis import Diagnosed, diagnose
from emberscope.report.finding_lines import not_evaluated_line
from emberscope.report.screen import MOST_LINES, diagnosis_screen
from emberscope.report.terminal import report_terminal
from emberscope.rules.base import set_conf
from emberscope.rules.evaluate import NotEvaluated
from tests.report.told import of, three
from tests.runs import run_of, spark_wrote, without


@pytest.fixture(scope="module")
def item() -> Diagnosed:
    return three()


def many(item: Diagnosed, count: int) -> Diagnosed:
    """The item with so many findings, each with many settings of its own."""
    found = item.diagnosis.findings[0]
    advice = tuple(set_conf(f"spark.some.setting{number}", number, "For its sake.") for number in range(9))
    findings = tuple(
        structs.replace(
            found, finding=structs.replace(found.finding, title=f"Number {number}", advice=advice), caused_by=()
        )
        for number in range(count)
    )
    return of(item, *findings)


def test_one_screen_has_what_happened_the_price_the_proof_the_fix_and_one_patch_in_this_order(item: Diagnosed) -> None:
    text = diagnosis_screen([item])
    at = [
        text.index("findings: skew, spill, python ran"),
        text.index("driver alone, no job  "),
        text.index("1. Stage 9 waited for Python"),
        text.index("Saves up to 14.9 s"),
        text.index("95.9 % of the tasks' time"),
        text.index("→ Write weigh"),
        text.index("spark-defaults.conf"),
        text.index("\n  spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes=83m\n"),
        text.index("Coverage: complete"),
    ]
    assert at == sorted(at)
    assert text.count("\n  spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes=83m\n") == 1
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("count", [1, 2, 5, 80])
def test_it_fits_one_screen_however_many_findings_there_are(item: Diagnosed, count: int) -> None:
    text = diagnosis_screen([many(item, count)])
    assert len(text.splitlines()) <= MOST_LINES
    assert "1. Number 0" in text
    if count == 80:
        assert re.search(r"and 7\d more: 7\d medium \(`--all`", text)


def test_a_consequence_stands_in_one_line_under_its_cause(item: Diagnosed) -> None:
    _, cause, effect = item.diagnosis.findings
    effect = structs.replace(effect, caused_by=(0,))
    text = diagnosis_screen([of(item, cause, effect)])
    lines = text.splitlines()
    (line,) = [line for line in lines if effect.finding.title in line]
    assert line == f"   so also 2: {effect.finding.title}  [C3 {effect.severity}]"
    assert lines.index(line) > next(i for i, one in enumerate(lines) if one.startswith("1. Stage 4 is skewed"))


def test_every_text_calls_a_finding_by_the_same_number_and_price(item: Diagnosed) -> None:
    texts = [diagnosis_screen([item]), report_terminal(item), "\n".join(closing_lines(item))]
    for text in texts:
        assert "1. Stage 9 waited for Python: weigh()  [F3 medium]" in text
        assert "Saves up to 14.9 s and 28.0 s of core time." in text
        assert "2. Stage 4 is skewed: one task ran 14× the median  [B1 low]" in text


def test_several_applications_are_told_apart(item: Diagnosed) -> None:
    other = diagnose(spark_wrote("driver_idle_gc"))
    text = diagnosis_screen([item, other])
    assert text.startswith("2 applications")
    first, second = text.index(item.outcome[:40]), text.index(other.outcome[:40])
    assert first < text.index(item.diagnosis.findings[0].finding.title) < second
    assert second < text.index(other.diagnosis.findings[0].finding.title)


def test_names_from_a_log_cannot_command_a_terminal(item: Diagnosed) -> None:
    run = replace(item.run, application=replace(item.run.application, app_name="evil\x1b[2J\u202e"))
    text = diagnosis_screen([diagnose(run)])
    assert "\x1b" not in text
    assert "\u202e" not in text
    coloured = diagnosis_screen([diagnose(run)], colour=True)
    assert re.sub(r"\x1b\[[\d;]+m", "", coloured) == text


def test_what_was_not_evaluated_is_one_sentence_that_says_how_to_record_it() -> None:
    text = " ".join(diagnosis_screen([diagnose(without(run_of(), "tasks"))]).split())
    assert re.search(r"Not evaluated: \d+ rules\. To have recorded what they need: spark\.eventLog\.enabled=true", text)
    answers = [
        NotEvaluated("A", "", "a Spark event log (spark.eventLog.enabled=true)"),
        NotEvaluated("B", "", "a recording (start the application with `emberscope run`)"),
        NotEvaluated("C", "", "its start, which this log does not hold"),
    ]
    assert not_evaluated_line(answers) == (
        "Not evaluated: 3 rules (A, B, C). To have recorded what they need: spark.eventLog.enabled=true, "
        "`emberscope run`. What 1 of them needs, this input does not hold."
    )
    assert not_evaluated_line(answers[:1]) == (
        "Not evaluated: 1 rule (A). To have recorded what it needs: spark.eventLog.enabled=true."
    )
    assert not_evaluated_line([]) == ""


def test_nothing_found_is_said(item: Diagnosed) -> None:
    assert "No finding: none of the rules" in diagnosis_screen([of(item)])


def test_what_is_not_sure_says_how_sure_it_is(item: Diagnosed) -> None:
    unsure = structs.replace(item.diagnosis.findings[0], confidence=0.6)
    assert "of core time. Confidence 60 %." in diagnosis_screen([of(item, unsure)])
    assert "Confidence" not in diagnosis_screen([item])


@pytest.mark.parametrize("width", [40, 60, 100])
def test_it_keeps_the_width(item: Diagnosed, width: int) -> None:
    lines = diagnosis_screen([item], width=width).splitlines()
    assert max(len(line) for line in lines if "spark.sql" not in line and "spark.dyn" not in line) <= width
