from __future__ import annotations

import re
from dataclasses import replace

import pytest

from emberscope.report.diagnosis import diagnose
from emberscope.report.terminal import bar_of, report_terminal
from tests.report.test_hotspots import recorded
from tests.runs import run_of, spark_wrote


@pytest.mark.parametrize("width", [40, 44, 50, 60, 100, 160])
def test_it_tells_all_within_the_width(width: int) -> None:
    run = recorded([{"stack": ["a", "x" * 300], "event": "cpu", "count": 3}], spark_wrote("skew_spill_python"))
    text = report_terminal(diagnose(run), width=width)
    for words in (
        "Where the wall time went",
        "driver alone",
        "What to mend",
        "--conf spark.",
        "Hot code",
        "Event",
    ):
        assert words in text
    assert (
        max(len(line) for line in text.splitlines() if "--conf" not in line and not line.startswith("  spark."))
        <= width
    )
    assert "\x1b" not in text
    chapters = [line for line in text.splitlines() if line.endswith(" %")]
    assert len(chapters) > 3
    assert len({len(line) for line in chapters}) == 1


def test_colours_only_where_they_are_asked_for_and_never_from_a_name() -> None:
    run = spark_wrote("skew_spill_python")
    run = replace(run, application=replace(run.application, app_name="\x1b[2Jx"))
    plain, coloured = (report_terminal(diagnose(run), colour=on) for on in (False, True))
    assert "\x1b" not in plain
    assert "␛[2Jx" in plain
    assert re.sub(r"\x1b\[[\d;]+m", "", coloured) == plain


def test_what_is_not_zero_has_a_bar() -> None:
    assert [bar_of(ratio, 4) for ratio in (0, 0.001, 0.5, 1)] == ["    ", "▏   ", "██  ", "████"]


def test_without_anything_known_it_says_so() -> None:
    assert "No event log" in report_terminal(diagnose(replace(run_of(None), tables={})))
