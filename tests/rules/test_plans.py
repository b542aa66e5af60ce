from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from emberscope.rules.plans import Plan, plans
from tests.runs import run_of, spark_wrote, without


def test_plan_of_a_join() -> None:
    plan = plans(spark_wrote("skew_spill_python"))[0]
    join = next(plan.named("SortMergeJoin"))
    assert (plan.description, plan.call_site) == ("join step", "collect at findings_skew_spill_python.py:23")
    assert plan.where.document() == {"sql": 0, "line": "findings_skew_spill_python.py:23"}
    assert plan.words == "SQL execution 0 “join step”, collect at findings_skew_spill_python.py:23"
    assert not plan.failed
    assert plan.text.startswith("== Physical Plan ==")
    assert plan.started_ms is not None
    assert plan.ended_ms is not None
    assert plan.ended_ms > plan.started_ms
    assert [child.name for child in join.children] == ["Sort", "Sort"]
    assert join.parent is not None
    assert join.parent.name == "Project"
    assert join.rows == 3_000_000
    assert [child.rows_below for child in join.children] == [3_000_000, 1000]
    assert join.stage_ids == (4,)
    assert join.codegen_id == 5
    assert join.code_ms == 19_989
    assert join.plain_detail == "SortMergeJoin [key], [key], Inner"
    exchange = join.children[0].children[0]
    assert exchange.metrics["shuffle write time"] == 2980.353783, "from ns"
    assert exchange.metrics["data size"] == 264_000_000
    assert plan.stage_ids >= {0, 1, 4, 8}


def test_what_is_no_operator_is_left_out() -> None:
    plan = plans(spark_wrote("none"))[0]
    assert not [node for node in plan.nodes if node.name in ("AdaptiveSparkPlan", "WholeStageCodegen")]
    assert [root.parent for root in plan.roots] == [None]
    places = {id(node): place for place, node in enumerate(plan.nodes)}
    assert all(places[id(node)] < places[id(child)] for node in plan.nodes for child in node.children)
    assert list(plan.roots[0].below()) == list(plan.nodes[1:])


def test_reused_subplan_is_there_once() -> None:
    rows = [
        _node(0, None, "SortMergeJoin"),
        _node(1, 0, "Exchange"),
        _node(2, 1, "Scan parquet"),
        _node(3, 0, "ReusedExchange [id=1]"),
        _node(4, 3, "Exchange"),
        _node(5, 4, "Scan parquet"),
    ]
    metrics = [_metric(1, 10, 7), _metric(2, 11, 9), _metric(4, 10, 7), _metric(5, 11, 9)]
    plan = plans(run_of(plan_nodes=rows, plan_metrics=metrics))[0]
    assert [node.node_id for node in plan.nodes] == [0, 1, 2, 3]
    assert plan.nodes[3].same_as is plan.nodes[1]
    assert plan.nodes[3].rows_below == 7


def test_cached_plan_is_told() -> None:
    rows = [_node(0, None, "InMemoryTableScan"), _node(1, 0, "Range"), _node(2, None, "Range")]
    assert [node.cached for node in plans(run_of(plan_nodes=rows))[0].nodes] == [False, True, False]


def test_units_and_attempts() -> None:
    metrics = [
        {**_metric(0, 1, 5_000_000), "name": "sort time", "metric_type": "nsTiming", "last_attempt_value": 1},
        {**_metric(0, 2, 20), "name": "number of output rows", "last_attempt_value": 10},
        {**_metric(0, 3, 7), "name": "scan time total (min, med, max)", "metric_type": "timing"},
        {**_metric(0, 4, None), "name": "spill size", "metric_type": "size"},
        {**_metric(0, 5, -1), "name": "data size (bytes)", "metric_type": "size"},
        {**_metric(None, 6, 3), "name": "of no operator"},
    ]
    (node,) = plans(run_of(plan_nodes=[_node(0, None, "Sort")], plan_metrics=metrics))[0].nodes
    assert node.metrics == {"sort time": 5.0, "number of output rows": 10, "scan time": 7}


def test_execution_without_a_plan_and_plan_without_an_execution() -> None:
    row = {"sql_execution_id": 4, "description": "load", "started_ms": 5, "status": "failed", "root_execution_id": 2}
    found = plans(run_of(sql_executions=[row], plan_nodes=[_node(0, None, "Range")]))
    assert set(found) == {0, 4}
    assert found[4].nodes == ()
    assert found[4].failed
    assert found[4].root_sql == 2
    assert (found[0].started_ms, found[0].call_site, found[0].where.document()) == (None, "", {"sql": 0})
    assert plans(without(spark_wrote("none"), "sql_executions", "plan_nodes", "plan_metrics", "jobs")) == {}


def test_deep_plan() -> None:
    rows = [_node(i, i - 1 if i else None, "Project") for i in range(5_000)]
    (plan,) = plans(run_of(plan_nodes=rows)).values()
    assert len(list(plan.roots[0].below())) == 4_999
    assert plan.nodes[0].rows_below is None
    assert "Project" in repr(plan.nodes[0])


_ROWS = st.fixed_dictionaries(
    {
        "sql_execution_id": st.none() | st.integers(0, 2),
        "node_id": st.none() | st.integers(0, 8),
        "parent_node_id": st.none() | st.integers(0, 8),
        "name": st.sampled_from(["", "Sort", "ReusedExchange", "WholeStageCodegen (1)", "InMemoryTableScan"]),
        "codegen_id": st.none() | st.just(1),
        "stage_ids": st.none() | st.lists(st.integers(0, 3), max_size=2),
    }
)


@settings(deadline=None)
@given(st.lists(_ROWS, max_size=12), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3)), max_size=8))
def test_any_tables_are_trees(rows: list[dict[str, object]], counted: list[tuple[int, int]]) -> None:
    found = plans(run_of(plan_nodes=rows, plan_metrics=[_metric(node, key, 1) for node, key in counted]))
    for plan in found.values():
        _is_forest(plan)


def _is_forest(plan: Plan) -> None:
    ids = [node.node_id for node in plan.nodes]
    assert len(set(ids)) == len(ids)
    reached = [node.node_id for root in plan.roots for node in (root, *root.below())]
    assert sorted(reached) == sorted(ids)
    assert all(child.parent is node for node in plan.nodes for child in node.children)


def _node(node_id: int, parent: int | None, name: str, **more: object) -> dict[str, object]:
    row = {"sql_execution_id": 0, "node_id": node_id, "parent_node_id": parent, "name": name, "detail": name}
    return {**row, **more}


def _metric(node_id: int | None, accumulator: int, value: int | None) -> dict[str, object]:
    row = {"sql_execution_id": 0, "node_id": node_id, "accumulator_id": accumulator, "value": value}
    return {**row, "name": "number of output rows", "metric_type": "sum", "last_attempt_value": None}
