from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emberscope.report.plan_changes import changes, changes_words, initial_plan
from emberscope.report.plan_tree import Plan, plan_of
from tests.report.plans import metric, node
from tests.runs import spark_wrote

TEXT = """== Physical Plan ==
AdaptiveSparkPlan (12)
+- == Final Plan ==
   * BroadcastHashJoin Inner BuildRight (5)
   :- AQEShuffleRead (2)
   :  +- Exchange (1)
   +- BroadcastExchange (4)
      +- Range (3)
+- == Initial Plan ==
   SortMergeJoin Inner (11)
   :- Sort (8)
   :  +- Exchange (7)
   :     +- Range (6)
   +- Sort (10)
      +- Scan parquet db.small (9)


(7) Exchange
Input [1]: [k#1L]
Arguments: hashpartitioning(k#1L, 8), ENSURE_REQUIREMENTS, [plan_id=36]

(10) Sort
Arguments: [k#2L ASC NULLS FIRST], false, 0

(11) SortMergeJoin
Left keys [1]: [k#1L]
Right keys [1]: [k#2L]
Join type: Inner
Join condition: None

===== Subqueries =====
Subquery:1 Hosting operator id = 5
AdaptiveSparkPlan (40)
+- == Initial Plan ==
   HashAggregate (39)
"""


def initial() -> Plan:
    plan = initial_plan(TEXT)
    assert plan is not None
    return plan


def test_the_plan_before_it_ran_is_in_sparks_text() -> None:
    assert [(o.name, o.parent) for o in initial().operators] == [
        ("SortMergeJoin", None),
        ("Sort", 0),
        ("Exchange", 1),
        ("Range", 2),
        ("Sort", 0),
        ("Scan parquet db.small", 4),
    ]
    assert initial().operators[2].detail == "Exchange hashpartitioning(k#1L, 8), ENSURE_REQUIREMENTS, [plan_id=36]"


def test_there_is_none_without_adaptive_execution() -> None:
    assert initial_plan(None) is None
    assert initial_plan("== Physical Plan ==\n*(1) Range (0, 10)") is None


def test_the_older_form_has_no_numbers() -> None:
    plan = initial_plan(
        "AdaptiveSparkPlan isFinalPlan=true\n+- == Final Plan ==\n   *(1) Range (0, 1)\n+- == Initial Plan ==\n"
        "   Sort [k#1 ASC NULLS FIRST], true, 0\n   +- Exchange rangepartitioning(k#1 ASC NULLS FIRST, 200), true\n"
    )
    assert plan is not None
    assert [(o.name, o.parent) for o in plan.operators] == [("Sort", None), ("Exchange", 0)]


def test_what_spark_logged() -> None:
    rows = spark_wrote("skew_spill_python").tables["sql_executions"].to_pylist()
    (text,) = [row["physical_plan"] for row in rows if row["sql_execution_id"] == 0]
    plan = initial_plan(text)
    assert plan is not None
    assert [o.name for o in plan.operators].count("Exchange") == 3
    assert len(plan.operators) == 14


@given(st.lists(st.sampled_from([*TEXT.split("\n"), "   +- x", "+- == Initial Plan ==", "(1) a", ""]), max_size=20))
def test_prop_any_text_is_read(lines: list[str]) -> None:
    plan = initial_plan("\n".join(lines))
    assert plan is None or all(o.parent is None or o.parent < place for place, o in enumerate(plan.operators))


def test_what_adaptive_execution_did() -> None:
    rows = [
        node(0, None, "BroadcastHashJoin", "BroadcastHashJoin [k#1L], [k#2L], Inner, BuildRight, false"),
        node(1, 0, "AQEShuffleRead", "AQEShuffleRead coalesced and skewed"),
        node(2, 1, "Exchange", "Exchange hashpartitioning(k#1L, 8), ENSURE_REQUIREMENTS, [plan_id=1]"),
        node(3, 0, "AQEShuffleRead", "AQEShuffleRead local"),
        node(4, 3, "Exchange", "Exchange hashpartitioning(j#2L, 8), ENSURE_REQUIREMENTS, [plan_id=2]"),
        node(5, 0, "LocalTableScan", "LocalTableScan <empty>, [a#1]"),
    ]
    counted = {
        1: [
            metric(1, "number of partitions", "sum", 9),
            metric(2, "number of skewed partitions", "sum", 1),
            metric(3, "number of skewed partition splits", "sum", 4),
        ],
        2: [metric(4, "number of partitions", "sum", 8)],
    }
    assert changes(plan_of(rows, counted), initial()) == [
        "SortMergeJoin by k became BroadcastHashJoin",
        "What came out of a part of the plan had no rows, so that the rest of it was not run",
        "Shuffle by k: 8 partitions split into 9",
        "Shuffle by k: 1 skewed partition split into 4",
        "Shuffle by j: each part read where it was written, as the join needs no shuffle any more",
    ]


def test_the_same_change_of_several_shuffles_is_said_once() -> None:
    rows = [node(0, None, "Union")]
    for number in (1, 3):
        rows.append(node(number, 0, "AQEShuffleRead", "AQEShuffleRead coalesced"))
        rows.append(node(number + 1, number, "Exchange", "Exchange hashpartitioning(k#1L, 8)"))
    partitions = {1: 1, 2: 8, 3: 1, 4: 8}
    plan = plan_of(rows, {n: [metric(n, "number of partitions", "sum", p)] for n, p in partitions.items()})
    assert changes(plan, None) == ["Shuffle by k: 8 partitions joined into 1 (2 times)"]


def test_before_spark_3_2_only_the_plan_says_how_many_partitions_were_written() -> None:
    rows = [
        node(0, None, "CustomShuffleReader", "CustomShuffleReader coalesced"),
        node(1, 0, "Exchange", "Exchange hashpartitioning(k#1L, 200), true, [id=#9]"),
    ]
    plan = plan_of(rows, {0: [metric(1, "partitions", "sum", 3)]})
    assert changes(plan, None) == ["Shuffle by k: 200 partitions joined into 3"]


def test_a_join_that_was_not_needed() -> None:
    final = plan_of([node(0, None, "EmptyRelation", "EmptyRelation [plan_id=3]")], {})
    assert changes(final, initial())[0] == "SortMergeJoin by k was not needed"


def test_the_line_before_the_changes() -> None:
    assert changes_words(1, ["x"]) == "Adaptive execution updated the plan once:"
    assert changes_words(4, []).endswith("4 times; joins and partitions stayed as planned.")
