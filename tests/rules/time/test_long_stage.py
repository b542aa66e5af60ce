from __future__ import annotations

from emberscope.rules.evaluate import evaluate
from emberscope.rules.time.long_stage import RULE
from tests.rules.time.shapes import one_stage
from tests.runs import found


def test_an_hour_of_even_tasks_on_all_cores_is_a_hint_without_a_price() -> None:
    run = one_stage(64, 450_000)
    (finding,) = found(RULE, run)
    assert finding.wasted_wall_ms is None
    assert "100 % of its 8 slots busy" in finding.summary
    assert any("about 30 min" in a.text for a in finding.advice)
    (ranked,) = evaluate(run, [RULE]).findings
    assert ranked.severity == "info"


def test_ignores_short_stages_and_those_whose_slots_were_idle() -> None:
    assert found(RULE, one_stage(64, 100_000)) == []
    assert found(RULE, one_stage(2, 3_600_000)) == []
