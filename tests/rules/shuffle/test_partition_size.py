from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from emberscope.rules.shuffle.partition_size import RULE
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.stages import STAGES
from tests.rules.shuffle.shuffles import advised, shuffling
from tests.runs import found, spark_wrote

MIB = 1 << 20
GIB = 1 << 30


def test_large_partitions_get_the_number_that_holds_128_mib_each() -> None:
    (finding,) = found(RULE, shuffling(3, shuffle_read_local_bytes=GIB))
    assert advised(finding) == {"spark.sql.shuffle.partitions": "24"}
    # Three tasks on two cores take 20 s, 24 of the same work 15 s and a little.
    assert finding.wasted_wall_ms is not None
    assert 4_000 < finding.wasted_wall_ms < 5_000
    assert finding.consequence is None


def test_adaptive_execution_is_kept_from_merging_them_again() -> None:
    conf = {"spark.sql.adaptive.advisoryPartitionSizeInBytes": "1g"}
    settings = advised(found(RULE, shuffling(3, conf=conf, shuffle_read_local_bytes=GIB))[0])
    assert settings["spark.sql.adaptive.advisoryPartitionSizeInBytes"] == "128m"


def test_full_waves_have_nothing_to_gain() -> None:
    assert found(RULE, shuffling(4, shuffle_read_local_bytes=GIB)) == []


def test_a_partition_of_more_than_5_gb_is_a_risk() -> None:
    assert found(RULE, shuffling(3, 100_000, shuffle_read_local_bytes=6 * GIB))[0].consequence == "risk"


def test_healthy_partitions_and_single_tasks_are_not_told() -> None:
    assert found(RULE, shuffling(3, shuffle_read_local_bytes=300 * MIB)) == []
    assert found(RULE, shuffling(1, shuffle_read_local_bytes=GIB)) == []


def test_spill_and_skew_speak_for_themselves() -> None:
    assert found(RULE, shuffling(3, shuffle_read_local_bytes=GIB, disk_spilled_bytes=GIB)) == []
    assert found(RULE, spark_wrote("skew_spill_python")) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc"])
def test_silent_on_small_partitions_of_spark(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_partitions_that_spark_read_are_judged_where_the_limits_allow_it() -> None:
    limits = structs.replace(RULE.limits, times=0.001, least_ratio=0.0, skew=1e9, spilled_bytes=1 << 60)
    assert list(RULE.check(spark_wrote("skew_spill_python"), limits))


def advised_for(stage: dict[str, Any], exchange: str = "") -> str:
    """The first advice where the stage's row has these columns and its plan this exchange."""
    run = shuffling(3, shuffle_read_local_bytes=GIB)
    row = {**run.tables["stages"].to_pylist()[0], **stage}
    node = {"sql_execution_id": 0, "node_id": 1, "name": "Exchange", "detail": exchange, "stage_ids": [0]}
    tables = {"stages": STAGES.from_rows([row]), "plan_nodes": PLAN_NODES.from_rows([node] if exchange else [])}
    (finding,) = found(RULE, replace(run, tables={**run.tables, **tables}))
    advice = finding.advice[0]
    return f"{advice.setting}={advice.value}" if advice.setting else advice.text


def test_a_number_that_the_program_gives_is_changed_there() -> None:
    asked = advised_for({}, "Exchange RoundRobinPartitioning(3), REPARTITION_BY_NUM, [plan_id=7]")
    assert "`.repartition(24)`" in asked
    needed = advised_for({}, "Exchange hashpartitioning(key#1, 3), ENSURE_REQUIREMENTS, [plan_id=7]")
    assert needed == "spark.sql.shuffle.partitions=24"


def test_a_shuffle_of_rdds_takes_it_as_an_argument_unless_it_is_one_of_spark_sql() -> None:
    assert "numPartitions" in advised_for({"sql_execution_id": None})
    rows = {"sql_execution_id": None, "rdd_names": ["MapPartitionsRDD", "ShuffledRowRDD"]}
    assert advised_for(rows) == "spark.sql.shuffle.partitions=24"


def test_more_partitions_than_a_driver_can_look_after_are_not_advised() -> None:
    assert found(RULE, shuffling(3, shuffle_read_local_bytes=1 << 55)) == [], "their start would take longer"
    (finding,) = found(RULE, shuffling(3, 50_000_000, shuffle_read_local_bytes=1 << 55))
    assert advised(finding) == {}
    assert "Send less through this shuffle" in finding.advice[0].text
