import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.errors import InputError
from emberscope.perf.script import looks_like_perf_script, read_perf_script
from tests.perf.profiles import DATA, by_stack, kinds, notes

RUST = (DATA / "rust-mangled.linux-perf.txt").read_bytes()
FORKS = (DATA / "forks.linux-perf.txt.gz").read_bytes()
JAVA = b"""# hostname : h
Executor task l 4711/4733 [002]   812.500000001:   10101010 cpu-clock:u:
\t    7f3d5c0a1bac void org.apache.spark.sql.catalyst.GeneratedClass.processNext()+0xbac (/tmp/perf-4711.map)
\t    7f3d5c0a1000 Lorg/apache/spark/scheduler/Task;::run+0x10 (/tmp/perf-4711.map)
\t    7f3d5c000c20 Interpreter+0x20 (/tmp/perf-4711.map)
\t    7f3d6d0a1000 JavaCalls::call_helper(JavaValue*, methodHandle const&)+0x3a0 (/usr/lib/jvm/lib/server/libjvm.so)

GC Thread#0 4711/4720 [001]   813.600000:   10101010 cpu-clock:u:
\tffffffff81e00099 entry_SYSCALL_64_after_hwframe+0x6e ([kernel.kallsyms])
\t    7f3d6d0a2000 futex_wait (deleted) (/usr/lib/libold.so (deleted))

java 4711/4711 [000]   814.000000:   10101010 cpu-clock:u:

"""


def test_java():
    recording = read_perf_script(JAVA, "x")
    generated = "org.apache.spark.sql.catalyst.GeneratedClass.processNext"
    call = "JavaCalls::call_helper(JavaValue*, methodHandle const&)"
    assert by_stack(recording) == {
        (call, "Interpreter", "org.apache.spark.scheduler.Task.run", generated): 1,
        ("futex_wait (deleted)", "entry_SYSCALL_64_after_hwframe"): 1,
        (): 1,
    }
    assert kinds(recording) == {
        generated: "java",
        "org.apache.spark.scheduler.Task.run": "java",
        "Interpreter": "java",
        call: "native",
        "entry_SYSCALL_64_after_hwframe": "kernel",
        "futex_wait (deleted)": "native",
    }
    first, second, _ = recording.samples.to_pylist()
    assert (first["thread_name"], first["os_thread_id"], first["time_ns"]) == ("Executor task l", 4733, 812_500_000_001)
    assert (first["event"], first["count"], first["value"], first["truncated"]) == ("cpu", 1, 10_101_010, False)
    assert (second["thread_name"], second["os_thread_id"]) == ("GC Thread#0", 4720)
    facts = recording.facts
    assert (facts.format, facts.chunks, facts.event_counts) == ("perf-script", 0, {"cpu-clock:u": 3})
    assert (facts.start_ms, facts.duration_ms, facts.samples["cpu"]) == (None, 1499, 3)
    assert facts.leaf_top == ((generated, 1), ("entry_SYSCALL_64_after_hwframe", 1))
    assert facts.coverage.complete


@pytest.mark.parametrize(
    ("data", "samples", "event", "value"),
    [(RUST, 96, "task-clock:ppp", 16_949_152), (FORKS, 561, "cpu-clock", 1_001_001)],
)
def test_real_files(data, samples, event, value):
    recording = read_perf_script(data, "x")
    assert recording.facts.event_counts == {event: samples}
    assert recording.facts.samples["cpu"] == samples
    assert set(recording.samples["value"].to_pylist()) == {value}
    assert "malformed_line" not in notes(recording)
    assert all("+0x" not in name for name in kinds(recording))


def test_kernel_and_code_without_a_symbol():
    recording = read_perf_script(FORKS, "x")
    assert notes(recording) == {"unresolved": {"samples": 327}}
    assert set(recording.frames["kind"].to_pylist()) == {"native", "kernel"}
    stacks = by_stack(recording)
    assert stacks.total() == 561
    assert any(path[-2:] == ("main", "_Z5gammav") for path in stacks)


def test_a_last_sample_that_does_not_end():
    recording = read_perf_script((DATA / "one-sample.linux-perf.txt").read_bytes(), "x")
    assert by_stack(recording) == {("[unknown]", "__libc_start_main", "main", "_Z5deltav", "_Z4betav"): 1}
    assert notes(recording) == {"cut": {}}
    assert recording.samples["truncated"].to_pylist() == [True]


def test_other_forms_of_the_line_of_a_sample():
    data = b"""        sandpile  1751 13289.335292:   10101010 cycles:uhH:  559a3f21248b sand::topple+0x24b (/bin/pile)
java  77 13289.335300: cpu_core/cycles/u:
\t559a3f21248b main (/bin/java)

:-1    -1 [003] d..2. 13290.000000:  5 cycles:
\t559a3f21248b main (/bin/java)

"""
    recording = read_perf_script(data, "x")
    assert recording.facts.event_counts == {"cpu_core/cycles/u": 1, "cycles": 1, "cycles:uhH": 1}
    assert by_stack(recording) == {("sand::topple",): 1, ("main",): 2}
    assert recording.samples["value"].to_pylist() == [None] * 3
    assert recording.samples["thread_name"].to_pylist() == ["sandpile", "java", ":-1"]


def test_only_one_measure_of_time_is_drawn_and_the_rest_is_counted():
    data = b"""java 7 1.0: 10 cycles:
\t1f main (/bin/java)

java 7 1.1: 10 task-clock:
\t1f main (/bin/java)

java 7 1.2: 1 page-faults:
\t1f main (/bin/java)

java 7 1.3: sched:sched_switch: prev_comm=java prev_pid=7 ==> next_comm=add (x)
\t1f main (/bin/java)

"""
    recording = read_perf_script(data, "x")
    assert recording.facts.event_counts == {"cycles": 1, "page-faults": 1, "sched:sched_switch": 1, "task-clock": 1}
    assert recording.facts.samples["cpu"] == 1
    assert [note.code for note in recording.facts.coverage.notes] == ["limited"] * 3
    assert not recording.facts.coverage.complete


def test_epoch_times_lost_events_and_foreign_lines():
    data = b"""java 0 [000] 1700000000.000000: PERF_RECORD_MMAP2 1/1: [0x1(0x2) @ 0]: r-xp /bin/java
java 0 [000] 1700000000.100000: PERF_RECORD_LOST lost 12
java 7 1700000000.500000: 10 cycles:
\t1f main (/bin/java)
\t1g main (/bin/java)

what is this
"""
    recording = read_perf_script(data, "x")
    assert (recording.facts.start_ms, recording.facts.duration_ms) == (1_700_000_000_500, 0)
    assert notes(recording) == {"dropped_events": {"events": 12}, "malformed_line": {"lines": 2}}
    assert by_stack(recording) == {("main",): 1}


def test_stacks_as_deep_as_perf_keeps():
    data = b"java 7 1.0: 10 cycles:\n" + b"".join(b"\t%x f%d (/bin/java)\n" % (n, n) for n in range(127)) + b"\n"
    recording = read_perf_script(data, "x")
    assert notes(recording) == {"truncated_stacks": {"samples": 1}}
    assert recording.samples["truncated"].to_pylist() == [True]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"Dear diary\n", "holds no sample"),
        (b"# cmdline\n", "holds no sample"),
        (FORKS[:12], "gzip"),
    ],
)
def test_nothing_to_read(data, words):
    with pytest.raises(InputError, match=words):
        read_perf_script(data, "x")


@given(st.integers(0, len(RUST)))
def test_any_prefix_is_read_or_refused(length):
    try:
        recording = read_perf_script(RUST[:length], "x")
    except InputError:
        assert b"\n" not in RUST[:length]
        return
    complete = RUST[:length].count(b"\n\n")
    assert complete <= recording.facts.samples["cpu"] <= complete + 1
    assert recording.facts.samples["cpu"] == sum(by_stack(recording).values()) == recording.samples.num_rows
    assert recording.facts.coverage.complete == RUST[:length].endswith(b"\n\n")
    assert looks_like_perf_script(RUST[:length])


@given(st.data())
def test_damage_is_no_crash(data):
    damaged = bytearray(gzip.decompress(FORKS)[:3000])
    for _ in range(data.draw(st.integers(1, 20))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    recording = read_perf_script(bytes(damaged), "x")
    assert recording.facts.samples["cpu"] <= sum(recording.facts.event_counts.values())
