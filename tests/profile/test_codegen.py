"""Generated code and plans: plans as real Spark logged them, frames as recordings of Spark name them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.codegen import (
    codegen_stage_by_node,
    codegen_stage_of,
    generated_code_words,
    plan_node_of_samples,
    whole_stages,
)
from emberscope.tables.plan_nodes import PLAN_NODES
from tests.profile.strategies import recording
from tests.runs import spark_wrote

CLASS = "org.apache.spark.sql.catalyst.expressions.GeneratedClass$GeneratedIterator"
PLANS = spark_wrote("skew_spill_python").tables["plan_nodes"]


def generated(number):
    return f"{CLASS}ForCodegenStage{number}.processNext"


@pytest.mark.parametrize(
    ("name", "number"),
    [
        (generated(3), 3),
        (f"{CLASS}ForCodegenStage12$hashAgg_FastHashMap_0.findOrInsert", 12),
        (f"{CLASS}ForCodegenStage2$NestedClass1.sort_addToSorter_0", 2),
        (f"{CLASS}ForCodegenStage7.processNext:33", 7),
        (f"{CLASS}.processNext", None),
        ("org.apache.spark.sql.catalyst.expressions.GeneratedClass$SpecificUnsafeProjection.apply", None),
        ("org.apache.spark.sql.execution.WholeStageCodegenExec.doCodeGen", None),
        (f"{CLASS}ForCodegenStage.processNext", None),
        (f"{CLASS}ForCodegenStage99999999999999999999.processNext", None),
    ],
)
def test_the_number_is_in_the_name_of_the_class(name, number):
    assert codegen_stage_of(name) == number


def test_whole_stages_of_a_real_plan():
    found = {(whole.sql_execution_id, whole.codegen_id): whole for whole in whole_stages(PLANS)}
    joined = found[0, 5]
    assert joined.words == "WholeStageCodegen (5): HashAggregate, Project, SortMergeJoin"
    assert joined.stage_ids == {4}
    assert found[0, 1].operators == ("Project", "Filter", "Range")
    assert found[0, 3].operators == ("Sort",)
    assert len(found) == 9


def test_a_sample_finds_the_node_of_its_own_execution():
    samples = [
        {"event": "cpu", "count": 1, "sql_execution_id": sql, "stage_id": stage, "stack": ["a.Main.run", *stack]}
        for sql, stage, stack in [
            (0, 0, [generated(1)]),
            (1, 9, [generated(1), "java.util.HashMap.get"]),
            (0, 4, [generated(5), "o.a.Sort.next", generated(3), "x.Y.z"]),
            (None, None, [generated(1)]),
            (7, 1, [generated(1)]),
            (0, 0, []),
        ]
    ]
    recorded = recording(samples)
    codes, nodes = plan_node_of_samples(recorded.samples, recorded.stacks, recorded.frames, PLANS)
    assert codes.tolist() == [1, 1, 3, 1, 1, -1], "the generated code nearest to the leaf is at work"
    assert nodes.tolist() == [11, 8, 8, -1, -1, -1]
    none = PLAN_NODES.empty()
    assert set(plan_node_of_samples(recorded.samples, recorded.stacks, recorded.frames, none)[1].tolist()) == {-1}


def _plan(*nodes):
    columns = ("node_id", "parent_node_id", "name", "codegen_id", "stage_ids")
    return PLAN_NODES.from_rows([{"sql_execution_id": 0} | dict(zip(columns, node, strict=True)) for node in nodes])


def test_of_two_nodes_with_one_number_the_stage_tells_which():
    plan = _plan(
        (0, None, "WholeStageCodegen (1)", 1, [5]),
        (1, 0, "Filter", 1, [5]),
        (2, 1, "Subquery", None, []),
        (3, 2, "WholeStageCodegen (1)", 1, [2]),
        (4, 3, "Range", 1, [2]),
    )
    rows = [
        {"event": "cpu", "count": 1, "sql_execution_id": 0, "stage_id": stage, "stack": [generated(1)]}
        for stage in (5, 2, 9)
    ]
    recorded = recording(rows)
    assert plan_node_of_samples(recorded.samples, recorded.stacks, recorded.frames, plan)[1].tolist() == [0, 3, -1]
    words = generated_code_words(recorded.frames, plan)
    assert words == {0: {1: "WholeStageCodegen (1): Filter or WholeStageCodegen (1): Range"}}


def test_a_page_is_told_of_the_numbers_that_it_shows():
    recorded = recording([{"event": "cpu", "count": 1, "stack": [generated(2)]}])
    assert generated_code_words(recorded.frames, PLANS) == {
        0: {2: "WholeStageCodegen (2): Project, Range"},
        1: {2: "WholeStageCodegen (2): HashAggregate, Project"},
    }
    assert generated_code_words(recorded.frames, None) == {}
    assert generated_code_words(recording([{"stack": ["a.B.c"]}]).frames, PLANS) == {}


@given(st.lists(st.lists(st.sampled_from([generated(1), generated(2), "a.B.c"]), max_size=6), min_size=1, max_size=6))
def test_prop_the_code_at_work_is_the_last_of_the_stack(stacks):
    recorded = recording([{"event": "cpu", "count": 1, "stack": stack} for stack in stacks])
    by_node = codegen_stage_by_node(recorded.stacks, recorded.frames)
    found = by_node[recorded.samples["stack"].to_numpy()].tolist()
    numbers = [[n for n in map(codegen_stage_of, stack) if n is not None] for stack in stacks]
    assert found == [several[-1] if several else -1 for several in numbers]
