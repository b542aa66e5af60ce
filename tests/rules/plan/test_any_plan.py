"""Laws of all rules about plans: any plan is answered, however large and however little of it is known."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emberscope.rules.catalog import RULES
from emberscope.rules.evaluate import evaluate
from tests.rules.plan.tables import Op, op, run_with, without_floors
from tests.runs import with_rows

OF_PLANS = tuple(without_floors(rule) for rule in RULES if rule.code[0] == "F" or rule.code in ("C10", "C11"))
_NAMES = st.sampled_from(
    (
        *("SortMergeJoin", "BroadcastNestedLoopJoin", "PhotonBroadcastHashJoin", "Exchange", "ReusedExchange", "Sort"),
        *("HashAggregate", "ObjectHashAggregate", "Project", "Filter", "Window", "Expand", "Generate", "Scan json"),
        *("Scan parquet", "InMemoryTableScan", "WholeStageCodegen (1)", "AdaptiveSparkPlan", "BatchEvalPython", ""),
        *("GpuProject", "ColumnarToRow", "Union", "BatchScan"),
    )
)
_DETAILS = st.sampled_from(
    (
        None,
        "[a#1, b#2], [c#3, d#4], Inner",
        "hashpartitioning(a#1, 200)",
        "SinglePartition",
        "Location: InMemoryFileIndex(1 paths)[file:/x], PartitionFilters: [], DataFilters: [a#1 = 3]",
        "[f(a#1)#2], [pythonUDF0#3]",
        "x" * 2_000,
        "((([",
        "keys=[], functions=[count(1)]",
        "[(a#1 + b#2) AS key#5, c#3",
    )
)
_COUNTED = st.dictionaries(
    st.sampled_from(
        (
            *("number of output rows", "shuffle records written", "data size", "sort time", "duration"),
            *("number of sort fallback tasks", "spill size", "size of files read", "time to run Python workers"),
        )
    ),
    st.none() | st.integers(-1, 1 << 50),
    max_size=3,
)


@st.composite
def _plans(draw: st.DrawFn, depth: int = 4) -> Op:
    below = [draw(_plans(depth - 1)) for _ in range(draw(st.integers(0, 2)) if depth else 0)]
    name, detail = draw(_NAMES), draw(_DETAILS)
    stages = draw(st.lists(st.integers(0, 3), max_size=2))
    said = None if detail is None else f"{name} {detail}"
    return Op(name, stages, draw(_COUNTED), below, said, draw(st.none() | st.integers(1, 2)))


@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=60)
@given(st.lists(_plans(), min_size=1, max_size=3), st.integers(0, 60_000), st.booleans())
def test_prop_any_plan_is_answered(plans: list[Op], stage_ms: int, known: bool) -> None:
    run = run_with(*plans, stage_ms=dict.fromkeys(range(4), stage_ms), length_ms=100_000 if known else None)
    for ranked in evaluate(run, OF_PLANS).findings:
        assert ranked.finding.evidence
        assert ranked.finding.advice
        assert (ranked.finding.wasted_core_ms or 0) >= 0
        assert known or ranked.finding.wasted_wall_ms is None


def _deep(count: int, names: tuple[str, ...]) -> Any:
    run = run_with(op("Scan json", stages=[0], rows=5), stage_ms={0: 20_000})
    nodes = run.tables["plan_nodes"]
    rows = [
        {
            "sql_execution_id": 0,
            "node_id": n,
            "parent_node_id": n - 1 if n else None,
            "name": names[n % len(names)],
            "detail": f"{names[n % len(names)]} [a#{n}]",
            "stage_ids": [0],
        }
        for n in range(count)
    ]
    return with_rows(run, "plan_nodes", type(nodes).from_pylist(rows, schema=nodes.schema))


def test_a_plan_of_5000_operators() -> None:
    for names in (("Project",), ("Filter", "Project", "SortMergeJoin", "Exchange", "Sort", "HashAggregate")):
        diagnosis = evaluate(_deep(5_000, names), OF_PLANS)
        assert diagnosis.asked == len(OF_PLANS)
