from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.memory.execution_memory import RULE
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

MIB = 1 << 20


def holding(*sizes: int, **more: Any) -> Run:
    """Tasks of 10 s that held so many MiB, two at a time on an executor with 300 MiB of unified memory."""
    columns = {"shuffle_read_local_bytes": MIB, **more}
    return run_of(
        100_000,
        conf={"spark.executor.memory": "800m"},
        tasks=[
            task(0, 10_000 * i, 10_000, task_id=i, peak_execution_memory_bytes=size * MIB, **columns)
            for i, size in enumerate(sizes)
        ],
        stages=[stage(0, 0, 10_000 * len(sizes), sql_execution_id=0)],
        jobs=[job(0, 0, 90_000)],
        executors=[executor("1", 2)],
    )


def test_tasks_that_hold_nine_tenths_of_their_part_get_partitions_for_half_of_it() -> None:
    (finding,) = found(RULE, holding(135, 135, 135, 135))
    assert finding.consequence == "hint"
    assert finding.where.stage == 0
    assert finding.evidence[1].value == 150 * MIB
    assert {a.setting: a.value for a in finding.advice} == {"spark.sql.shuffle.partitions": "8"}


def test_one_large_task_does_not_speak_for_the_others() -> None:
    assert found(RULE, holding(10, 10, 10, 149)) == []


def test_tasks_that_held_more_than_their_part_had_what_others_left() -> None:
    assert found(RULE, holding(200, 200, 200, 200)) == []


def test_a_spill_is_told_by_the_other_rule() -> None:
    assert found(RULE, holding(135, 135, 135, 135, memory_spilled_bytes=1)) == []


def test_few_tasks_and_little_memory_are_none() -> None:
    assert found(RULE, holding(135, 135, 135)) == []
    assert found(RULE, holding(100, 100, 100, 100)) == []


@pytest.mark.parametrize("log", ["none", "skew_spill_python", "driver_idle_gc"])
def test_ignores_logs_of_spark_with_room(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []
