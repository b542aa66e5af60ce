from __future__ import annotations

from dataclasses import replace

import pytest

from emberscope.rules.time.low_parallelism import RULE
from emberscope.rules.time.single_task import RULE as SINGLE
from emberscope.tables.run import Run
from tests.rules.time.shapes import SHUFFLE, SQL, one_stage, settings_of
from tests.runs import found


def test_two_tasks_on_eight_slots_are_priced_by_the_work_in_three_tasks_per_slot() -> None:
    (finding,) = found(RULE, one_stage(2, 24_000))
    assert finding.where.stage == 0
    assert finding.wasted_wall_ms == 18_000  # 48 s of work take 6 s on 8 slots
    assert finding.wasted_core_ms == 6 * 24_000
    assert finding.title == "Stage 0 ran 2 tasks where 8 could run"


@pytest.mark.parametrize(
    ("count", "run_ms", "why"),
    [
        (8, 24_000, "a task for each slot"),
        (1, 24_000, "a single task is told by another rule"),
        (2, 5_000, "too short"),
    ],
)
def test_ignores(count: int, run_ms: float, why: str) -> None:
    assert found(RULE, one_stage(count, run_ms)) == [], why


def test_slots_are_cores_over_the_cores_of_a_task() -> None:
    assert found(RULE, one_stage(4, 24_000, conf={"spark.task.cpus": "2"})) == []
    # In Spark 4.3 the run time of such a task is twice its wall time.
    run = one_stage(2, 24_000, conf={"spark.task.cpus": "2"}, of_task={"executor_run_time_ms": 48_000})
    (finding,) = found(RULE, run)
    assert "2 tasks where 4 could run" in finding.title
    assert finding.wasted_wall_ms == 12_000
    assert finding.wasted_core_ms == 2 * 2 * 24_000


def test_a_stage_that_shares_the_cluster_is_not_blamed_for_slots_that_others_use() -> None:
    run = one_stage(2, 24_000, cores=2)
    assert found(RULE, run) == []


def test_workers_that_start_together_are_as_many_as_was_asked_for() -> None:
    assert found(RULE, one_stage(2, 24_000, of_stage={"barrier": True})) == []


def test_the_setting_is_the_one_that_decides_the_number_of_tasks() -> None:
    (finding,) = found(RULE, one_stage(2, 24_000, of_stage=SQL, of_task=SHUFFLE))
    assert settings_of(finding) == {"spark.sql.shuffle.partitions": "24"}

    nodes = [{"node_id": 1, "name": "AQEShuffleRead", "detail": "AQEShuffleRead coalesced"}]
    (finding,) = found(RULE, one_stage(2, 24_000, of_stage=SQL, of_task=SHUFFLE, nodes=nodes))
    assert settings_of(finding) == {
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": f"{20 * 1024 // 24}k",
        "spark.sql.adaptive.coalescePartitions.minPartitionSize": f"{20 * 1024 // 24}k",
    }

    nodes = [{"node_id": 1, "name": "Exchange", "detail": "Exchange RoundRobinPartitioning(2), REPARTITION_BY_NUM"}]
    (finding,) = found(RULE, one_stage(2, 24_000, of_stage=SQL, of_task=SHUFFLE, nodes=nodes))
    assert settings_of(finding) == {}
    assert "24 partitions where the program says `repartition(n)`" in finding.advice[0].text

    (finding,) = found(RULE, one_stage(2, 24_000, of_stage=SQL, of_task={"input_bytes": 120 << 20}))
    assert settings_of(finding) == {"spark.sql.files.maxPartitionBytes": "10m"}

    (finding,) = found(RULE, one_stage(2, 24_000))
    assert "Ask for 24 partitions (collect at job.py:0)" in finding.advice[0].text


def rows(count: int, tasks: int = 2) -> Run:
    each = {**SHUFFLE, "shuffle_read_records": count // tasks}
    return one_stage(tasks, 24_000, of_stage=SQL, of_task=each)


@pytest.mark.parametrize("tasks", [1, 2])
def test_no_more_tasks_are_advised_than_there_are_rows(tasks: int) -> None:
    rule = RULE if tasks == 2 else SINGLE
    (finding,) = found(rule, rows(10_000, tasks))
    assert settings_of(finding)["spark.sql.shuffle.partitions"] == "24"
    (finding,) = found(rule, rows(6, tasks))
    assert settings_of(finding)["spark.sql.shuffle.partitions"] == "6"
    assert "it has no more than 6 rows" in finding.advice[0].text
    assert found(rule, rows(tasks, tasks)) == []


def test_what_may_be_counted_in_batches_is_no_limit() -> None:
    of_task = {**SHUFFLE, "shuffle_read_records": 1}
    assert len(found(RULE, one_stage(2, 24_000, of_task=of_task))) == 1, "an RDD of Python"
    run = rows(2)
    elsewhere = replace(run, application=replace(run.application, vendor="rapids"))
    assert len(found(RULE, elsewhere)) == 1
    cached = {**of_task, "input_records": 1}
    assert len(found(RULE, one_stage(2, 24_000, of_stage=SQL, of_task=cached))) == 1
