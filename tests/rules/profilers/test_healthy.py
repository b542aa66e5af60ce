"""Lines of healthy jobs and of profilers that work, which look like troubles."""

from __future__ import annotations

import re

import pytest

from tests.rules.profilers.pasted import PROFILERS, answers

_HEALTHY = [
    "Profiling for 30 seconds\nDone",
    "Profiling started",
    "Started recording 1.\n\nUse jcmd 4711 JFR.dump name=1 to copy recording data to file.",
    "[0.512s][info][jfr,startup] Started recording 1. No limit specified, using maxsize=250MB as default.",
    "[ perf record: Woken up 12 times to write data ]\n"
    "[ perf record: Captured and wrote 3.301 MB perf.data (20311 samples) ]",
    "    12.31%  java  perf-4711.map       [.] Lorg/apache/spark/sql/Job;::run",
    "java 4711 812.500000: 10101010 cpu-clock:\n        7f01 Lorg/apache/spark/Task;::run+0x10 (/tmp/perf-4711.map)",
    "24/06/01 10:00:00 INFO ExecutorJVMProfiler: Executor JVM profiling started.",
    "24/06/01 10:00:00 INFO FileOutputCommitter: File Output Committer skip cleanup _temporary folders: false",
    "24/06/01 10:00:00 INFO InsertIntoHadoopFsRelationCommand: the table is overwritten",
    "24/06/01 10:00:00 INFO SparkContext: Running Spark version 3.5.3\n"
    "24/06/01 10:00:01 INFO Executor: Starting executor",
    "spark.executor.extraJavaOptions=-agentpath:/opt/libasyncProfiler.so=start,jfr,file=/data/{{EXECUTOR_ID}}-%p.jfr",
    "spark.plugins=org.apache.spark.profiler.ProfilerPlugin\nspark.profiler.executor.enabled=true",
    "Why is my join slow? One task runs for 50 minutes and 249 finish in seconds.",
    "My Spark job died with OutOfMemoryError: Java heap space in executor 3.",
    "My Spark job shows a stack trace with java.io.IOException: Broken pipe",
    "The performance is bad, and then it says too many open files",
    "Reading user_profiles from s3a://bucket/users fails with 403",
    "All users of the table profile have the same name",
    "The user agent column is missing on the driver after the executors wrote it",
    "My agent container says class not found",
    "Rows of Austin are denied by a permission filter",
    "The executors cannot reach the driver; connection refused.",
]


@pytest.mark.parametrize("text", _HEALTHY)
def test_healthy_lines_are_left_alone(text: str) -> None:
    assert list(answers(text)) == []


def test_signatures_are_well_formed() -> None:
    signatures = [signature for rule in PROFILERS for signature in rule.signatures]
    assert len({signature.name for signature in signatures}) == len(signatures)
    for signature in signatures:
        re.compile(signature.pattern, re.MULTILINE)
        assert all(len(literal) >= 5 for literal in signature.literals)
        assert signature.literals or signature.words
        for parts in signature.words:
            assert len(parts) > 1
            assert all(re.compile(part, re.IGNORECASE) for part in parts)
