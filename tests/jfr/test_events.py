"""Events that no recording at hand has, or not in the state that matters: which rows and notes they become."""

from __future__ import annotations

import struct

import pytest

from emberscope.jfr.recording import read_recording
from emberscope.tables.recording import Recording
from tests.jfr import writer
from tests.jfr.recordings import by_stack

LONG, INT, BOOLEAN, FLOAT, STRING, THREAD, STACK, STATE, SETTING = 10, 11, 12, 13, 14, 15, 16, 17, 40
SYMBOL, CLASS, METHOD, FRAME_TYPE, FRAME = 20, 21, 22, 23, 24
SLEEPING, RUNNING = 1, 2
START = ("startTime:10@TICKS",)
HERTZ = 2_000_000_000


def recorder() -> writer.Chunk:
    """A chunk with the types and constants that a profiler's events refer to."""
    chunk = writer.Chunk()
    chunk.type(writer.TIMESPAN, "jdk.jfr.Timespan")
    for type_id, name in (
        (LONG, "long"),
        (INT, "int"),
        (BOOLEAN, "boolean"),
        (FLOAT, "float"),
        (STRING, "java.lang.String"),
    ):
        chunk.type(type_id, name)
    chunk.type(THREAD, "java.lang.Thread", "osName:14", "osThreadId:10", "javaName:14", "javaThreadId:10")
    chunk.type(STATE, "jdk.types.ThreadState", "name:14")
    chunk.type(SYMBOL, "jdk.types.Symbol", "string:14")
    chunk.type(CLASS, "java.lang.Class", "name:20*")
    chunk.type(METHOD, "jdk.types.Method", "type:21*", "name:20*")
    chunk.type(FRAME_TYPE, "jdk.types.FrameType", "description:14")
    chunk.type(FRAME, "jdk.types.StackFrame", "method:22*", "lineNumber:11", "bytecodeIndex:11", "type:23*")
    chunk.type(STACK, "jdk.types.StackTrace", "truncated:12", "frames:24[]")
    chunk.type(SETTING, "jdk.ActiveSetting", *START, "id:10", "name:14", "value:14", super_type=writer.EVENT)
    return chunk


def constants(chunk: writer.Chunk) -> None:
    """Two threads, two states and stack 1: `a.A.run` calls C function `f`, which calls kernel function `k`."""

    def text(key: int, value: str) -> bytes:
        return chunk.long(key) + chunk.text(value)

    def frame(method: int, frame_type: int, line: int) -> bytes:
        return chunk.long(method) + chunk.int(line) + chunk.int(0) + chunk.long(frame_type)

    def stack(key: int, *frames: bytes) -> bytes:
        return chunk.long(key) + b"\0" + chunk.int(len(frames)) + b"".join(frames)

    threads = [
        chunk.long(7) + chunk.text("native name") + chunk.long(700) + b"\0" + chunk.long(-1),
        chunk.long(8) + chunk.text("native name") + chunk.long(800) + chunk.text("Executor 1") + chunk.long(33),
    ]
    symbols = [text(1, "a/A"), text(2, "run"), text(3, "libc.so"), text(4, "f"), text(5, "k"), text(6, "")]
    pairs = {1: (1, 2), 2: (2, 4), 3: (3, 5)}
    methods = [chunk.long(key) + chunk.long(owner) + chunk.long(name) for key, (owner, name) in pairs.items()]
    owners = [chunk.long(key) + chunk.long(symbol) for key, symbol in ((1, 1), (2, 3), (3, 6))]
    chunk.checkpoint(
        (THREAD, threads),
        (STATE, [text(SLEEPING, "STATE_SLEEPING"), text(RUNNING, "STATE_RUNNABLE")]),
        (FRAME_TYPE, [text(1, "JIT compiled"), text(3, "Native"), text(5, "Kernel")]),
        (SYMBOL, symbols),
        (CLASS, owners),
        (METHOD, methods),
        (
            STACK,
            [stack(1, frame(3, 5, 0), frame(2, 3, 0), frame(1, 1, 42)), stack(2, frame(99, 1, 0), frame(1, 1, 42))],
        ),
    )


def read(chunk: writer.Chunk) -> Recording:
    constants(chunk)
    return read_recording(chunk.finish(start_ns=1_000_000, hertz=HERTZ), "x")


def setting(chunk: writer.Chunk, event: int, name: str, value: str) -> None:
    chunk.event(SETTING, chunk.long(0) + chunk.long(event) + chunk.text(name) + chunk.text(value))


def execution_samples(chunk: writer.Chunk, *samples: tuple[int, int, int]) -> None:
    """Samples of (thread, stack, state), 20 ticks apart."""
    fields = ("sampledThread:15*", "stackTrace:16*", "state:17*")
    chunk.type(50, "jdk.ExecutionSample", *START, *fields, super_type=writer.EVENT)
    for i, (thread, stack, state) in enumerate(samples):
        chunk.event(50, chunk.long(20 * i) + chunk.long(thread) + chunk.long(stack) + chunk.long(state))


def test_a_sleeping_thread_is_wall_time_and_no_cpu() -> None:
    chunk = recorder()
    setting(chunk, 50, "interval", "5000000")
    setting(chunk, 50, "wall", "50000000")
    execution_samples(chunk, (8, 1, RUNNING), (8, 1, SLEEPING), (7, 1, RUNNING))
    recording = read(chunk)
    assert {event: n for event, n in recording.facts.samples.items() if n} == {"cpu": 2, "wall": 1}
    rows = recording.samples.to_pylist()
    assert [row["value"] for row in rows] == [5_000_000, 50_000_000, 5_000_000]
    assert [row["time_ns"] for row in rows] == [1_000_000, 1_000_010, 1_000_020]
    assert [(row["thread_id"], row["os_thread_id"], row["thread_name"]) for row in rows] == [
        (33, 800, "Executor 1"),
        (33, 800, "Executor 1"),
        (0, 700, "native name"),
    ]
    assert recording.facts.leaf_top == (("k", 3),)
    assert {(f["name"], f["kind"]) for f in recording.frames.to_pylist()} == {
        ("k", "kernel"),
        ("f", "native"),
        ("a.A.run", "java"),
    }
    assert by_stack(recording)["cpu", ("a.A.run", "f", "k")] == 2
    assert recording.facts.coverage.complete


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({"period": "20 ms"}, 20_000_000),
        ({"period": "10000000 ns"}, 10_000_000),
        ({"period": "1 s"}, 1_000_000_000),
        ({"period": "everyChunk"}, None),
        ({"interval": "0"}, 10_000_000),
        ({"interval": "-1"}, None),
        ({}, None),
    ],
)
def test_what_a_cpu_sample_stands_for(settings: dict[str, str], value: int | None) -> None:
    chunk = recorder()
    for name, text in settings.items():
        setting(chunk, 50, name, text)
    execution_samples(chunk, (8, 1, RUNNING))
    recording = read(chunk)
    assert recording.samples["value"].to_pylist() == [value]
    assert recording.settings == {f"jdk.ExecutionSample#{name}": text for name, text in settings.items()}


def test_an_interval_that_counts_cycles_is_no_time() -> None:
    chunk = recorder()
    chunk.type(60, "jdk.ActiveRecording", *START, super_type=writer.EVENT)
    setting(chunk, 60, "event", "cycles")
    setting(chunk, 50, "interval", "1000000")
    execution_samples(chunk, (8, 1, RUNNING))
    assert read(chunk).samples["value"].to_pylist() == [None]


def test_stacks_that_the_recording_does_not_hold() -> None:
    chunk = recorder()
    execution_samples(chunk, (8, 1, RUNNING), (8, 2, RUNNING), (8, 555, RUNNING), (8, 0, RUNNING), (99, 1, RUNNING))
    recording = read(chunk)
    assert recording.facts.samples["cpu"] == 5
    assert by_stack(recording) == {
        ("cpu", ("a.A.run", "f", "k")): 2,
        ("cpu", ("a.A.run", "[unresolved]")): 1,
        ("cpu", ()): 2,
    }
    assert recording.samples["thread_id"].to_pylist()[-1] is None
    assert [(n.code, n.lost) for n in recording.facts.coverage.notes] == [("unresolved", {"samples": 2})]


def test_wall_samples_come_in_batches() -> None:
    chunk = recorder()
    fields = ("sampledThread:15*", "stackTrace:16*", "state:17*", "samples:11", "timeSpan:10@TICKS")
    chunk.type(51, "profiler.WallClockSample", *START, *fields, super_type=writer.EVENT)
    for samples in (1, 40):
        where = chunk.long(8) + chunk.long(1) + chunk.long(SLEEPING)
        chunk.event(51, chunk.long(5) + where + chunk.int(samples) + chunk.long(samples * 2_000))
    recording = read(chunk)
    assert recording.facts.samples["wall"] == 41
    assert recording.samples["count"].to_pylist() == [1, 40]
    assert recording.samples["value"].to_pylist() == [1_000, 40_000]


def test_cpu_time_samples_that_failed_count_and_lost_ones_are_told() -> None:
    chunk = recorder()
    fields = ("stackTrace:16*", "eventThread:15*", "failed:12", "samplingPeriod:10@NANOSECONDS", "biased:12")
    chunk.type(52, "jdk.CPUTimeSample", *START, *fields, super_type=writer.EVENT)
    chunk.type(53, "jdk.CPUTimeSamplesLost", *START, "lostSamples:11", "eventThread:15*", super_type=writer.EVENT)
    chunk.event(52, chunk.long(5) + chunk.long(1) + chunk.long(8) + b"\0" + chunk.long(20_000_000) + b"\0")
    chunk.event(52, chunk.long(6) + chunk.long(0) + chunk.long(8) + b"\1" + chunk.long(20_000_000) + b"\0")
    chunk.event(53, chunk.long(7) + chunk.int(3) + chunk.long(8))
    chunk.event(53, chunk.long(8) + chunk.int(4) + chunk.long(8))
    recording = read(chunk)
    assert recording.facts.samples["cpu"] == 2
    assert recording.samples["value"].to_pylist() == [20_000_000, 20_000_000]
    assert by_stack(recording) == {("cpu", ("a.A.run", "f", "k")): 1, ("cpu", ()): 1}
    assert recording.facts.leaf_top == ()
    assert [(n.code, n.lost) for n in recording.facts.coverage.notes] == [("dropped_events", {"samples": 7})]
    assert [(p["name"], p["value"]) for p in recording.series.to_pylist()] == [
        ("cpu_samples_lost", 3),
        ("cpu_samples_lost", 4),
    ]
    assert recording.series["thread_id"].to_pylist() == recording.samples["thread_id"].to_pylist() != [None, None]


def test_weights_of_allocation_locks_and_live_objects() -> None:
    # The sampled allocations are drawn from those of the other two events, which count the same in whole.
    chunk = recorder()
    kinds = {
        "jdk.ObjectAllocationSample": ("weight:10", chunk.long(11)),
        "jdk.ObjectAllocationInNewTLAB": ("allocationSize:10|tlabSize:10", chunk.long(12) + chunk.long(13)),
        "jdk.ObjectAllocationOutsideTLAB": ("allocationSize:10", chunk.long(14)),
        "jdk.JavaMonitorEnter": ("duration:10@TICKS", chunk.long(2_000)),
        "jdk.ThreadPark": ("duration:10@MILLISECONDS", chunk.long(3)),
        "profiler.LiveObject": ("allocationSize:10", chunk.long(15)),
        "jdk.OldObjectSample": ("objectSize:10", chunk.long(16)),
    }
    for type_id, (name, (fields, payload)) in enumerate(kinds.items(), start=60):
        wanted = (*START, "eventThread:15*", "stackTrace:16*", *fields.split("|"))
        chunk.type(type_id, name, *wanted, super_type=writer.EVENT)
        chunk.event(type_id, chunk.long(5) + chunk.long(8) + chunk.long(1) + payload)
    rows = read(chunk).samples.to_pylist()
    assert [(row["event"], row["value"]) for row in rows] == [
        ("alloc", 13),
        ("alloc", 14),
        ("lock", 1_000),
        ("lock", 3_000_000),
        ("live", 15),
        ("live", 16),
    ]


def test_series_in_their_units() -> None:
    chunk = recorder()
    chunk.type(70, "jdk.GarbageCollection", *START, "sumOfPauses:10@TICKS", super_type=writer.EVENT)
    chunk.type(71, "jdk.CPULoad", *START, "jvmUser:13", "jvmSystem:13", "machineTotal:13", super_type=writer.EVENT)
    chunk.type(72, "jdk.ResidentSetSize", *START, "size:10", super_type=writer.EVENT)
    chunk.type(73, "jdk.DataLoss", *START, "amount:10", super_type=writer.EVENT)
    chunk.event(70, chunk.long(10) + chunk.long(5_000_000))
    chunk.event(71, chunk.long(20) + struct.pack(">fff", 0.25, 0.5, 1.0))
    chunk.event(72, chunk.long(30) + chunk.long(1 << 33))
    chunk.event(73, chunk.long(40) + chunk.long(512))
    recording = read(chunk)
    assert [(p["name"], p["time_ns"], p["value"]) for p in recording.series.to_pylist()] == [
        ("gc_pause_ms", 1_000_005, 2.5),
        ("cpu_process_ratio", 1_000_010, 0.75),
        ("cpu_machine_ratio", 1_000_010, 1.0),
        ("rss_bytes", 1_000_015, float(1 << 33)),
    ]
    assert [(n.code, n.lost) for n in recording.facts.coverage.notes] == [("dropped_events", {"bytes": 512})]


def test_numbers_that_no_column_holds_are_null() -> None:
    chunk = recorder()
    fields = ("duration:10@TICKS", "stageId:10", "taskId:10", "threadId:10")
    chunk.type(80, "emberscope.TaskSpan", *START, *fields, super_type=writer.EVENT)
    chunk.event(80, b"".join(map(chunk.long, (100, 200, 1 << 40, 5, 33))))
    chunk.event(80, b"".join(map(chunk.long, (100, (1 << 63) - 1, 3, 5, 33))))
    spans = read(chunk).spans.to_pylist()
    assert [(s["start_ns"], s["end_ns"], s["stage_id"], s["task_id"]) for s in spans] == [
        (1_000_050, 1_000_150, None, 5),
        (1_000_050, (1 << 62) + 1_000_049, 3, 5),
    ]
    assert {s["sql_execution_id"] for s in spans} == {None}


def test_secrets_in_what_users_wrote_are_replaced() -> None:
    chunk = recorder()
    fields = ("duration:10@TICKS", "stageId:10", "taskId:10", "threadId:10", "jobGroup:14", "description:14")
    chunk.type(80, "emberscope.TaskSpan", *START, *fields, super_type=writer.EVENT)
    texts = chunk.text("nightly") + chunk.text("load from jdbc:x://h?user=me&password=hunter2")
    chunk.event(80, b"".join(map(chunk.long, (100, 200, 1, 5, 33))) + texts)
    setting(chunk, 80, "secret", "hunter2")
    recording = read(chunk)
    (span,) = recording.spans.to_pylist()
    assert span["job_group"] == "nightly"
    assert span["description"] == "load from jdbc:x://h?user=me&password=*********(redacted)"
    assert recording.settings == {"emberscope.TaskSpan#secret": "*********(redacted)"}
    notes = [(note.code, note.message) for note in recording.facts.coverage.notes]
    assert notes == [("redacted", "2 secrets in texts replaced")]
    assert recording.facts.coverage.complete
