from __future__ import annotations

from dataclasses import replace

import pytest

from emberscope.report.diagnosis import diagnose
from emberscope.report.markdown import escaped, report_markdown
from emberscope.report.story import story
from tests.runs import run_of, spark_wrote


def test_it_has_the_outcome_the_time_the_findings_and_one_patch() -> None:
    run = spark_wrote("skew_spill_python")
    text = report_markdown(diagnose(run), page="report.html")
    assert text.startswith("## ")
    assert text.count("\n| ") == 1 + len(story(run))
    assert "**1. " in text
    assert "(`@pandas_udf`)" in text
    (patch,) = [piece for piece in text.split("```") if piece.startswith("properties")]
    keys = [line.partition("=")[0] for line in patch.splitlines()[1:] if not line.startswith("#")]
    assert "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes" in keys
    assert len(keys) == len(set(keys))
    assert text.endswith("The whole report: report.html\n")
    assert len(text) < 8_000


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("![x](http://evil/p.png)", r"!\[x\](http://evil/p.png)"),
        ("<img src=x>", "&lt;img src=x>"),
        ("@everyone `x` *b* a|b", r"&#64;everyone \`x\` \*b\* a\|b"),
        ("# head\nnext", r"\# head next"),
        ("\x1b[31m\u202e\ud800", "␛\\[31m\\[U+202E\\]\ufffd"),
    ],
)
def test_names_are_only_text(name: str, shown: str) -> None:
    assert escaped(name) == shown
    run = run_of()
    assert shown in report_markdown(diagnose(replace(run, application=replace(run.application, app_name=name))))


def test_without_anything_known_it_says_so() -> None:
    text = report_markdown(diagnose(replace(run_of(None), tables={})))
    assert "No event log: nothing is known" in text
