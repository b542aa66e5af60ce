from __future__ import annotations

import pytest

from emberscope.rules.evaluate import evaluate
from emberscope.rules.plan.exploding_join import RULE
from emberscope.tables.run import Run
from tests.rules.fault_logs import fault_log
from tests.rules.plan.tables import Op, op, run_with
from tests.runs import found


def _join(left: float | None, right: float | None, out: float | None, name: str = "SortMergeJoin", **more: str) -> Run:
    sides = [op("Exchange", op("Scan parquet", stages=[0]), stages=[0, 1], **_rows(n)) for n in (left, right)]
    detail = more.get("detail", f"{name} [day#1, shop#2], [day#7, shop#8], Inner")
    joined = op(name, *sides, stages=[1], detail=detail, **_rows(out))
    return run_with(op("HashAggregate", joined, stages=[1]), stage_ms={0: 2_000, 1: 40_000})


def _rows(count: float | None) -> dict[str, float]:
    return {} if count is None else {"rows": count}


def test_exploding_join() -> None:
    (finding,) = found(RULE, _join(1_000, 200_000, 50_000_000))
    assert finding.title == "A join by day, shop made 50,000,000 rows of 200,000"
    assert finding.where.document() == {"sql": 0, "stage": 1, "stage_attempt": 0, "line": "job.py:7"}
    assert finding.wasted_wall_ms is not None
    assert 38_000 < finding.wasted_wall_ms <= 40_000, "all but a 250th of the stage"
    assert "query 0" in finding.summary
    assert "collect at job.py:7" in finding.summary
    assert "by day, shop (collect at job.py:7)" in finding.advice[0].text


@pytest.mark.parametrize(
    ("left", "right", "out"),
    [
        (1_000_000, 1_000_000, 2_000_000),  # a few rows for each
        (10, 20, 200),  # small
        (None, 200_000, 50_000_000),
        (1_000, 200_000, None),
        (0, 0, 50_000_000),
    ],
)
def test_joins_that_do_not_explode(left: float | None, right: float | None, out: float | None) -> None:
    assert not found(RULE, _join(left, right, out))


def test_join_without_equality() -> None:
    name = "BroadcastNestedLoopJoin"
    detail = f"{name} BuildRight, Inner, ((at#1 >= from#7) AND (at#1 < to#8))"
    (finding,) = found(RULE, _join(100_000, 2_000, 100_000, name, detail=detail))
    assert finding.title == "A join without equality compared 200,000,000 pairs of rows"
    assert "equality" in finding.advice[0].text
    assert not found(RULE, _join(100_000_000, 1, 100_000_000, name, detail=detail)), "one row is no second table"


def test_nothing_where_the_stage_is_short() -> None:
    exchange = op("Exchange", op("Scan parquet", stages=[0]), stages=[0, 1], rows=1_000)
    joined = op("SortMergeJoin", exchange, exchange, stages=[1], rows=50_000_000)
    assert not found(RULE, run_with(joined, stage_ms={0: 100, 1: 900}))


def test_rows_that_a_shuffle_carries_on_count_too() -> None:
    sides = [op("Exchange", op("Scan parquet", stages=[0]), stages=[0, 1], rows=100_000) for _ in range(2)]
    joined = op("SortMergeJoin", *sides, stages=[1], rows=50_000_000, detail="SortMergeJoin [a#1], [b#2], Inner")
    top = op("Window", op("Exchange", joined, stages=[1, 2], written=50_000_000), stages=[2])
    (finding,) = found(RULE, run_with(top, stage_ms={0: 1_000, 1: 20_000, 2: 30_000}))
    assert "by a = b" in finding.title
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 45_000


def test_without_metrics_nothing_is_said() -> None:
    assert not found(RULE, run_with(Op("SortMergeJoin", [1]), stage_ms={1: 50_000}))


def test_spark_made_it() -> None:
    first = evaluate(fault_log("exploding_join")).findings[0]
    assert first.rule.code == "F2"
    assert "by country" in first.finding.title
    assert not found(RULE, fault_log("exploding_join_healthy"))
