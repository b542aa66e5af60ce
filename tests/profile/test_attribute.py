"""The join of samples with task spans, against a reading one sample at a time."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.attribute import attribute, intervals
from emberscope.tables.spans import SPANS
from tests.profile.strategies import TASK, recording

FILLED = ("stage_id", "stage_attempt", "task_id", "partition", "sql_execution_id", "in_span")
PROCESSES = [("executor", "1"), ("executor", "2"), ("driver", "driver"), (None, None)]


@st.composite
def tasks(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Tasks one after the other on a few threads; some never seen to end, some never seen to start."""
    found, task_id = [], 0
    for role, executor in draw(st.lists(st.sampled_from(PROCESSES), unique=True, max_size=3)):
        for thread in draw(st.lists(st.integers(1, 3), unique=True, max_size=2)):
            now = draw(st.integers(0, 5))
            for _ in range(draw(st.integers(0, 4))):
                start = now + draw(st.integers(0, 6))
                now = start + draw(st.integers(1, 8))
                task_id += 1
                found.append(
                    {
                        "role": role,
                        "executor_id": executor,
                        "thread_id": thread,
                        "task_id": task_id,
                        "start_ns": start,
                        "end_ns": now,
                        "stage_id": task_id % 3,
                        "stage_attempt": 0,
                        "partition": task_id * 10,
                        "sql_execution_id": draw(st.none() | st.just(7)),
                        "seen": draw(st.sampled_from(["start", "span", "both"])),
                    }
                )
    return found


def sightings(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for task in found:
        row = {name: value for name, value in task.items() if name != "seen"}
        if task["seen"] != "span":
            rows.append({**row, "end_ns": None})
        if task["seen"] != "start":
            rows.append({**row, "outcome": "success"})
    return rows


def task_of(sample: dict[str, Any], found: list[dict[str, Any]]) -> tuple[dict[str, Any] | None, bool | None]:
    """The rule in words, one sample at a time."""
    place = ("role", "executor_id", "thread_id")
    mine = sorted(
        (t for t in found if all(t[n] == sample[n] for n in place)), key=lambda t: (t["start_ns"], t["task_id"])
    )
    before = [t for t in mine if t["start_ns"] <= sample["time_ns"]]
    after = [t for t in mine if t["start_ns"] > sample["time_ns"]]
    if before:
        open_end = before[-1]["seen"] == "start"
        if open_end or sample["time_ns"] < before[-1]["end_ns"]:
            return before[-1], True
    if TASK in sample["stack"] and (before or after):
        return (after[0] if after else before[-1]), False
    return None, None


SAMPLES_ROWS = st.lists(
    st.builds(
        lambda process, thread, time, stack: {
            "role": process[0],
            "executor_id": process[1],
            "thread_id": thread,
            "time_ns": time,
            "stack": stack,
            "count": 1,
        },
        st.sampled_from(PROCESSES),
        st.integers(1, 3),
        st.integers(0, 60),
        st.sampled_from([[], ["a"], ["Thread.run", TASK, "a"]]),
    ),
    min_size=1,
    max_size=20,
)


@given(SAMPLES_ROWS, tasks(), st.randoms())
def test_prop_attribute_equals_a_search_one_sample_at_a_time(rows, found, random):
    recorded = recording(rows)
    seen = sightings(found)
    random.shuffle(seen)
    spans = SPANS.from_rows(seen) if seen else SPANS.empty()
    result = attribute(recorded.samples, spans, recorded.stacks, recorded.frames)
    assert result.schema.equals(recorded.samples.schema)
    for got, row in zip(result.select(FILLED).to_pylist(), rows, strict=True):
        task, inside = task_of(row, found)
        expected = {name: task[name] if task else None for name in FILLED[:-1]} | {"in_span": inside}
        assert got == expected


@given(SAMPLES_ROWS, tasks())
def test_prop_attribute_does_not_depend_on_how_chunks_were_cut(rows, found):
    recorded = recording(rows)
    spans = SPANS.from_rows(sightings(found)) if found else SPANS.empty()
    whole = attribute(recorded.samples, spans, recorded.stacks, recorded.frames)
    parts = [attribute(recorded.samples.slice(i, 1), spans, recorded.stacks, recorded.frames) for i in range(len(rows))]
    assert pa.concat_tables(parts).to_pylist() == whole.to_pylist()


@given(SAMPLES_ROWS, tasks(), st.data())
def test_prop_a_sample_that_names_its_task_is_of_it_at_any_time(rows, found, data):
    recorded = recording(rows)
    spans = SPANS.from_rows(sightings(found))
    mine = [[t for t in found if (t["role"], t["executor_id"]) == (row["role"], row["executor_id"])] for row in rows]
    told = [data.draw(st.sampled_from([None, -7, *(t["task_id"] for t in tasks)])) for tasks in mine]
    samples = recorded.samples.set_column(
        recorded.samples.schema.get_field_index("task_id"), "task_id", pa.array(told, pa.int64())
    )
    joined = attribute(samples, spans, recorded.stacks, recorded.frames).to_pylist()
    others = attribute(recorded.samples, spans, recorded.stacks, recorded.frames).to_pylist()
    for row, other, tasks_of_it, task_id in zip(joined, others, mine, told, strict=True):
        if task_id is None:
            assert [row[name] for name in FILLED] == [other[name] for name in FILLED]
            continue
        task = next((t for t in tasks_of_it if t["task_id"] == task_id), {})
        assert row["task_id"] == task_id
        assert row["in_span"] is True
        assert [row[name] for name in FILLED[:2]] == [task.get(name) for name in FILLED[:2]]


def test_a_start_and_its_end_in_another_chunk_are_one_span():
    row = {"role": "executor", "executor_id": "1", "thread_id": 40, "task_id": 9, "stage_id": 2, "start_ns": 100}
    spans = pa.concat_tables([SPANS.from_rows([row]), SPANS.from_rows([{**row, "end_ns": 900, "outcome": "failed"}])])
    assert intervals(spans).select(["task_id", "start_ns", "end_ns", "outcome"]).to_pylist() == [
        {"task_id": 9, "start_ns": 100, "end_ns": 900, "outcome": "failed"}
    ]


def test_a_task_without_end_is_open_to_the_next_start_on_its_thread():
    row = {"role": "executor", "executor_id": "1", "thread_id": 40, "stage_id": 2}
    spans = SPANS.from_rows([{**row, "task_id": 1, "start_ns": 100}, {**row, "task_id": 2, "start_ns": 300}])
    assert intervals(spans)["end_ns"].to_pylist() == [300, None]


def test_thread_names_do_not_matter():
    spans = SPANS.from_rows(
        [{"role": "executor", "executor_id": "1", "thread_id": 40, "task_id": 1, "stage_id": 4, "start_ns": 0}]
    )
    row = {"role": "executor", "executor_id": "1", "time_ns": 5, "count": 1, "stack": [TASK]}
    named = "Executor task launch worker for task 9.0 in stage 2.0 (TID 9)"
    recorded = recording(
        [{**row, "thread_id": 40, "thread_name": named}, {**row, "thread_id": 41, "thread_name": named}]
    )
    result = attribute(recorded.samples, spans, recorded.stacks, recorded.frames)
    assert result["stage_id"].to_pylist() == [4, None]
