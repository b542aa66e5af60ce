"""Cut and damaged recordings: always a reading that says so, or one sentence; never another error, never a hang."""

from __future__ import annotations

import functools
import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from emberscope.errors import InputError
from emberscope.jfr.recording import read_recording
from emberscope.tables.recording import Recording
from tests.jfr import writer
from tests.jfr.recordings import by_stack, plain

NAMES = (
    "workload-jdk17.jfr.gz",
    "workload-jdk25.jfr.gz",
    "unfinished-jdk17.jfr.gz",
    "new_spancontext.jfr.gz",
    "cortex-dev-01__kafka-0__cpu__2.jfr.gz",
    "MetadataBaseline_9.jfr.gz",
)
slow = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@functools.cache
def whole(name: str) -> tuple[bytes, Recording]:
    data = plain(name)
    return data, read_recording(data, name)


def read(data: bytes) -> Recording | None:
    """The reading, checked for sense; None where nothing could be read, which was said."""
    try:
        recording = read_recording(data, "damaged.jfr")
    except InputError:
        return None
    json.dumps(recording.facts.document(), allow_nan=False)
    nodes = recording.stacks.num_rows
    assert all(0 <= node < nodes for node in recording.samples["stack"].to_pylist())
    assert recording.samples.num_rows >= sum(1 for n in recording.facts.samples.values() if n)
    return recording


@slow
@given(st.sampled_from(NAMES), st.floats(0, 1, exclude_max=True))
def test_any_prefix_reads_or_says_why_not(name: str, share: float) -> None:
    data, complete = whole(name)
    recording = read(data[: int(len(data) * share)])
    if recording is not None:
        assert not recording.facts.coverage.complete
        for event, count in recording.facts.event_counts.items():
            assert count <= complete.facts.event_counts[event]


@slow
@given(
    st.sampled_from(NAMES),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=20),
)
def test_any_changed_bytes(name: str, changes: list[tuple[float, int]]) -> None:
    data = bytearray(whole(name)[0])
    for share, value in changes:
        data[int(len(data) * share)] = value
    read(bytes(data))


@slow
@given(st.sampled_from(NAMES), st.integers(0, 67), st.binary(min_size=1, max_size=12))
def test_any_changed_header(name: str, offset: int, new: bytes) -> None:
    data, _ = whole(name)
    new = new[: 68 - offset]
    read(data[:offset] + new + data[offset + len(new) :])


@slow
@given(st.sampled_from(NAMES), st.integers(0, 30_000), st.binary(min_size=1, max_size=200))
def test_any_changed_types(name: str, offset: int, new: bytes) -> None:
    """Damage to the metadata, which the generated readers are made from."""
    data, _ = whole(name)
    position = int.from_bytes(data[24:32], "big") + offset
    read(data[:position] + new + data[position + len(new) :])


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
@example(b"FLR\0" * 40)
@example(b"FLR\0" + bytes(64) * 4)
def test_any_bytes(data: bytes) -> None:
    read(data)
    read(b"FLR\0\0\2\0\1" + data)
    read(b"\x1f\x8b" + data)


@slow
@given(st.sampled_from(NAMES[:5]), st.floats(0, 1, exclude_max=True))
def test_a_cut_file_before_a_whole_one_costs_the_whole_one_nothing(name: str, share: float) -> None:
    data, _ = whole(name)
    other, complete = whole(NAMES[3] if name != NAMES[3] else NAMES[0])
    cut = data[: int(len(data) * share)]
    recording = read(cut + other)
    assert recording is not None
    missing = by_stack(complete)
    missing.subtract(by_stack(recording))
    assert all(count <= 0 for count in missing.values())


def test_a_damaged_size_loses_what_lies_before_the_next_checkpoint() -> None:
    chunk = writer.Chunk()
    chunk.type(10, "long")
    chunk.type(50, "test.Tick", "startTime:10", super_type=writer.EVENT)
    positions = [chunk.event(50, chunk.long(1000 + i)) for i in range(5)]
    chunk.checkpoint()
    for i in range(7):
        chunk.event(50, chunk.long(2000 + i))
    data = bytearray(chunk.finish())
    checkpoint = chunk.checkpoints[0]
    assert read_recording(bytes(data), "x").facts.event_counts == {"test.Tick": 12}
    data[positions[2]] = 0
    data[positions[2] + 1] = 0
    recording = read_recording(bytes(data), "x")
    assert recording.facts.event_counts == {"test.Tick": 2 + 7}
    assert [(n.code, n.lost) for n in recording.facts.coverage.notes] == [("cut", {"bytes": checkpoint - positions[2]})]


def test_an_event_of_a_type_that_is_not_described_is_counted_as_such() -> None:
    chunk = writer.Chunk()
    chunk.type(10, "long")
    chunk.type(50, "test.Tick", "startTime:10", super_type=writer.EVENT)
    for type_id in (50, 77, 50, 77):
        chunk.event(type_id, chunk.long(5))
    chunk.checkpoint()
    recording = read_recording(chunk.finish(), "x")
    assert recording.facts.event_counts == {"test.Tick": 2}
    assert [(n.code, n.lost) for n in recording.facts.coverage.notes] == [("unresolved", {"events": 2})]


def test_checkpoints_that_point_at_each_other_end() -> None:
    chunk = writer.Chunk()
    chunk.type(10, "long")
    first = chunk.checkpoint()
    chunk.checkpoints[-1] = first + 10_000  # the next one's link leads forward
    chunk.checkpoint()
    assert read_recording(chunk.finish(), "x").facts.event_counts == {}


@pytest.mark.parametrize("state", [1, 255])
def test_a_chunk_that_is_being_written(state: int) -> None:
    chunk = writer.Chunk()
    chunk.type(10, "long")
    chunk.type(50, "test.Tick", "startTime:10", super_type=writer.EVENT)
    chunk.event(50, chunk.long(5))
    chunk.checkpoint()
    recording = read_recording(chunk.finish(state=state) + b"\x20\x00half an event", "x")
    assert recording.facts.event_counts == {"test.Tick": 1}
    assert [n.code for n in recording.facts.coverage.notes] == ["chunk_unfinished"]


def test_a_cut_chunk_says_how_many_seconds_are_missing() -> None:
    data, complete = whole("workload-jdk17.jfr.gz")
    recording = read(data[: len(data) * 9 // 10])
    assert recording is not None
    (cut,) = [note for note in recording.facts.coverage.notes if note.code == "cut"]
    assert 0 < cut.lost["seconds"] <= complete.facts.duration_ms / 1000 + 0.1
    assert cut.lost["bytes"] >= len(data) // 10
