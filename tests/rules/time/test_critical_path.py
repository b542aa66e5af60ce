from __future__ import annotations

from dataclasses import replace

from emberscope.rules.time.critical_path import RULE
from tests.rules.time.shapes import one_stage
from tests.runs import found


def test_a_stage_of_one_wave_is_as_long_on_endlessly_many_cores() -> None:
    (finding,) = found(RULE, one_stage(8, 70_000))
    assert finding.wasted_wall_ms is None
    assert finding.title == "More executors would save at most 0 % of the time"
    assert any(e.text.startswith("1 min 10 s is the longest task of stage 0") for e in finding.evidence)


def test_silent_where_more_cores_help_or_a_person_types_or_it_is_short() -> None:
    assert found(RULE, one_stage(80, 10_000)) == []
    assert found(RULE, one_stage(8, 5_000)) == []
    run = one_stage(8, 70_000)
    shell = replace(run, application=replace(run.application, app_name="Spark shell"))
    assert found(RULE, shell) == []
