from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.report.plan_words import base_name, join_keys, shortened, telling, width_px


@pytest.mark.parametrize(
    ("name", "detail", "told"),
    [
        ("SortMergeJoin", "SortMergeJoin [k#1L], [k#2L], Inner", "by k, Inner"),
        ("SortMergeJoin(skew=true)", "SortMergeJoin(skew=true) [k#1L], [j#2L], LeftOuter", "by k = j, LeftOuter"),
        (
            "BroadcastHashJoin",
            "BroadcastHashJoin [k#1, m#2], [k#3, m#4], Inner, BuildRight, false, false",
            "by k, m, Inner, BuildRight",
        ),
        ("BroadcastNestedLoopJoin", "BroadcastNestedLoopJoin BuildRight, Cross", "BuildRight, Cross"),
        (
            "GpuShuffledHashJoin",
            "GpuShuffledHashJoin [a#12], [b#14], Inner, GpuBuildRight, false",
            "by a = b, Inner, GpuBuildRight",
        ),
        ("Exchange", "Exchange hashpartitioning(k#1L, v#2, 16), ENSURE_REQUIREMENTS, [plan_id=9]", "by k, v, into 16"),
        ("Exchange", "Exchange rangepartitioning(k#1 ASC NULLS FIRST, 200), true, [id=#16]", "by k ASC, into 200"),
        ("Exchange", "Exchange SinglePartition, ENSURE_REQUIREMENTS, [plan_id=157]", "into one partition"),
        ("Exchange", "Exchange RoundRobinPartitioning(12), REPARTITION_BY_NUM", "evenly, into 12"),
        ("BroadcastExchange", "BroadcastExchange HashedRelationBroadcastMode(List(input[0]))", "to every executor"),
        ("HashAggregate", "HashAggregate(keys=[k#1], functions=[sum(v#2)])", "by k"),
        ("HashAggregate", "HashAggregate(keys=[], functions=[count(1), sum(v#2)])", "count(1), sum(v)"),
        ("Sort", "Sort [k#2L ASC NULLS FIRST], true, 0", "k ASC"),
        ("Filter", "Filter (length(trim(value#0, None)) > 0)", "length(trim(value, None)) > 0"),
        ("Filter", "Filter (a#1 OR (b#2 = 3)) AND (c#3)", "(a OR (b = 3)) AND (c)"),
        ("Project", "Project [a#1, b#2 AS c#3, ... 11 more fields]", "a, b AS c, +11 more"),
        ("Window", "Window [rank(x#1[0]) AS r#2], [k#3], [v#4 DESC NULLS LAST]", "by k, in order of v DESC"),
        (
            "Scan parquet ",
            "FileScan parquet [a#1] Location: InMemoryFileIndex(1 paths)[s3://b/t], PushedFilters: []",
            "s3://b/t",
        ),
        ("Scan parquet db.t", "FileScan parquet db.t[a#1,b#2] Location: CatalogFileIndex [s3://b/t]", "a,b"),
        ("BatchEvalPython", "BatchEvalPython [up(p#1)#2], [pythonUDF0#3]", "up(p)"),
        (
            "Execute InsertIntoHadoopFsRelationCommand",
            "Execute InsertIntoHadoopFsRelationCommand file:/d/a, false, Parquet, [path=/d/a], Overwrite",
            "/d/a",
        ),
        ("Range", "Range (0, 1000, step=1, splits=2)", "(0, 1000, step=1, splits=2)"),
        ("GpuColumnarToRow", "GpuColumnarToRow false", ""),
        ("Subquery", "Subquery subquery#42, [id=#1355]", "subquery#42"),
        ("Union", "Union", ""),
        ("", "", ""),
    ],
)
def test_the_detail_that_tells_most(name: str, detail: str, told: str) -> None:
    assert telling(name, detail) == told


@given(st.text(), st.text())
def test_prop_any_operator_has_words(name: str, detail: str) -> None:
    assert "\n" not in telling(name, detail)
    join_keys(detail)


def test_names_are_compared_without_marks_and_vendors() -> None:
    names = ("SortMergeJoin(skew=true)", "GpuSortMergeJoin", "SortMergeJoin LeftOuter", "PhotonSortMergeJoin")
    assert {base_name(name) for name in names} == {"SortMergeJoin"}


@given(st.text(max_size=80), st.integers(3, 60))
def test_prop_shortened_text_keeps_both_ends(text: str, most: int) -> None:
    short = shortened(text, most)
    assert len(short) <= most
    assert short == text or (short[0] == text[0] and short[-1] == text[-1])


def test_wider_text_is_wider() -> None:
    assert width_px("iiii", 10) < width_px("nnnn", 10) < width_px("WWWW", 10)
    assert width_px("abc", 10, fixed=True) == pytest.approx(18.09)
