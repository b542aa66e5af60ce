from __future__ import annotations

import pytest
from msgspec import structs

from emberscope.rules.shuffle.data_explosion import RULE
from emberscope.rules.shuffle.huge_shuffle import RULE as HUGE
from tests.rules.shuffle.shuffles import shuffling
from tests.runs import found, spark_wrote

GB = 1_000_000_000
MORE = {
    "input_bytes": GB,
    "input_records": 1_000,
    "shuffle_write_bytes": 6 * GB,
    "shuffle_write_records": 10_000,
    "shuffle_write_time_ns": 8 * GB,
}


def test_the_write_time_above_three_times_the_input_is_priced() -> None:
    (finding,) = found(RULE, shuffling(4, **MORE))
    assert finding.evidence[0].value == 6
    assert finding.wasted_core_ms == 4 * 4_000
    assert finding.wasted_wall_ms == 2 * 4_000
    assert "10.0 rows left for each" in finding.summary
    assert "Filter and aggregate" in finding.advice[0].text


def test_wider_rows_are_told_from_more_rows() -> None:
    (finding,) = found(RULE, shuffling(4, **{**MORE, "shuffle_write_records": 1_000}))
    assert "wider" in finding.summary
    assert "Select only the columns" in finding.advice[0].text


@pytest.mark.parametrize(
    "other",
    [{"input_bytes": 3 * GB}, {"input_bytes": 0}, {"shuffle_write_time_ns": None}, {"shuffle_write_bytes": None}],
)
def test_no_growth_or_no_price_is_not_told(other: dict[str, int | None]) -> None:
    assert found(RULE, shuffling(4, **{**MORE, **other})) == []


def test_a_huge_shuffle_is_told_once() -> None:
    huge = {**MORE, "shuffle_write_bytes": 20 * GB}
    assert found(HUGE, shuffling(4, **huge)) == []
    (finding,) = found(HUGE, shuffling(4, **{**huge, "input_bytes": 19 * GB}))
    assert finding.wasted_core_ms == 4 * 8_000
    assert finding.wasted_wall_ms == 2 * 8_000
    assert found(HUGE, shuffling(2, **{**huge, "input_bytes": 19 * GB})) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python"])
def test_both_are_silent_on_small_shuffles_of_spark(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []
    assert found(HUGE, spark_wrote(log)) == []


def test_a_shuffle_that_spark_wrote_is_huge_where_the_limit_allows_it() -> None:
    limits = structs.replace(HUGE.limits, written_bytes=1_000_000)
    (finding, *_) = HUGE.check(spark_wrote("skew_spill_python"), limits)
    assert finding.evidence[0].value == pytest.approx(200_000_000, rel=0.9)
