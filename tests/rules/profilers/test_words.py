"""Questions about profilers in words of people who ask them."""

from __future__ import annotations

import pytest

from tests.rules.profilers.pasted import answers

_ASKED = [
    ("P1", "async-profiler in a pod: perf_event_open is refused by seccomp, what can I do?"),
    ("P1", "The flame graph has no samples in system calls although strace shows the job in socket write all the time"),
    ("P2", "perf complains about the locked memory limit of my user when I profile an executor"),
    ("P3", "With async-profiler the executor says too many open files"),
    ("P4", "My JFR recording cannot be opened; the executor was killed by OOM and the chunk is incomplete"),
    ("P4", "A streaming job that is killed gives no data for the flame graph, the profiler only writes at the end"),
    ("P4", "The jfr file of my executor has 0 bytes"),
    ("P5", "All executors write their JFR to the same file on NFS and the result is corrupt"),
    ("P5", "I profile 20 executors; every one has the same output path. Recordings get mixed up."),
    ("P6", "asprof ends without an error but the output is not created; directory does not exist in the container?"),
    ("P8", "jcmd cannot attach to the executor: not responding"),
    ("P9", "Flame graphs of executors are not uploaded to gs://my-bucket/profiles"),
    ("P11", "I run a java agent profiler on the executors but there is nothing on the driver machine"),
    ("P12", "perf flame graph of a java process shows only [unknown] and hex addresses"),
    ("P13", "perf shows Interpreter instead of method names for my java stacks"),
    ("P14", "Spark flame graph by perf: stacks are broken, most Java frames have no parent"),
    ("P15", "perf record as root gives perf-4711.data but no svg and no stacks come out of the script"),
    ("P16", "py-spy in Kubernetes: permission denied when I attach to the pyspark worker"),
    ("P17", "After enabling async-profiler the executors die with SIGSEGV and leave an hs_err file"),
    ("P19", "In Flight Recorder all stacks are truncated at 64 frames"),
    ("P20", "The qualification tool runs out of memory on a 12 GB event log"),
    ("P23", "perf says that cycles are not supported on this cloud instance"),
    ("P22", "spark.profile.show() prints nothing after my pandas udf with the udf profiler"),
]


@pytest.mark.parametrize(("code", "text"), _ASKED)
def test_a_question_finds_its_rule(code: str, text: str) -> None:
    found = answers(text)
    assert code in found
    assert found[code].confidence <= 0.6
    assert len(found) <= 2
