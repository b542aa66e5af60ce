from __future__ import annotations

import pytest
from msgspec import structs

from emberscope.rules.shuffle.fetch_wait import RULE
from tests.rules.shuffle.shuffles import advised, shuffling
from tests.runs import found, spark_wrote

MIB = 1 << 20


def test_waits_are_taken_off_and_priced_by_replay() -> None:
    run = shuffling(4, shuffle_fetch_wait_ms=4_000, shuffle_read_remote_bytes=10 * MIB)
    (finding,) = found(RULE, run)
    assert finding.wasted_core_ms == 16_000
    assert finding.wasted_wall_ms == 8_000
    assert finding.where.stage == 0
    assert "40.0 %" in finding.summary
    assert advised(finding) == {}


def test_tasks_that_read_more_than_may_be_on_its_way_may_ask_for_more() -> None:
    run = shuffling(4, shuffle_fetch_wait_ms=4_000, shuffle_read_remote_bytes=100 * MIB)
    assert advised(found(RULE, run)[0]) == {"spark.reducer.maxSizeInFlight": "100m"}
    run = shuffling(4, shuffle_fetch_wait_ms=4_000, shuffle_read_remote_bytes=999 * MIB)
    assert advised(found(RULE, run)[0]) == {"spark.reducer.maxSizeInFlight": "192m"}


@pytest.mark.parametrize("wait_ms", [None, 0, 900])
def test_little_waiting_is_not_told(wait_ms: int | None) -> None:
    assert found(RULE, shuffling(40, shuffle_fetch_wait_ms=wait_ms)) == []


def test_a_wait_is_never_longer_than_its_task() -> None:
    (finding,) = found(RULE, shuffling(4, shuffle_fetch_wait_ms=99_000))
    assert finding.wasted_core_ms == 40_000
    assert finding.wasted_wall_ms == 20_000


def test_tiny_blocks_are_left_to_their_own_rule() -> None:
    blocks = {"shuffle_read_remote_blocks": 50_000, "shuffle_read_remote_bytes": 50_000_000}
    assert found(RULE, shuffling(4, shuffle_fetch_wait_ms=4_000, **blocks)) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python"])
def test_silent_where_spark_hardly_waited(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_waits_that_spark_logged_are_found_where_the_limits_allow_it() -> None:
    limits = structs.replace(RULE.limits, ratio=0.0, floor_ms=1)
    assert list(RULE.check(spark_wrote("skew_spill_python"), limits))
