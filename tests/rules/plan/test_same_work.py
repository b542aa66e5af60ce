from __future__ import annotations

from emberscope.rules.cache.missing_cache import RULE as MISSING_CACHE
from emberscope.rules.plan.repeated_part import RULE as REPEATED_PART
from tests.rules.fault_logs import fault_log
from tests.rules.plan.tables import Op, op, run_with
from tests.runs import found, spark_wrote

_FILTERS = "DataFilters: [isnotnull(a#1)], Format: {}, Location: InMemoryFileIndex(1 paths)[file:/data/{}], "


def _scan(stage: int, column: str = "a", table: str = "orders", kind: str = "json", rows: float = 500.0) -> Op:
    detail = f"FileScan {kind} [{column}#{stage}] Batched: false, {_FILTERS.format(kind, table)}PartitionFilters: []"
    return op(f"Scan {kind}", stages=[stage], detail=detail, rows=rows)


def _query(stage: int, key: str, scan: Op) -> Op:
    """An aggregation by a key in stage + 1 of what is read and filtered in a stage."""
    kept = op("Filter", op("Project", scan, stages=[stage]), stages=[stage], detail=f"Filter (a#{stage} > 5)", rows=400)
    partial = op("HashAggregate", kept, stages=[stage], detail=f"HashAggregate(keys=[{key}#9])")
    shuffle = op("Exchange", partial, stages=[stage, stage + 1], detail=f"Exchange hashpartitioning({key}#9, 8)")
    return op("HashAggregate", shuffle, stages=[stage + 1], detail=f"HashAggregate(keys=[{key}#9])")


def test_three_queries_of_the_same_rows() -> None:
    queries = [_query(0, "k", _scan(0, "a")), _query(2, "l", _scan(2, "b")), _query(4, "m", _scan(4, "c"))]
    run = run_with(*queries, stage_ms={0: 20_000, 1: 500, 2: 20_000, 3: 500, 4: 20_000, 5: 500})
    (finding,) = found(MISSING_CACHE, run)
    assert finding.title == "3 queries read json file:/data/orders and worked out the same rows"
    assert finding.wasted_wall_ms == 40_000
    assert finding.wasted_core_ms == 160_000
    assert finding.where.stage in (2, 4)
    assert ".cache()" in finding.advice[0].text
    assert "job.py:7" in finding.summary


def test_of_each_query_no_more_counts_than_the_cheapest_took() -> None:
    queries = [_query(0, "k", _scan(0)), _query(2, "l", _scan(2))]
    (finding,) = found(MISSING_CACHE, run_with(*queries, stage_ms={0: 10_000, 1: 500, 2: 40_000, 3: 500}))
    assert finding.wasted_wall_ms == 10_000


def test_whole_queries_are_told_at_their_top() -> None:
    queries = [_query(0, "k", _scan(0)), _query(2, "k", _scan(2))]
    (finding,) = found(MISSING_CACHE, run_with(*queries, stage_ms={0: 10_000, 1: 5_000, 2: 10_000, 3: 5_000}))
    assert finding.wasted_wall_ms == 15_000


def test_other_rows_are_not_the_same() -> None:
    for other in (_scan(2, table="users"), _scan(2, rows=501), _scan(2, kind="csv")):
        queries = [_query(0, "k", _scan(0)), _query(2, "l", other)]
        assert not found(MISSING_CACHE, run_with(*queries, stage_ms={0: 20_000, 1: 500, 2: 20_000, 3: 500}))


def test_failed_queries_and_nested_ones_do_not_count() -> None:
    queries = [_query(0, "k", _scan(0)), _query(2, "l", _scan(2))]
    for facts in ({"status": "failed"}, {"root_execution_id": 0}):
        run = run_with(*queries, stage_ms={0: 20_000, 1: 500, 2: 20_000, 3: 500}, sql=[{}, facts])
        assert not found(MISSING_CACHE, run)


def test_reading_a_columnar_file_twice_is_cheap() -> None:
    def query(stage: int) -> Op:
        return op(
            "HashAggregate", _scan(stage, kind="parquet"), stages=[stage], detail=f"HashAggregate(keys=[{stage}])"
        )

    twice = dict.fromkeys((0, 1), 20000)
    assert not found(MISSING_CACHE, run_with(*map(query, twice), stage_ms=twice))
    often = dict.fromkeys(range(5), 15000)
    (finding,) = found(MISSING_CACHE, run_with(*map(query, often), stage_ms=often))
    assert finding.confidence < 0.5


def test_what_is_cached_is_not_read_again() -> None:
    def query(stage: int) -> Op:
        return op("HashAggregate", op("InMemoryTableScan", _scan(0), stages=[stage]), stages=[stage])

    stages = {0: 20_000, 1: 20_000, 2: 20_000}
    assert not found(MISSING_CACHE, run_with(query(1), query(2), stage_ms=stages))


def test_same_part_twice_in_one_plan() -> None:
    both = op("Union", _query(0, "k", _scan(0, "a")), _query(2, "l", _scan(2, "b")))
    run = run_with(both, stage_ms={0: 20_000, 1: 500, 2: 20_000, 3: 500}, conf={"spark.sql.exchange.reuse": "false"})
    (finding,) = found(REPEATED_PART, run)
    assert finding.title == "SQL execution 0 worked out the same rows of json file:/data/orders 2 times"
    assert finding.wasted_wall_ms == 20_000
    assert [advice.setting for advice in finding.advice] == ["spark.sql.exchange.reuse", None]
    assert not found(MISSING_CACHE, run)


def test_a_reused_shuffle_is_not_a_second_time() -> None:
    shuffle = op("Exchange", _scan(0), stages=[0, 1], written=500)
    join = op("SortMergeJoin", shuffle, op("ReusedExchange"), stages=[1])
    assert not found(REPEATED_PART, run_with(join, stage_ms={0: 20_000, 1: 30_000}))


def test_spark_read_it_twice_in_one_plan() -> None:
    (finding,) = found(REPEATED_PART, spark_wrote("plan_shapes"))
    assert "2 times" in finding.title
    assert "Filter" in finding.evidence[0].text
    assert not found(MISSING_CACHE, spark_wrote("plan_shapes"))


def test_columns_of_one_name_may_be_worked_out_differently() -> None:
    def query(stage: int, expression: str) -> Op:
        project = op("Project", _scan(stage), stages=[stage], detail=f"Project [{expression} AS key#{stage}, b#9]")
        detail = f"HashAggregate(keys=[key#{stage}], functions=[count(1)])"
        return op("HashAggregate", project, stages=[stage], detail=detail)

    for second, operators in (("(a#1 % 10)", 2), ("upper(a#1, x#3)", 1)):
        run = run_with(query(0, "(a#1 % 10)"), query(2, second), stage_ms={0: 20_000, 2: 20_000})
        (finding,) = found(MISSING_CACHE, run)
        assert f"share {operators} operator" in finding.summary


def test_spark_read_it_six_times() -> None:
    (finding,) = found(MISSING_CACHE, fault_log("repeated_scan"))
    assert "6 queries read json" in finding.title
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 1_000
    assert not found(MISSING_CACHE, fault_log("repeated_scan_healthy"))
    assert not found(REPEATED_PART, fault_log("repeated_scan"))
