from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.slice import Slice, select
from tests.profile.strategies import rows, table

CHOICES = st.builds(
    Slice,
    event=st.none() | st.just("cpu"),
    variant=st.none() | st.just("park"),
    sql=st.none() | st.integers(0, 1),
    stage=st.none() | st.integers(0, 3),
    stages=st.none() | st.frozensets(st.integers(0, 3)),
    executor=st.none() | st.sampled_from(["1", "9"]),
    from_ns=st.none() | st.integers(0, 20),
    to_ns=st.none() | st.integers(0, 20),
)


def wanted(row: dict[str, Any], where: Slice) -> bool:
    return (
        where.event in (None, row["event"])
        and where.variant in (None, row["variant"])
        and where.sql in (None, row["sql_execution_id"])
        and where.stage in (None, row["stage_id"])
        and (where.stages is None or row["stage_id"] in where.stages)
        and where.executor in (None, row["executor_id"])
        and (where.from_ns is None or row["time_ns"] >= where.from_ns)
        and (where.to_ns is None or row["time_ns"] < where.to_ns)
    )


@given(rows(), CHOICES)
def test_prop_select_keeps_what_a_test_of_each_row_keeps(samples, where):
    found = select(table(samples), where)
    assert found["value"].to_pylist() == [row["value"] for row in samples if wanted(row, where)]


def test_a_thread_is_chosen_by_id_or_by_exact_name():
    samples = table([{"stack": [], "thread_id": i, "thread_name": name} for i, name in ((1, "main"), (2, "main 2"))])
    assert select(samples, Slice(thread=2))["thread_id"].to_pylist() == [2]
    assert select(samples, Slice(thread="main"))["thread_id"].to_pylist() == [1]


def test_an_empty_slice_is_everything():
    samples = table([{"stack": [], "count": 1}])
    assert select(samples, Slice()).equals(samples)
