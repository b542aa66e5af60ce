from __future__ import annotations

import pytest

from emberscope.rules.failures.python_worker import RULE
from emberscope.tuning.valid import defects
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

TASK = "22/01/01 00:01:00 ERROR Executor: Exception in task 1.0 in stage 2.0 (TID 3)\n"
# PythonRunner and PythonWorkerFactory of Spark 2 to 4.
CRASHED = (
    f"{TASK}org.apache.spark.SparkException: Python worker exited unexpectedly (crashed)\n\tat a.b(C.scala:1)\n"
    "Caused by: "
)
EOF = "java.io.EOFException\n\tat java.io.DataInputStream.readInt(DataInputStream.java:392)\n"


def test_a_crash_without_a_word_names_both_causes_and_where_to_look() -> None:
    run = run_of_log(CRASHED + EOF, rules=(RULE,))
    (finding,) = found(RULE, run)
    assert "killed for memory, or native code crashed" in finding.title
    assert finding.advice[0].kind == "check"
    assert ("spark.python.worker.faulthandler.enabled", "true") in {(a.setting, a.value) for a in finding.advice}
    assert defects(finding.advice, run) == []


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (f"{CRASHED}{EOF}Fatal Python error: Segmentation fault\n", "Native code crashed a Python worker"),
        (f"{CRASHED}{EOF}Container killed, exit code 137 (OOMKilled)\n", "was killed, most often for memory"),
        (
            f"{TASK}org.apache.spark.SparkException: Python worker failed to connect back.\n",
            "never connected back to the JVM",
        ),
        (
            f'{TASK}java.io.IOException: Cannot run program "python3": error=2, No such file or directory\n',
            "Executors cannot start Python (python3: No such file or directory",
        ),
        (
            f"{TASK}Exception: Python in worker has different version 3.7 than that in driver 3.8, PySpark cannot run "
            "with "
            "different minor versions.\n",
            "another version of Python than the driver: 3.7 and 3.8",
        ),
        (
            f"{TASK}org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
            "numpy.core._exceptions._ArrayMemoryError: Unable to allocate 8.00 GiB for an array\n",
            "ran out of memory (_ArrayMemoryError)",
        ),
    ],
)
def test_what_ended_the_worker(text: str, title: str) -> None:
    (finding,) = found(RULE, run_of_log(text, rules=(RULE,)))
    assert title in finding.title


def test_in_plain_words() -> None:
    (finding,) = found(RULE, run_of_words("My pandas UDF is killed, out of memory", rules=(RULE,)))
    assert "memory" in finding.title


@pytest.mark.parametrize(
    "line",
    [
        "22/01/01 00:01:00 INFO PythonRunner: Times: total = 43, boot = 3, init = 20, finish = 20",
        "22/01/01 00:01:00 ERROR Executor: ValueError: MemoryError is not a column",
        'java.io.IOException: Cannot run program "/usr/bin/nvidia-smi": error=2, No such file or directory',
    ],
)
def test_other_lines_say_nothing(line: str) -> None:
    assert found(RULE, run_of_log(line, rules=(RULE,))) == []


# Recorded with Spark 4.3.0: a worker whose code read from address 0. Neither code nor signal is told.
CRASHED = (
    "26/12/01 04:50:18 WARN TaskSetManager: Lost task 3.3 in stage 0.0 (TID 11) (127.0.0.1 executor 1): TaskKilled "
    "(Stage cancelled: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent failure: Lost "
    "task 0.3 in stage 0.0 (TID 10) (127.0.0.1 executor 0): org.apache.spark.SparkException: Python worker exited "
    "unexpectedly (crashed).\n"
    "\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator$$anonfun$1.applyOrElse(PythonRunner.scala:139)\n"
    "\tat org.apache.spark.scheduler.ResultTask.runTask(ResultTask.scala:137)\n"
)


def test_lines_of_a_trace_and_killed_tasks_tell_no_exit_code():
    (finding,) = found(RULE, run_of_log(CRASHED))
    assert "killed for memory, or native code crashed" in finding.title
