from __future__ import annotations

import pytest

from emberscope.rules.shuffle.tiny_blocks import RULE
from tests.rules.shuffle.shuffles import advised, shuffling
from tests.runs import found, spark_wrote

TINY = {"shuffle_read_remote_blocks": 50_000, "shuffle_read_remote_bytes": 50_000_000, "shuffle_fetch_wait_ms": 3_000}


def test_many_tiny_blocks_that_are_waited_for_are_told_with_a_number_of_partitions() -> None:
    (finding,) = found(RULE, shuffling(20, **TINY))
    assert finding.evidence[0].value == 1_000
    assert finding.wasted_core_ms == 60_000
    assert finding.wasted_wall_ms == 30_000
    # 1 GB in partitions of 128 MiB, in whole waves of two cores.
    assert advised(finding) == {
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    }


def test_without_adaptive_execution_the_number_alone_is_given() -> None:
    (finding,) = found(RULE, shuffling(20, conf={"spark.sql.adaptive.enabled": "false"}, **TINY))
    assert list(advised(finding)) == ["spark.sql.shuffle.partitions"]


@pytest.mark.parametrize(
    "other",
    [
        {"shuffle_read_remote_blocks": 500},
        {"shuffle_read_remote_bytes": 5_000_000_000},
        {"shuffle_fetch_wait_ms": 0},
        {"shuffle_fetch_wait_ms": None},
    ],
)
def test_few_large_or_fast_blocks_are_not_told(other: dict[str, int | None]) -> None:
    assert found(RULE, shuffling(20, **{**TINY, **other})) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python"])
def test_silent_on_small_shuffles_of_spark(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []
