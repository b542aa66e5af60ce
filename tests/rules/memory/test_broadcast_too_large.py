from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.evaluate import evaluate
from emberscope.rules.memory.broadcast_too_large import RULE
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task, with_rows

MIB = 1 << 20
CONF = {"spark.executor.memory": "1g", "spark.driver.memory": "1g"}


def sending(size: int, collect: int = 0, build: int = 0, send: int = 0, **more: Any) -> Run:
    """A join whose broadcast has so many MiB and took so many ms; its rows were made in a stage of 4 s."""
    conf = {**CONF, **more.pop("conf", {})}
    values = {"data size": size * MIB, "time to collect": collect, "time to build": build, "time to broadcast": send}
    execution = {"sql_execution_id": 3, "description": "join", "started_ms": 0, "ended_ms": 90_000, **more}
    return run_of(
        100_000,
        conf=conf,
        tasks=[task(0, 0, 4_000)],
        stages=[stage(0, 0, 4_000, sql_execution_id=3)],
        jobs=[job(0, 0, 4_000, sql_execution_id=3, call_site="collect at daily.py:7")],
        executors=[executor("1", 1)],
        sql_executions=[execution],
        plan_nodes=[
            {"sql_execution_id": 3, "node_id": 0, "name": "BroadcastHashJoin", "detail": "BroadcastHashJoin [id#1]"},
            {"sql_execution_id": 3, "node_id": 1, "parent_node_id": 0, "name": "BroadcastExchange", "detail": ""},
            {"sql_execution_id": 3, "node_id": 2, "parent_node_id": 1, "name": "Range", "detail": "Range (0, 9)"}
            | {"stage_ids": [0]},
        ],
        plan_metrics=[
            {"sql_execution_id": 3, "node_id": 1, "accumulator_id": i, "name": name, "value": value}
            | {"metric_type": "size" if name == "data size" else "timing", "last_attempt_value": value}
            for i, (name, value) in enumerate(values.items())
        ],
    )


@pytest.mark.parametrize("log", ["none", "skew_spill_python", "driver_idle_gc"])
def test_ignores_queries_of_spark_without_a_large_broadcast(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_the_price_is_what_the_driver_did_after_the_tasks() -> None:
    (finding,) = found(RULE, sending(200, collect=6_000, build=3_000, send=2_000))
    assert finding.wasted_wall_ms == 2_000 + 3_000 + 2_000
    assert finding.consequence is None
    assert finding.where.line == "daily.py:7"


def test_two_fifths_of_a_heap_are_a_risk_however_fast_it_went() -> None:
    (finding,) = found(RULE, sending(410))
    assert finding.consequence == "risk"
    assert finding.wasted_wall_ms == 0
    assert found(RULE, sending(400)) == []


def test_small_tables_are_none_however_long_they_took() -> None:
    assert found(RULE, sending(40, build=30_000)) == []


def test_a_short_wait_for_a_table_that_fits_is_none() -> None:
    assert found(RULE, sending(200, collect=4_000, build=3_000, send=1_000)) == []


def test_a_threshold_that_was_raised_is_set_back() -> None:
    (finding,) = found(RULE, sending(500, conf={"spark.sql.autoBroadcastJoinThreshold": "1g"}))
    settings = {a.setting: a.value for a in finding.advice if a.setting}
    assert settings == {"spark.sql.autoBroadcastJoinThreshold": "10485760"}
    (finding,) = found(RULE, sending(500, conf={"spark.sql.autoBroadcastJoinThreshold": "-1"}))
    assert {a.setting for a in finding.advice} == {None}


@pytest.mark.parametrize(
    "message",
    [
        "org.apache.spark.SparkException: Could not execute broadcast in 300 secs. You can increase the timeout",
        "Not enough memory to build and broadcast the table to all worker nodes.",
        "Cannot broadcast the table that is larger than 8.0 GiB: 9.1 GiB.",
    ],
)
def test_a_broadcast_that_failed_ended_the_query(message: str) -> None:
    run = sending(500, status="failed", error_message=message)
    (finding,) = found(RULE, run)
    assert finding.consequence == "ended"
    assert finding.evidence[0].text in message
    assert evaluate(run, [RULE]).findings[0].severity == "critical"


def test_a_query_that_failed_of_something_else_is_judged_by_its_sizes() -> None:
    (finding,) = found(RULE, sending(500, status="failed", error_message="Division by zero"))
    assert finding.consequence == "risk"


def test_collecting_has_no_price_where_nobody_knows_how_long_the_tasks_took() -> None:
    run = sending(200, collect=60_000, build=6_000)
    (finding,) = found(RULE, with_rows(run, "tasks", run.tables["tasks"].slice(0, 0)))
    assert finding.wasted_wall_ms == 6_000
