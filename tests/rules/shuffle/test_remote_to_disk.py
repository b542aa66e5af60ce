from __future__ import annotations

import pytest

from emberscope.rules.shuffle.remote_to_disk import RULE
from tests.rules.shuffle.shuffles import advised, shuffling
from tests.runs import found, spark_wrote

GIB = 1 << 30


def test_bytes_are_written_and_read_once_and_blocks_made_smaller() -> None:
    run = shuffling(4, shuffle_read_remote_bytes=GIB, shuffle_read_remote_to_disk_bytes=100_000_000)
    (finding,) = found(RULE, run)
    assert finding.wasted_core_ms == 4 * 2_000
    assert finding.wasted_wall_ms == 2 * 2_000
    assert advised(finding) == {"spark.sql.shuffle.partitions": "32"}


def test_a_task_cannot_lose_more_than_it_ran() -> None:
    run = shuffling(4, shuffle_read_remote_bytes=GIB, shuffle_read_remote_to_disk_bytes=GIB)
    assert found(RULE, run)[0].wasted_core_ms == 4 * 10_000


@pytest.mark.parametrize("size", [None, 0, 20_000_000])
def test_little_is_not_told(size: int | None) -> None:
    assert found(RULE, shuffling(4, shuffle_read_remote_to_disk_bytes=size)) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python"])
def test_silent_where_spark_kept_blocks_in_memory(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []
