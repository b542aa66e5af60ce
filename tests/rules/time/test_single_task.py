from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.time.single_task import RULE
from tests.rules.time.shapes import SHUFFLE, SQL, one_stage
from tests.runs import found

SINGLE = {"node_id": 9, "name": "Exchange", "detail": "Exchange SinglePartition, ENSURE_REQUIREMENTS"}


def node(name: str, detail: str) -> dict[str, Any]:
    return {"node_id": 1, "name": name, "detail": detail}


@pytest.mark.parametrize(
    ("nodes", "reason", "advice"),
    [
        ([node("Sort", "Sort [day#3 ASC NULLS FIRST], true, 0"), SINGLE], "sorted by day", "orderBy(…).limit(n)"),
        ([node("Window", "Window [rank() AS r], [day#3]"), SINGLE], "no column to partition by", "`partitionBy`"),
        ([node("HashAggregate", "HashAggregate(keys=[], …)"), SINGLE], "has no keys", "aggregate"),
        ([node("Coalesce", "Coalesce 1")], "one partition (coalesce)", "`repartition(1)`"),
    ],
)
def test_the_operator_that_needs_all_rows_is_named(nodes: list[dict[str, Any]], reason: str, advice: str) -> None:
    (finding,) = found(RULE, one_stage(1, 24_000, of_stage=SQL, of_task=SHUFFLE, nodes=nodes))
    assert finding.wasted_wall_ms == 21_000
    assert reason in finding.summary
    assert advice in finding.advice[0].text


def test_a_file_that_was_not_split() -> None:
    (finding,) = found(RULE, one_stage(1, 24_000, of_stage=SQL, of_task={"input_bytes": 120 << 20}))
    assert "what it read was not split" in finding.title
    assert any("cannot be split" in a.text for a in finding.advice)


def test_an_rdd_that_was_coalesced() -> None:
    (finding,) = found(RULE, one_stage(1, 24_000, of_stage={"rdd_names": ["CoalescedRDD", "coalesce"]}))
    assert "the program asked for one partition" in finding.title


@pytest.mark.parametrize(
    ("count", "run_ms", "cores", "of_task", "why"),
    [
        (2, 24_000, 8, {}, "two tasks"),
        (1, 5_000, 8, {}, "too short"),
        (1, 24_000, 1, {}, "there is one core"),
        (1, 24_000, 8, {"output_bytes": 1 << 20}, "the write is told by another rule"),
    ],
)
def test_ignores(count: int, run_ms: float, cores: int, of_task: dict[str, Any], why: str) -> None:
    assert found(RULE, one_stage(count, run_ms, cores=cores, of_task=of_task)) == [], why
