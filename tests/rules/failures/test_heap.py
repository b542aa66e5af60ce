from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.rules.failures.broadcast import RULE as BROADCAST
from emberscope.rules.failures.container_limit import RULE as CONTAINER
from emberscope.rules.failures.exit_code import RULE as EXIT_CODE
from emberscope.rules.failures.heap import RULE
from emberscope.rules.failures.heap_reader import RULE as READER
from emberscope.rules.failures.killed import RULE as KILLED
from emberscope.rules.failures.kryo import RULE as KRYO
from emberscope.rules.failures.python_worker import RULE as PYTHON
from emberscope.rules.failures.result_size import RULE as RESULTS
from emberscope.rules.failures.terminated import RULE as TERMINATED
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

PIECES = [
    literal
    for rule in (RULE, BROADCAST, CONTAINER, EXIT_CODE, KILLED, KRYO)
    for s in rule.signatures
    for literal in s.literals
]
PIECES += ["9" * 5000, "executor 3", "container_1_0001_01_000001", "(8.2 GB of 8 GB physical memory used)"]
TASK = "22/01/01 00:01:00 ERROR Executor: Exception in task 1.0 in stage 2.0 (TID 3)\n"


def titles(text: str) -> list[str]:
    return [finding.title for finding in found(RULE, run_of_log(text, rules=(RULE, READER)))]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("java.lang.OutOfMemoryError: Java heap space", "ran out of heap (Java heap space)"),
        ("java.lang.OutOfMemoryError: GC overhead limit exceeded", "ran out of heap (GC overhead limit exceeded)"),
        ("java.lang.OutOfMemoryError: Metaspace", "Metaspace"),
        ("java.lang.OutOfMemoryError: unable to create new native thread", "another thread"),
        ("java.lang.OutOfMemoryError: unable to create native thread: possibly out of memory", "another thread"),
        ("java.lang.OutOfMemoryError: Requested array size exceeds VM limit", "an array"),
        ("java.lang.OutOfMemoryError: Direct buffer memory", "direct memory"),
        # PlatformDependent of Netty.
        (
            "io.netty.util.internal.OutOfDirectMemoryError: failed to allocate 16777216 byte(s) of direct memory "
            "(used: 1056964615, max: 1073741824)",
            "direct memory",
        ),
        # MemoryConsumer of Spark 2 to 4.
        (
            "org.apache.spark.memory.SparkOutOfMemoryError: [UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes "
            "of memory, got 0. SQLSTATE: 53200",
            "too little memory for a sort",
        ),
        ("java.lang.OutOfMemoryError: Unable to acquire 100 bytes of memory, got 0", "too little memory for a sort"),
    ],
)
def test_the_part_that_was_full_is_named(error: str, words: str) -> None:
    (title,) = titles(f"{TASK}{error}\n\tat java.util.Arrays.copyOf(Arrays.java:1)\n")
    assert title.startswith("An executor ")
    assert words in title


def test_the_jvm_that_the_operating_system_refused() -> None:
    # Words of the JVM's own report.
    said = "# There is insufficient memory for the Java Runtime Environment to continue.\n"
    assert titles(said) == ["A JVM found the machine without memory: the operating system refused it"]


@pytest.mark.parametrize(
    "log",
    [
        'Exception in thread "broadcast-exchange-0" java.lang.OutOfMemoryError: Java heap space\n',
        "22/01/01 00:01:00 ERROR Utils: uncaught error in thread dag-scheduler-event-loop, stopping SparkContext\n"
        "java.lang.OutOfMemoryError: Java heap space\n",
        'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat '
        "org.apache.spark.sql.Dataset.collect\n",
    ],
)
def test_the_drivers_heap_is_told_apart(log: str) -> None:
    (finding,) = found(RULE, run_of_log(log, rules=(RULE,)))
    assert finding.title == "The driver's heap is full (Java heap space)"
    assert "spark.driver.memory" in finding.advice[0].text
    assert finding.consequence == "ended"


def test_in_local_mode_there_is_one_heap() -> None:
    # TaskSchedulerImpl and Executor of Spark 3 in local mode.
    log = (
        "21/02/03 07:54:59 WARN TaskSetManager: Lost task 0.0 in stage 1.0 (TID 5) (localhost executor driver): "
        "java.lang.OutOfMemoryError: GC overhead limit exceeded\n"
    )
    (finding,) = found(RULE, run_of_log(log, rules=(RULE,)))
    assert "local-mode" in finding.title
    assert "spark.executor.memory has no effect" in finding.summary


def test_few_partitions_come_before_more_memory() -> None:
    (finding,) = found(RULE, run_of_log(f"{TASK}java.lang.OutOfMemoryError: Java heap space\n", rules=(RULE,)))
    assert finding.advice[0].kind == "code"
    assert "repartition()" in finding.advice[0].text


def test_a_question_is_answered() -> None:
    (finding,) = found(RULE, run_of_words("My Spark job fails with gc overhead limit exceeded", rules=(RULE,)))
    assert "ran out of heap" in finding.title


@pytest.mark.parametrize(
    "line",
    [
        # What YARN prints of every container that it starts, and a healthy count.
        "21/03/01 10:00:00 INFO YarnAllocator: command: {{JAVA_HOME}}/bin/java -server -Xmx4096m "
        "-XX:OnOutOfMemoryError='kill %p' org.apache.spark.executor.CoarseGrainedExecutorBackend",
        "21/03/01 10:00:00 INFO SparkEnv: -XX:+HeapDumpOnOutOfMemoryError -XX:+CrashOnOutOfMemoryError",
        "21/03/01 10:00:00 INFO MemoryStore: MemoryStore started with capacity 2.2 GiB",
        "21/03/01 10:00:00 INFO TaskMemoryManager: Memory used in task 12",
    ],
)
def test_healthy_lines_say_nothing(line: str) -> None:
    assert titles(line) == []


def test_a_tool_that_reads_event_logs_is_no_application() -> None:
    log = (
        "21/09/30 15:15:32 ERROR Qualification: error while processing event log /logs/app-1\n"
        "java.lang.OutOfMemoryError: Java heap space\n\tat scala.io.Source.getLines(Source.scala:1)\n"
    )
    run = run_of_log(log, rules=(RULE, READER))
    assert found(RULE, run) == []
    (finding,) = found(READER, run)
    assert "line by line" in finding.advice[0].text


@given(st.lists(st.sampled_from(PIECES), max_size=8), st.text("0123456789.-() GMKB\n", max_size=40))
def test_prop_no_line_breaks_a_rule(pieces: list[str], tail: str) -> None:
    rules = (RULE, READER, BROADCAST, CONTAINER, EXIT_CODE, KILLED, KRYO, PYTHON, RESULTS, TERMINATED)
    run = run_of_log("22/01/01 00:01:00 ERROR X: " + " ".join(pieces) + tail, rules=rules)
    for rule in rules:
        for finding in found(rule, run):
            assert finding.evidence
            assert finding.advice


def test_no_size_is_made_up_where_the_present_one_is_not_known() -> None:
    error = f"{TASK}java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays.copyOf(Arrays.java:1)\n"
    (unknown,) = found(RULE, run_of_log(error, rules=(RULE,)))
    assert not [one for one in unknown.advice if one.kind == "set"]
    assert any("spark.executor.memory" in one.text for one in unknown.advice)
    # A question that names another setting does not tell this one either.
    asked = run_of_words(f"We have spark.executor.cores=4 and get:\n{error}", rules=(RULE,))
    assert "spark.executor.memory" not in [one.setting for one in found(RULE, asked)[0].advice]
    told = run_of_words(f"We have spark.executor.memory=6g and get:\n{error}", rules=(RULE,))
    assert ("spark.executor.memory", "9g") in [(one.setting, one.value) for one in found(RULE, told)[0].advice]
