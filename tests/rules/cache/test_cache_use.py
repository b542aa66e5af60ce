from __future__ import annotations

from dataclasses import replace

import pytest

from emberscope.rules.cache.cache_use import RULE
from emberscope.rules.evaluate import evaluate
from tests.rules.fault_logs import fault_log
from tests.rules.plan.tables import Op, op, run_with
from tests.runs import found


def _cache(number: int = 1) -> Op:
    """A cached plan: Spark numbers its columns once."""
    return op("Project", op("Range", stages=[0], rows=500), stages=[0], detail=f"Project [id#{number} AS day#2]")


def _count(stage_id: int, cached: Op) -> Op:
    scan = op("InMemoryTableScan", cached, stages=[stage_id], rows=500)
    partial = op(
        "HashAggregate", scan, stages=[stage_id], detail="HashAggregate(keys=[], functions=[partial_count(1)])"
    )
    shuffle = op("Exchange", partial, stages=[stage_id, stage_id + 1])
    return op("HashAggregate", shuffle, stages=[stage_id + 1], detail="HashAggregate(keys=[], functions=[count(1)])")


def _report(stage_id: int, cached: Op) -> Op:
    scan = op("InMemoryTableScan", cached, stages=[stage_id], rows=500)
    return op("HashAggregate", scan, stages=[stage_id], detail="HashAggregate(keys=[day#2], functions=[max(x#4)])")


_STAGES = {0: 20_000, 1: 2_000, 2: 100, 5: 30_000}


def test_counted_to_fill_a_cache_that_nobody_reads() -> None:
    other = op("HashAggregate", op("Range", stages=[5]), stages=[5])
    (finding,) = found(RULE, run_with(_count(1, _cache()), other, stage_ms=_STAGES))
    assert finding.title == "500 rows were cached and never read again"
    assert finding.wasted_wall_ms == 22_100
    assert "and that count" in finding.advice[0].text
    assert "job.py:7" in finding.advice[0].text
    assert "Project [id AS day]" in finding.summary


def test_read_by_another_execution() -> None:
    for reader in (_count(5, _cache()), _report(5, _cache())):
        assert not found(RULE, run_with(_count(1, _cache()), reader, stage_ms=_STAGES))


def test_another_cache_is_not_this_one() -> None:
    findings = found(RULE, run_with(_count(1, _cache(1)), _report(5, _cache(9)), stage_ms=_STAGES))
    assert [finding.wasted_wall_ms for finding in findings] == [22_100, None], "of the second the rows were used once"
    assert findings[1].wasted_core_ms is None


def test_read_twice_in_one_execution() -> None:
    join = op("SortMergeJoin", _report(1, _cache()), _report(5, _cache()), stages=[5])
    assert not found(RULE, run_with(join, stage_ms=_STAGES))


def test_read_outside_of_sql() -> None:
    stored = {"rdd_id": 4, "name": "*(1) Project [id#1 AS day#2]\n+- *(1) Range", "stage_count": 9, "first_stage_id": 0}
    assert not found(RULE, run_with(_count(1, _cache()), stage_ms=_STAGES, storage=[stored]))


def test_short_stages_are_no_matter() -> None:
    assert not found(RULE, run_with(_count(1, _cache()), stage_ms={0: 300, 1: 200, 2: 10}))


def test_rows_that_fell_out_of_memory() -> None:
    row = {"rdd_id": 7, "name": "words", "call_site": "cache at /jobs/count.py:5", "first_stage_id": 0}
    row |= {"storage_level": "Memory Deserialized 1x Replicated", "partition_count": 8, "stage_count": 3}
    stages = {0: 20_000}
    (finding,) = found(RULE, run_with(op("Range", stages=[0]), stage_ms=stages, storage=[{**row, "evictions": 6}]))
    assert finding.title == "Cached rows fell out of memory 6 times"
    assert finding.wasted_wall_ms is None
    assert finding.consequence == "lost"
    assert finding.where.line == "count.py:5"
    for other in ({"evictions": None}, {"evictions": 6, "storage_level": "Disk Memory Deserialized 1x Replicated"}):
        assert not found(RULE, run_with(op("Range", stages=[0]), stage_ms=stages, storage=[{**row, **other}]))


def test_spark_cached_it_for_nothing() -> None:
    (finding,) = found(RULE, fault_log("cache_never_read"))
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 1_000
    assert "warm the cache" in finding.summary
    assert not found(RULE, fault_log("cache_never_read_healthy"))
    assert not found(RULE, fault_log("repeated_scan_healthy")), "read by each report"


@pytest.mark.parametrize("end", ["app_start_ms", "app_end_ms"])
def test_in_a_part_of_a_log_the_second_read_may_be_elsewhere(end: str) -> None:
    whole = run_with(_count(1, _cache()), op("HashAggregate", op("Range", stages=[5]), stages=[5]), stage_ms=_STAGES)
    part = replace(whole, application=replace(whole.application, **{end: None}))
    assert [told.rule.code for told in evaluate(whole, [RULE]).findings] == ["C10"]
    told = evaluate(part, [RULE])
    assert told.findings == ()
    assert "begin and end of the application" in told.not_evaluated[0].needs
