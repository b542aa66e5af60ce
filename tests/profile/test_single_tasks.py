import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.single_tasks import MEDIAN, SLOW, single_tasks


def tasks(runs):
    """One stage 7 of tasks 0, 1, 2 … with these run times in ms."""
    count = len(runs)
    return pa.table(
        {
            "stage_id": pa.array([7] * count, pa.int32()),
            "task_id": pa.array(range(count), pa.int64()),
            "executor_run_time_ms": pa.array(runs, pa.int64()),
        }
    )


def ids(chosen, group):
    return [task.task_id for task in chosen if task.group == group]


def test_a_large_stage_has_twenty_of_each():
    chosen = single_tasks(tasks(list(range(1000))))
    assert ids(chosen, SLOW) == list(range(999, 979, -1))
    assert sorted(ids(chosen, MEDIAN)) == list(range(490, 510))


def test_a_small_stage_has_a_quarter_of_each():
    chosen = single_tasks(tasks([10, 20, 30, 40, 50, 60, 70, 800]))
    assert (ids(chosen, SLOW), ids(chosen, MEDIAN)) == ([7, 6], [4, 3])


def test_a_task_alone_is_the_slowest_and_nothing_else():
    assert [(t.task_id, t.run_ms, t.group) for t in single_tasks(tasks([5]))] == [(0, 5, SLOW)]


def test_a_task_without_a_run_time_is_of_neither_kind():
    assert ids(single_tasks(tasks([None, 5, None])), SLOW) == [1]


@given(st.lists(st.tuples(st.integers(0, 3), st.none() | st.integers(0, 50)), max_size=120))
def test_prop_no_task_is_of_both_kinds_and_none_is_slower_than_the_slow_ones(rows):
    table = pa.table(
        {
            "stage_id": pa.array([stage for stage, _ in rows], pa.int32()),
            "task_id": pa.array(range(len(rows)), pa.int64()),
            "executor_run_time_ms": pa.array([run for _, run in rows], pa.int64()),
        }
    )
    chosen = single_tasks(table)
    assert len({task.task_id for task in chosen}) == len(chosen)
    for stage in range(4):
        slow = [t for t in chosen if t.stage_id == stage and t.group == SLOW]
        rest = [run for n, (s, run) in enumerate(rows) if s == stage and run is not None and n not in ids(slow, SLOW)]
        assert len(slow) <= 20
        assert bool(slow) == any(s == stage and run is not None for s, run in rows)
        assert all(task.run_ms >= max(rest, default=0) for task in slow)
