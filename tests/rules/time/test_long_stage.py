from __future__ import annotations

from emberscope.rules.evaluate import evaluate
from emberscope.rules.time.long_stage import RULE
from tests.rules.time.shapes import one_stage
from tests.runs import executor, found, job, run_of, stage, task


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


def test_slots_are_those_of_the_best_time_of_executors_that_come_and_go() -> None:
    """20 tasks of an hour, two at a time but for the 20 at one time that executors which are gone again ran."""
    tasks = [task(0, 0, 3_600_000, task_id=i) for i in range(20)]
    tasks += [task(0, 3_600_000, 3_600_000, task_id=20 + i) for i in range(2)]
    run = run_of(
        7_300_000,
        tasks=tasks,
        stages=[stage(0, 0, 7_200_000, task_count=22)],
        jobs=[job(0, 0, 7_200_000)],
        executors=[executor("1", 2), executor("2", 18, 10, 3_700_000)],
    )
    assert found(RULE, run) == [], "half of what the executors offered lay idle"
