from __future__ import annotations

from emberscope.rules.plan.row_blow_up import RULE
from tests.rules.plan.tables import Op, op, run_with, without_floors
from tests.runs import found, spark_wrote


def _window(partitioning: str, rows: float = 5_000_000) -> Op:
    shuffle = op(
        "Exchange", op("Scan parquet", stages=[0]), stages=[0, 1], written=rows, detail=f"Exchange {partitioning}"
    )
    return op("Window", op("Sort", shuffle, stages=[1]), stages=[1], detail="Window [row_number() ...], [at#1 ASC]")


def test_window_without_partition() -> None:
    (finding,) = found(RULE, run_with(_window("SinglePartition"), stage_ms={0: 1_000, 1: 40_000}, tasks=1))
    assert finding.title == "A window without PARTITION BY took 5,000,000 rows into one task"
    assert finding.wasted_wall_ms == 30_000, "four cores in place of one"
    assert "job.py:7" in finding.advice[0].text


def test_windows_that_are_well() -> None:
    for plan in (_window("hashpartitioning(day#1, 200)"), _window("SinglePartition", rows=1_000)):
        assert not found(RULE, run_with(plan, stage_ms={0: 1_000, 1: 40_000}, tasks=1))
    assert not found(RULE, run_with(_window("SinglePartition"), stage_ms={0: 100, 1: 400}, tasks=1))


def test_copies_for_distinct_counts() -> None:
    def expand(rows: float, detail: str) -> Op:
        return op("Expand", op("Scan parquet", stages=[0], rows=2_000_000), stages=[0], rows=rows, detail=detail)

    (finding,) = found(RULE, run_with(expand(10_000_000, "Expand [[a#1, null, 1]], [a, b, gid]"), stage_ms={0: 50_000}))
    assert finding.title == "2,000,000 rows became 10,000,000 for distinct counts"
    assert finding.wasted_wall_ms == 40_000
    assert "approx_count_distinct" in finding.advice[0].text
    (finding,) = found(RULE, run_with(expand(8_000_000, "Expand [..., spark_grouping_id#3]"), stage_ms={0: 50_000}))
    assert "grouping sets" in finding.title
    assert not found(RULE, run_with(expand(4_000_000, "Expand"), stage_ms={0: 50_000}))


def test_exploded_for_nothing() -> None:
    def exploded(kept: float) -> Op:
        explode = op("Generate", op("Scan json", stages=[0], rows=10), stages=[0], rows=20_000_000)
        return op("Filter", op("Project", explode, stages=[0]), stages=[0], rows=kept)

    (finding,) = found(RULE, run_with(exploded(1_000_000), stage_ms={0: 20_000}))
    assert finding.title == "20,000,000 exploded rows, of which 1,000,000 were kept"
    assert finding.wasted_wall_ms == 19_000
    assert not found(RULE, run_with(exploded(15_000_000), stage_ms={0: 20_000}))


def test_spark_planned_it() -> None:
    titles = [finding.title for finding in found(without_floors(RULE), spark_wrote("plan_shapes"))]
    assert titles == [
        "A window without PARTITION BY took 1,200,000 rows into one task",
        "1,200,000 rows became 3,600,000 for distinct counts",
        "1,200,000 exploded rows, of which 23,524 were kept",
    ]
    assert not found(without_floors(RULE), spark_wrote("none"))
