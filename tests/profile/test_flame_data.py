import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.flame_data import flame_data
from emberscope.profile.flame_rows import SOURCES
from emberscope.profile.flame_tree import FACETS
from emberscope.profile.fold import NO_STACK, natural_weight
from emberscope.profile.pack import pack_flame
from emberscope.profile.slice import Slice, select
from tests.profile.strategies import recording, rows, texts
from tests.profile.test_fold import stack_weights

TASKS = pa.table(
    {
        "stage_id": pa.array([0] * 10, pa.int32()),
        "task_id": pa.array(range(10), pa.int64()),
        "executor_run_time_ms": pa.array(range(100, 110), pa.int64()),
    }
)
MS = 1_000_000


def told(recorded, samples, event):
    """The weight of each stack of these samples of an event, read row by row."""
    part = recording([])
    chosen = type(part)(part.facts, samples, recorded.stacks, recorded.frames, part.spans, part.series)
    weight = natural_weight(select(recorded.samples, Slice(event=event)), event)
    return {stack or (NO_STACK,): w for stack, w in texts(chosen, weight).items() if w}


def data(recorded, **more):
    return flame_data(recorded.samples, recorded.stacks, recorded.frames, **more)


OPTIONAL = {
    "stage": st.integers(0, 3),
    "attempt": st.integers(0, 1),
    "sql": st.integers(0, 1),
    "role": st.sampled_from(["driver", "executor"]),
    "executor": st.sampled_from(["1", "2"]),
    "state": st.sampled_from(["STATE_RUNNABLE", "STATE_SLEEPING"]),
    "task": st.sampled_from([8, 9]),  # the two slowest of ten
}


@given(rows(), st.fixed_dictionaries({}, optional=OPTIONAL), st.sampled_from(["cpu", "alloc"]))
def test_prop_a_slice_of_the_columns_is_a_fold_of_the_selected_samples(samples, where, event):
    recorded = recording(samples)
    flame = data(recorded, tasks=TASKS, start_ns=0)
    chosen = select(recorded.samples, Slice(event=event, **where))
    assert stack_weights(flame.tree(event, where)) == told(recorded, chosen, event)


@given(rows(), st.sampled_from(FACETS), st.sampled_from(["cpu", "alloc"]))
def test_prop_the_values_of_a_facet_and_what_is_outside_add_up_to_the_whole(samples, facet, event):
    flame = data(recording(samples), tasks=TASKS, start_ns=0)
    parts = [flame.tree(event, {facet: value}).self_weights for value in (*flame.values(facet), None)]
    assert np.array_equal(sum(parts), flame.tree(event).self_weights)


@given(rows(), st.integers(1, 1000), st.integers(-50_000, 50_000))
def test_prop_a_bucket_is_a_fold_of_the_samples_of_its_time(samples, scale, start_ms):
    recorded = recording([{**row, "time_ns": row["time_ns"] * scale * MS} for row in samples])
    flame = data(recorded, start_ns=start_ms * MS)
    buckets = sorted(flame.values("time"))
    assert buckets == list(range(buckets[0], buckets[0] + len(buckets))) if buckets else not samples
    used = {(row["time_ns"] * scale - start_ms) * MS // flame.bucket_ns for row in samples}
    assert used <= set(buckets)
    for bucket in {*used, *buckets[:2]}:
        begin = start_ms * MS + bucket * flame.bucket_ns
        chosen = select(recorded.samples, Slice(event="cpu", from_ns=begin, to_ns=begin + flame.bucket_ns))
        assert stack_weights(flame.tree("cpu", {"time": bucket})) == told(recorded, chosen, "cpu")
    assert len(buckets) <= 1800


@given(rows())
def test_prop_no_column_holds_a_node_without_weight(samples):
    flame = data(recording(samples), tasks=TASKS, start_ns=0)
    assert (flame.weights > 0).all()
    steps = np.diff(flame.nodes)
    inside = np.setdiff1d(np.arange(len(steps)), flame.bounds[1:-1] - 1)
    assert (steps[inside] > 0).all()
    assert (np.diff(flame.bounds) > 0).all()
    assert [name for name, _ in flame.events] == [
        e for e in ("cpu", "wall", "alloc") if any(r["event"] == e for r in samples)
    ]
    keys = np.stack([flame.event_places, *(facet.places for facet in flame.facets.values())])
    assert len(np.unique(keys, axis=1).T) == len(flame.event_places)


def test_a_plain_recording_carries_one_column():
    flame = data(recording([{"stack": ["a"], "event": "cpu", "count": 1, "time_ns": t} for t in range(9)]))
    assert (flame.facets, flame.bucket_ns, len(flame.event_places), len(flame.nodes)) == ({}, None, 1, 1)


def test_samples_without_a_time_are_outside_of_the_buckets():
    row = {"stack": ["a"], "event": "cpu", "count": 1}
    flame = data(recording([{**row, "time_ns": 10 * MS}, {**row, "time_ns": 2_000 * MS}, row]), start_ns=0)
    assert flame.bucket_ns == 20 * MS
    assert flame.values("time") == frozenset(range(101))
    assert flame.tree("cpu", {"time": None}).self_weights.sum() == 1
    assert flame.tree("cpu", {"time": 100}).self_weights.sum() == 1


def test_sources_name_columns_of_samples():
    assert {*SOURCES, "time"} == set(FACETS)


def long_run():
    """Ten tasks of one stage, one sample of a random stack every 10 ms, 100 s long."""
    random = np.random.default_rng(1)
    return recording(
        [
            {"stack": ["a", f"f{random.integers(200)}"], "event": "cpu", "count": 1, "stage_id": 0}
            | {"task_id": int(random.integers(10)), "time_ns": n * 10 * MS}
            for n in range(10_000)
        ]
    )


def test_data_within_the_budget_have_all_that_there_is_and_no_note():
    flame = data(long_run(), tasks=TASKS, start_ns=0)
    assert (flame.bucket_ns, flame.values("task"), flame.notes) == (100 * MS, {8, 9, 4, 5}, ())


def test_a_small_budget_makes_times_coarser_first_then_single_tasks_go_then_times():
    recorded = long_run()
    whole = data(recorded).tree("cpu").self_weights
    seen = []
    size = len(pack_flame(data(recorded, tasks=TASKS, start_ns=0)))
    for budget in (*np.linspace(size, 1, 12).astype(int).tolist(), 1):
        flame = data(recorded, tasks=TASKS, start_ns=0, budget_bytes=budget)
        assert np.array_equal(flame.tree("cpu").self_weights, whole)
        state = (flame.bucket_ns, len(flame.tasks), flame.notes)
        if state not in seen:
            seen.append(state)
        assert len(pack_flame(flame)) <= budget or flame.bucket_ns is None
    lengths = [length // MS for length, tasks, _ in seen if length is not None and tasks]
    assert lengths == sorted(lengths)
    assert lengths[0] == 100
    assert len(lengths) > 2
    assert (seen[-1][0], seen[-1][1]) == (None, 0)
    said = {tasks: notes for _, tasks, notes in seen}
    assert any("times in steps of" in note and "not of 100 ms" in note for note in seen[1][2])
    assert said[0] == ("To keep this page small, its flame graph tells neither times nor single tasks apart.",)


def test_data_without_times_or_tasks_have_nothing_to_give_up():
    flame = data(long_run(), budget_bytes=1)
    assert (flame.bucket_ns, flame.tasks, flame.notes) == (None, (), ())
