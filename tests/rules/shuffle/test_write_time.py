from __future__ import annotations

import pytest
from msgspec import structs

from emberscope.rules.shuffle.write_time import RULE
from tests.rules.shuffle.shuffles import advised, shuffling
from tests.runs import found, spark_wrote

SLOW = {"shuffle_write_time_ns": 5_000_000_000, "shuffle_write_bytes": 100_000_000}


def test_only_the_time_above_100_mb_per_second_is_priced() -> None:
    (finding,) = found(RULE, shuffling(4, **SLOW))
    assert finding.wasted_core_ms == 4 * 4_000
    assert finding.wasted_wall_ms == 2 * 4_000
    assert advised(finding) == {"spark.io.compression.codec": "zstd", "spark.shuffle.file.buffer": "1m"}


def test_advice_heeds_what_is_set_already() -> None:
    conf = {"spark.io.compression.codec": "zstd", "spark.shuffle.file.buffer": "1m"}
    assert advised(found(RULE, shuffling(4, conf=conf, **SLOW))[0]) == {}
    (finding,) = found(RULE, shuffling(4, conf={"spark.shuffle.compress": "false"}, **SLOW))
    assert ("unset", "spark.shuffle.compress") in [(a.kind, a.setting) for a in finding.advice]


@pytest.mark.parametrize(
    "other",
    [{"shuffle_write_bytes": 500_000_000}, {"shuffle_write_time_ns": 1_000_000_000}, {"shuffle_write_time_ns": None}],
)
def test_fast_or_short_writes_are_not_told(other: dict[str, int | None]) -> None:
    assert found(RULE, shuffling(4, **{**SLOW, **other})) == []


@pytest.mark.parametrize("log", ["none", "driver_idle_gc", "skew_spill_python"])
def test_silent_where_spark_wrote_fast(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_writes_that_spark_logged_are_found_where_the_limits_allow_it() -> None:
    limits = structs.replace(RULE.limits, ratio=0.001, floor_ms=1, bytes_per_ms=1 << 60)
    assert list(RULE.check(spark_wrote("skew_spill_python"), limits))
