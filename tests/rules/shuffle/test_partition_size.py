from __future__ import annotations

from dataclasses import replace

import pytest

from emberscope.rules.shuffle.partition_size import RULE
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
    limits = replace(RULE.limits, times=0.001, least_ratio=0.0, skew=1e9, spilled_bytes=1 << 60)
    assert list(RULE.check(spark_wrote("skew_spill_python"), limits))
