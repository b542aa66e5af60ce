from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emberscope.report.plan_tree import cut, plan_of
from tests.report.plans import metric, node, plans
from tests.runs import spark_wrote


@given(plans(), st.integers(1, 12))
def test_prop_every_operator_is_shown_once_or_said_to_be_left_out(given_plan, most):
    rows, metrics = given_plan
    plan = plan_of(rows, metrics)
    ids = [operator.node_id for operator in plan.operators]
    assert ids == sorted(set(ids))
    assert all(o.parent is None or o.parent < place for place, o in enumerate(plan.operators))
    assert {o.same_as for o in plan.operators} - {None} <= {row["node_id"] for row in rows}
    assert [o.parent for o in plan.operators].count(None) == 1
    without_frames = {row["node_id"] for row in rows if not row["name"].startswith("WholeStage")}
    assert set(ids) - without_frames <= set(ids[:1])
    if not plan.repeated:
        assert without_frames <= set(ids)
    short = cut(plan, most)
    assert len(short.operators) == min(most, len(plan.operators))
    assert len(short.operators) + sum(o.left_out for o in short.operators) == len(plan.operators)
    names = {o.node_id: o for o in plan.operators}
    for operator in short.operators:
        above = (
            plan.operators[names[operator.node_id].parent].node_id
            if names[operator.node_id].parent is not None
            else None
        )
        shown = short.operators[operator.parent].node_id if operator.parent is not None else None
        assert shown == above


def test_a_frame_is_no_box_and_its_operators_know_it():
    rows = [
        node(0, None, "AdaptiveSparkPlan"),
        node(1, 0, "WholeStageCodegen (2)", codegen_id=2, stage_ids=[7]),
        node(2, 1, "HashAggregate", codegen_id=2),
        node(3, 2, "Exchange"),
        node(4, 3, "WholeStageCodegen (1)", codegen_id=1),
        node(5, 4, "Range", codegen_id=1),
    ]
    plan = plan_of(rows, {1: [metric(1, "duration", "timing", 1500)]}, {1: 40})
    assert [(o.name, o.parent, o.code) for o in plan.operators] == [
        ("HashAggregate", None, 0),
        ("Exchange", 0, None),
        ("Range", 1, 1),
    ]
    assert [(c.number, c.time_ms, c.stages, c.samples) for c in plan.codes] == [(2, 1500, (7,), 40), (1, None, (), 0)]


def test_what_is_used_twice_is_shown_where_it_is_not_reused():
    """Adaptive execution lists a reused exchange with the plan below it once more, by the same accumulators."""
    rows = [
        node(0, None, "Union"),
        node(1, 0, "ReusedExchange", "ReusedExchange [k#1], Exchange x, [plan_id=5]"),
        node(2, 1, "Exchange", "Exchange x, [plan_id=5]"),
        node(3, 2, "Range"),
        node(4, 0, "Exchange", "Exchange x, [plan_id=5]"),
        node(5, 4, "Range"),
    ]
    metrics = {n: [metric(a, "number of output rows", "sum", 9)] for n, a in ((2, 1), (3, 2), (4, 1), (5, 2))}
    plan = plan_of(rows, metrics)
    assert [(o.node_id, o.same_as) for o in plan.operators] == [(0, None), (1, 4), (4, None), (5, None)]
    assert plan.repeated == 1


def test_a_reused_exchange_alone_is_found_by_its_number_or_its_text():
    for detail, again in (
        ("Exchange hash(k#1), [id=#77]", "ReusedExchange [k#1, v#2], Exchange hash(k#1), [id=#77]"),
        ("Exchange hash(k#1, 200)", "ReusedExchange [k#1, v#2], Exchange hash(k#1, 200)"),
    ):
        plan = plan_of(
            [node(0, None, "Union"), node(1, 0, "Exchange", detail), node(2, 0, "ReusedExchange", again)], {}
        )
        assert [o.same_as for o in plan.operators] == [None, None, 1]


def test_the_plan_that_spark_logged():
    run = spark_wrote("skew_spill_python")
    rows = [row for row in run.tables["plan_nodes"].to_pylist() if row["sql_execution_id"] == 0]
    plan = plan_of(rows, {})
    assert [o.name for o in plan.operators][:5] == [
        "HashAggregate",
        "Exchange",
        "HashAggregate",
        "Project",
        "SortMergeJoin",
    ]
    assert sorted(code.number for code in plan.codes) == [1, 2, 3, 4, 5, 6]


def test_the_heaviest_are_kept_of_a_plan_that_is_too_large():
    rows = [node(0, None, "Union"), *(node(i, 0, "Scan") for i in range(1, 5_000))]
    plan = cut(plan_of(rows, {4_000: [metric(1, "scan time", "timing", 5)]}), 10)
    assert len(plan.operators) == 10
    assert 4_000 in {o.node_id for o in plan.operators}
    assert plan.operators[0].left_out == 4_990


def test_a_chain_of_thousands():
    rows = [node(i, i - 1 if i else None, "Project") for i in range(5_000)]
    plan = cut(plan_of(rows, {}), 400)
    assert plan.operators[-1].left_out == 4_600
