import gzip
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.errors import InputError
from emberscope.perf.collapsed import looks_collapsed, read_collapsed
from emberscope.profile.fold import fold
from emberscope.profile.formats.folded import folded
from emberscope.tables.recording import Origin, Recording
from emberscope.tables.samples import EVENTS
from emberscope.tables.stack_tree import StackTree
from tests.perf.profiles import DATA, by_stack, kinds, notes

SAMPLE = (DATA / "sample1.collapsed").read_bytes()
NAMES = st.one_of(
    st.sampled_from(
        ["java/lang/Thread.run_[j]", "a.B.c_[i]", "sys_read_[k]", "Main.run_[0]", "read", "f (x.py:3)", "A$1.b"]
    ),
    st.text(st.characters(exclude_characters=";\n\r", exclude_categories=["Cs", "Cc"]), max_size=8),
)
STACKS = st.lists(st.tuples(st.lists(NAMES, min_size=1, max_size=5), st.integers(0, 10**6)), min_size=1, max_size=20)


def written(stacks: list[tuple[list[str], int]]) -> bytes:
    return "".join(f"main;{';'.join(names)} {count}\n" for names, count in stacks).encode()


def as_folded(recording: Recording) -> str:
    return folded(fold(recording.samples, recording.stacks, recording.frames))


def test_async_profiler():
    recording = read_collapsed(SAMPLE, "x", origin=Origin("executor", "1", "h"))
    facts = recording.facts
    assert (facts.format, facts.chunks, facts.event_counts) == ("collapsed", 0, {})
    assert (facts.start_ms, facts.duration_ms) == (None, None)
    assert facts.samples == dict.fromkeys(EVENTS, 0) | {"cpu": 185}
    assert facts.leaf_top[:3] == (("read", 143), ("jlong_disjoint_arraycopy", 15), ("BusyClient.run", 4))
    assert facts.coverage.complete
    assert kinds(recording)["NioSocketImpl.beginRead"] == "java"
    assert kinds(recording)["read"] == "native"
    assert {path[0] for path in by_stack(recording)} == {"BusyClient.run"}
    row = recording.samples.to_pylist()[0]
    assert (row["role"], row["executor_id"], row["host"], row["event"]) == ("executor", "1", "h", "cpu")
    assert row["time_ns"] is row["value"] is row["os_thread_id"] is None


@pytest.mark.parametrize("name", ["simple-crlf.txt", "simple-utf16-le.txt"])
def test_other_line_ends_and_encodings(name):
    recording = read_collapsed((DATA / name).read_bytes(), name)
    assert by_stack(recording) == {("a", "b", "c"): 5, ("a", "b", "d"): 4, ("a", "b"): 5}
    assert notes(recording) == {"cut": {}}  # neither file ends its last line


def test_lines_that_are_no_stacks():
    data = b"# of thread 7\n\na;b 2\nno count\n   \na;;operator new(int) 3\na;z 0\nc\t4\n12\n"
    recording = read_collapsed(data, "x")
    assert by_stack(recording) == {("a", "b"): 2, ("a", "[unknown]", "operator new(int)"): 3, ("c",): 4}
    assert notes(recording) == {"malformed_line": {"lines": 2}}


def test_fractions_are_rounded_and_said():
    recording = read_collapsed(b"a;b 2.5\na;c 1.4\na;d 3.0\na;e 4.\n", "x")
    assert by_stack(recording) == {("a", "b"): 3, ("a", "c"): 1, ("a", "d"): 3, ("a", "e"): 4}
    assert "2 lines have a fraction" in recording.facts.coverage.notes[0].message


def test_counts_beyond_all_measure_are_no_counts():
    recording = read_collapsed(b"a;b 1\n" + b"a;b 999999999999999999\n" * 20 + b"a;b 99999999999999999999\n", "x")
    assert recording.facts.samples["cpu"] == 1 + 9 * 999_999_999_999_999_999
    assert notes(recording) == {"malformed_line": {"lines": 12}}


def test_cut_files():
    assert notes(read_collapsed(b"a;b 1\na;b", "x")) == {"cut": {"lines": 1}}
    packed = gzip.compress(SAMPLE)
    assert by_stack(read_collapsed(packed, "x")) == by_stack(read_collapsed(SAMPLE, "x"))
    assert "cut" in notes(read_collapsed(packed[:-40], "x"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"Dear diary\n", "no collapsed stacks"),
        (b"# nothing\n", "no collapsed stacks"),
        (gzip.compress(SAMPLE, mtime=0)[:12], "gzip"),
    ],
)
def test_nothing_to_read(data, words):
    with pytest.raises(InputError, match=words):
        read_collapsed(data, "x")


@given(st.integers(0, len(SAMPLE)))
def test_any_prefix_is_read_or_refused(length):
    whole = read_collapsed(SAMPLE, "x").facts.samples["cpu"]
    try:
        recording = read_collapsed(SAMPLE[:length], "x")
    except InputError:
        assert b"\n" not in SAMPLE[:length]
        return
    assert 0 < recording.facts.samples["cpu"] <= whole
    assert recording.facts.coverage.complete == (length == 0 or SAMPLE[length - 1 : length] == b"\n")


@given(STACKS)
def test_counts_add_up_and_folded_output_reads_back_the_same(stacks):
    recording = read_collapsed(written(stacks), "x")
    assert recording.facts.samples["cpu"] == by_stack(recording).total() == sum(count for _, count in stacks)
    if recording.samples.num_rows:
        text = as_folded(recording)
        again = read_collapsed(text.encode(), "y")
        assert by_stack(again) == by_stack(recording)
        third = read_collapsed(as_folded(again).encode(), "z")
        assert as_folded(third) == as_folded(again)


def test_folded_output_of_a_real_file_reads_back_the_same():
    text = as_folded(read_collapsed(SAMPLE, "x"))
    assert as_folded(read_collapsed(text.encode(), "y")) == text
    assert looks_collapsed(text.encode())


def test_one_tree_serves_many_files():
    tree = StackTree()
    first = read_collapsed(b"a;b 1\n", "x", tree=tree)
    second = read_collapsed(b"a;b 2\na;c 1\n", "y", tree=tree)
    assert first.samples["stack"][0] == second.samples["stack"][0]
    assert by_stack(second) == Counter({("a", "b"): 2, ("a", "c"): 1})
