"""Recordings as tables: exact facts of real files, and laws that hold for all."""

from __future__ import annotations

import gzip
import math
from collections import Counter

import pytest

from emberscope import unpack
from emberscope.errors import InputError
from emberscope.jfr.recording import read_recording
from emberscope.tables.frame_names import class_name
from emberscope.tables.recording import Origin, Recording
from emberscope.tables.stack_tree import StackTree
from tests.jfr.recordings import DATA, by_stack, paths, plain


def read(name: str) -> Recording:
    return read_recording(plain(name), name)


def codes(recording: Recording) -> set[str]:
    return {note.code for note in recording.facts.coverage.notes}


def test_facts_of_a_recording_of_jdk_17() -> None:
    facts = read("workload-jdk17.jfr.gz").facts
    assert (facts.format, facts.chunks, facts.chunk_versions) == ("jfr", 1, ("2.1",))
    assert facts.event_counts == {
        "emberscope.TaskSpan": 8,
        "emberscope.TaskStart": 8,
        "jdk.ActiveSetting": 343,
        "jdk.CPULoad": 12,
        "jdk.ExecutionSample": 71,
        "jdk.GCHeapSummary": 14,
        "jdk.GarbageCollection": 7,
        "jdk.JavaMonitorEnter": 1,
        "jdk.ObjectAllocationSample": 641,
    }
    assert facts.samples == {
        "cpu": 71,
        "wall": 0,
        "alloc": 641,
        "lock": 1,
        "io": 0,
        "live": 0,
        "native": 0,
        "nativemem": 0,
        "nativelock": 0,
    }
    assert (facts.start_ms, facts.duration_ms) == (1796028418393, 3120)
    assert facts.leaf_top[0] == ("Workload.burn", 69)
    assert [(n.code, n.lost) for n in facts.coverage.notes] == [("truncated_stacks", {"samples": 33})]


def test_the_cpu_time_sampler_of_jdk_25() -> None:
    recording = read("workload-jdk25.jfr.gz")
    assert recording.facts.event_counts["jdk.CPUTimeSample"] == 57
    assert recording.facts.event_counts["jdk.ExecutionSample"] == 66
    assert recording.facts.samples["cpu"] == 57, "those of the other sampler count the same"
    rows = [row for row in recording.samples.to_pylist() if row["event"] == "cpu"]
    assert Counter(row["value"] for row in rows) == {10_000_000: 56, 20_000_000: 1}
    assert Counter(row["state"] for row in rows) == {None: 57}
    assert recording.settings["jdk.CPUTimeSample#throttle"] == "10ms"


def test_samples_stand_on_the_program_s_own_stacks() -> None:
    recording = read("workload-jdk17.jfr.gz")
    leaf_counts: Counter[str] = Counter()
    root_counts: Counter[str] = Counter()
    for (event, stack), count in by_stack(recording).items():
        if event == "cpu":
            leaf_counts[stack[-1]] += count
            root_counts[stack[0]] += count
    assert leaf_counts["Workload.burn"] == 69
    assert root_counts["java.lang.Thread.run"] > 30
    assert root_counts["[truncated]"] == 33, "100 calls deep, of which 64 frames were kept"
    lambdas = {
        name for name in recording.frames["name"].to_pylist() if "Lambda" in name and name.startswith("Workload")
    }
    assert lambdas == {"Workload$$Lambda.run", "Workload$$Lambda.applyAsLong"}
    assert set(recording.frames["kind"].to_pylist()) == {"java"}
    truncated = Counter(zip(*(recording.samples[c].to_pylist() for c in ("event", "truncated")), strict=True))
    assert truncated["cpu", True] == 33


def test_threads_and_times_of_samples() -> None:
    recording = read("workload-jdk17.jfr.gz")
    rows = [row for row in recording.samples.to_pylist() if row["event"] == "cpu"]
    busy = {(row["thread_name"], row["thread_id"]) for row in rows if (row["thread_name"] or "").startswith("worker")}
    assert busy == {("worker-1", 15), ("worker-2", 16)}
    assert all(row["os_thread_id"] > 0 for row in rows)
    start_ns = recording.facts.start_ms * 1_000_000
    end_ns = start_ns + (recording.facts.duration_ms + 1) * 1_000_000
    assert all(start_ns <= row["time_ns"] <= end_ns for row in rows)


def test_spans_hold_every_field_and_cover_their_thread_s_samples() -> None:
    recording = read("workload-jdk17.jfr.gz")
    spans = recording.spans.to_pylist()
    starts = {row["task_id"]: row for row in spans if row["end_ns"] is None}
    ends = {row["task_id"]: row for row in spans if row["end_ns"] is not None}
    assert starts.keys() == ends.keys() == {1000, 1001, 1002, 1003, 2000, 2001, 2002, 2003}
    for task_id, span in ends.items():
        stage, index = divmod(task_id, 1000)
        start = starts[task_id]
        same = {name: value for name, value in span.items() if name not in ("start_ns", "end_ns", "outcome")}
        assert same == {name: start[name] for name in same}
        assert start["start_ns"] <= span["start_ns"] < span["end_ns"]
        assert (start["outcome"], span["outcome"]) == (None, "failed" if index == 0 else "success")
        assert (span["stage_id"], span["stage_attempt"], span["partition"]) == (stage, 0, index)
        assert (span["attempt"], span["thread_id"]) == (index % 2, 14 + stage)
        assert span["sql_execution_id"] == (7 if stage == 1 else None)
        assert span["job_group"] == ("group-é日😀" if stage == 1 else None)
        assert span["description"] == f"stage {stage}"
    inside = Counter(
        any(s["thread_id"] == row["thread_id"] and s["start_ns"] <= row["time_ns"] < s["end_ns"] for s in ends.values())
        for row in recording.samples.to_pylist()
        if row["event"] == "cpu" and row["thread_id"] in (15, 16)
    )
    assert inside[True] / inside.total() > 0.95


def test_series() -> None:
    recording = read("full_gc_g1.jfr.gz")
    pauses = recording.series.filter(recording.series["name"].to_numpy(zero_copy_only=False) == "gc_pause_ms")
    assert pauses.num_rows == recording.facts.event_counts["jdk.GarbageCollection"] == 108
    assert all(0 <= ms < 5000 for ms in pauses["value"].to_pylist())
    points = read("workload-jdk25.jfr.gz").series.to_pylist()
    assert Counter(point["name"] for point in points) == {
        "heap_used_bytes": 8,
        "heap_committed_bytes": 8,
        "gc_pause_ms": 4,
        "gc_longest_pause_ms": 4,
        "cpu_process_ratio": 16,
        "cpu_machine_ratio": 16,
        "rss_bytes": 16,
        "rss_peak_bytes": 16,
    }
    for point in points:
        if point["name"].endswith("_ratio"):
            assert 0 <= point["value"] <= 1.001
        if point["name"].endswith("_bytes"):
            assert 1 << 20 < point["value"] < 1 << 30


def test_chunks_of_two_versions_in_a_file_of_async_profiler() -> None:
    recording = read("FastSlow_2024_01_16_180855.jfr.gz")
    facts = recording.facts
    assert (facts.chunks, facts.chunk_versions) == (3, ("2.0", "2.1"))
    assert facts.event_counts["profiler.WallClockSleeping"] == 11, "events that we do not use are counted too"
    assert facts.samples["cpu"] == 1012
    assert facts.leaf_top[0] == ("FastSlow.fib", 999)
    alloc = [row["value"] for row in recording.samples.to_pylist() if row["event"] == "alloc"]
    assert (len(alloc), sum(alloc)) == (6, 4_689_568)


def test_native_frames_of_async_profiler_have_no_library() -> None:
    recording = read("cortex-dev-01__kafka-0__cpu__2.jfr.gz")
    assert recording.facts.samples["cpu"] == 482
    kinds = dict(zip(*(recording.frames[c].to_pylist() for c in ("name", "kind")), strict=True))
    assert kinds["epoll_ctl"] == "native"
    assert kinds["java.util.regex.Pattern$Slice.match"] == "java"
    values = {row["value"] for row in recording.samples.to_pylist()}
    assert values == {10_000_000}, "its interval of 0 means the default of 10 ms"


def test_oracle_s_old_format_is_refused_by_its_version() -> None:
    with pytest.raises(InputError, match=r"JFR format 0\.9 \(Oracle JDK 7 or 8\) is not supported"):
        read_recording((DATA / "2-7u40.jfr").read_bytes(), "2-7u40.jfr")


def test_version_1_is_counted_and_says_so() -> None:
    facts = read("MetadataBaseline_9.jfr.gz").facts
    assert facts.chunk_versions == ("1.0",)
    assert facts.event_counts["com.oracle.jdk.ModuleExport"] == 726
    assert facts.samples["cpu"] == 0
    assert [note.code for note in facts.coverage.notes] == ["unsupported_version"]
    assert not facts.coverage.complete


def test_the_chunk_of_a_killed_jvm_is_read_and_called_unfinished() -> None:
    recording = read("unfinished-jdk17.jfr.gz")
    assert recording.facts.samples["cpu"] == 466
    assert recording.facts.event_counts["emberscope.TaskStart"] == 60
    assert recording.facts.event_counts["emberscope.TaskSpan"] == 58
    assert codes(recording) == {"chunk_unfinished", "truncated_stacks"}
    assert recording.facts.duration_ms == 22047


def test_a_cut_chunk_gives_what_was_flushed_before_the_cut() -> None:
    data = plain("unfinished-jdk17.jfr.gz")
    whole = read_recording(data, "whole").facts.samples["cpu"]
    cut = read_recording(data[: len(data) * 3 // 4], "cut")  # half of it is types and settings
    assert whole / 4 < cut.facts.samples["cpu"] < whole
    resolved = sum(n for (event, stack), n in by_stack(cut).items() if event == "cpu" and stack)
    assert resolved > cut.facts.samples["cpu"] * 0.9, "the checkpoints before the cut resolve nearly all"
    assert {"cut", "chunk_unfinished"} & codes(cut)
    assert not cut.facts.coverage.complete


def test_after_damage_the_reader_goes_on_at_the_next_checkpoint() -> None:
    data = bytearray(plain("unfinished-jdk17.jfr.gz"))
    whole = read_recording(bytes(data), "whole").facts
    middle = len(data) * 3 // 4
    data[middle : middle + 64] = bytes(64)
    hurt = read_recording(bytes(data), "hurt").facts
    assert whole.samples["cpu"] * 0.8 < hurt.samples["cpu"] <= whole.samples["cpu"]
    assert not hurt.coverage.complete
    lost = sum(note.lost.get("bytes", 0) for note in hurt.coverage.notes)
    assert 0 < lost < len(data) / 5


def test_concatenated_files_are_the_sum_of_their_parts() -> None:
    names = ("workload-jdk25.jfr.gz", "workload-jdk17.jfr.gz", "unfinished-jdk17.jfr.gz", "new_spancontext.jfr.gz")
    parts = [read(name) for name in names]
    both = read_recording(b"".join(plain(name) for name in names), "all")
    assert both.facts.chunks == 4
    expected: Counter[tuple[str, tuple[str, ...]]] = Counter()
    events: Counter[str] = Counter()
    for part in parts:
        expected.update(by_stack(part))
        events.update(part.facts.event_counts)
    assert by_stack(both) == expected, "no chunk uses the constants of another"
    assert both.facts.event_counts == events
    assert both.spans.num_rows == sum(part.spans.num_rows for part in parts)
    assert sorted(both.samples["time_ns"].to_pylist()) == sorted(
        t for part in parts for t in part.samples["time_ns"].to_pylist()
    )


def test_a_bad_chunk_does_not_spoil_the_next() -> None:
    good = plain("workload-jdk17.jfr.gz")
    newer = good[:6] + b"\x00\x02" + good[8:]
    expected = by_stack(read_recording(good, "good"))
    for bad in (newer, good[:300], b"garbage", good[:8] + bytes(24) + good[32:200]):
        recording = read_recording(bad + good, "x")
        assert by_stack(recording) == expected
        assert not recording.facts.coverage.complete
    unsupported = [n for n in read_recording(newer + good, "x").facts.coverage.notes if n.code == "unsupported_version"]
    assert [n.lost for n in unsupported] == [{"chunks": 1, "bytes": len(good), "seconds": 3.1}]
    assert "JFR format 2.2" in unsupported[0].message


def test_gzip_cut_damaged_or_blown_up(monkeypatch: pytest.MonkeyPatch) -> None:
    data = plain("unfinished-jdk17.jfr.gz")
    packed = gzip.compress(data)
    assert by_stack(read_recording(packed, "x")) == by_stack(read_recording(data, "x"))
    assert by_stack(read_recording(packed + packed, "x")).total() == 2 * by_stack(read_recording(data, "x")).total()
    cut = read_recording(packed[: len(packed) * 2 // 3], "x")
    assert cut.facts.samples["cpu"] > 0
    assert "the gzip data end too early" in [note.message for note in cut.facts.coverage.notes]
    monkeypatch.setattr(unpack, "MIN_LIMIT_BYTES", 1 << 20)
    monkeypatch.setattr(unpack, "MAX_LIMIT_BYTES", 1 << 20)
    blown = read_recording(gzip.compress(data + bytes(4 << 20)), "x")
    assert "unpack to more than" in blown.facts.coverage.notes[0].message
    assert blown.facts.samples["cpu"] == 466


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty (0 bytes)"),
        (b"FLR", "cut within its first header"),
        (b"FLR\0\0\2\0\1" + bytes(30), "cut within its first header"),
        (b"hello, world; this is no recording\n" * 9, "not a JFR recording"),
        (gzip.compress(b"hello", mtime=0), "not a JFR recording"),
        (b"\x1f\x8b\x08rubbish", "gzip"),
        (b"FLR\0\0\2\0\1" + bytes(400), "header is damaged"),
    ],
)
def test_what_is_no_recording_is_said_in_a_sentence(data: bytes, words: str) -> None:
    with pytest.raises(InputError) as raised:
        read_recording(data, "file.jfr")
    assert words in str(raised.value)
    assert str(raised.value).startswith("file.jfr: ")


def test_origin_lines_and_a_shared_tree() -> None:
    data = plain("workload-jdk17.jfr.gz")
    tree = StackTree()
    first = read_recording(data, "a", origin=Origin("executor", "3", "host-1"), tree=tree)
    nodes = first.stacks.num_rows
    second = read_recording(data, "b", tree=tree)
    assert second.stacks.num_rows == nodes, "the same stacks are the same nodes"
    assert second.samples["stack"].to_pylist() == first.samples["stack"].to_pylist()
    for table in (first.samples, first.spans, first.series):
        assert set(table["role"].to_pylist()) == {"executor"}
        assert set(table["executor_id"].to_pylist()) == {"3"}
        assert set(table["host"].to_pylist()) == {"host-1"}
    assert set(second.samples["host"].to_pylist()) == {None}
    assert set(first.frames["line"].to_pylist()) == {0}
    lined = read_recording(data, "c", lines=True)
    burning = {
        path[-1] for path in paths(lined.stacks, lined.frames, lines=True)[1:] if path[-1].startswith("Workload.burn")
    }
    assert len(burning) > 1
    assert all(50 <= int(line.rsplit(":", 1)[1]) <= 60 for line in burning)


def test_the_facts_count_what_the_samples_table_holds() -> None:
    for file in sorted(DATA.glob("*.jfr.gz")):
        recording = read(file.name)
        counts: Counter[str] = Counter()
        for event, count in zip(*(recording.samples[c].to_pylist() for c in ("event", "count")), strict=True):
            counts[event] += count
        assert counts == {event: n for event, n in recording.facts.samples.items() if n}, file.name
        assert not any(math.isnan(v) for v in recording.series["value"].to_pylist()), file.name


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("java/util/Map$Entry", "java.util.Map$Entry"),
        ("a/B$$Lambda$14+0x0000000800c1c000/191037037", "a.B$$Lambda"),
        ("a/B$$Lambda+0x00007f2b3c001a18/1234", "a.B$$Lambda"),
        ("a/B$$Lambda/0x00007f2b3c001a18", "a.B$$Lambda"),
        ("a/B$$Lambda$27/872627152", "a.B$$Lambda"),
        ("a/B$$Lambda$27.872627152", "a.B$$Lambda"),
        ("java/lang/invoke/LambdaForm$MH+0x0000000800c1c000/7", "java.lang.invoke.LambdaForm$MH"),
        ("java/lang/invoke/LambdaForm$DMH/1337", "java.lang.invoke.LambdaForm$DMH"),
        ("a/GeneratedClass$GeneratedIteratorForCodegenStage2", "a.GeneratedClass$GeneratedIteratorForCodegenStage2"),
        ("a/Outer$1", "a.Outer$1"),
    ],
)
def test_class_names(written: str, shown: str) -> None:
    assert class_name(written) == shown
