from __future__ import annotations

import pytest

from emberscope.rules.failures.program_error import RULE
from tests.rules.log_lines import run_of_log
from tests.runs import found

# As Spark's TaskSetManager, ApplicationMaster and PySpark's workers print user errors.
SCALA = """\
24/01/01 00:00:00 ERROR Executor: Exception in task 0.0 in stage 3.0 (TID 5)
java.lang.NumberFormatException: For input string: "n/a"
\tat java.lang.NumberFormatException.forInputString(NumberFormatException.java:65)
\tat com.example.Load$.parse(Load.scala:31)
24/01/01 00:00:01 ERROR TaskSetManager: Task 0 in stage 3.0 failed 4 times; aborting job"""
PYTHON = """\
Traceback (most recent call last):
  File "/home/u/job.py", line 40, in <module>
    main()
  File "/home/u/job.py", line 31, in main
    total = row["amout"]
KeyError: 'amout'"""
CLUSTER = (
    "24/01/01 00:00:00 ERROR ApplicationMaster: User class threw exception: java.lang.IllegalArgumentException: no "
    "input given\n"
    "java.lang.IllegalArgumentException: no input given\n\tat com.example.Main$.main(Main.scala:9)"
)


def test_the_line_of_the_program_and_what_to_look_for() -> None:
    (finding,) = found(RULE, run_of_log(SCALA))
    assert finding.title == 'NumberFormatException: For input string: "n/a" at Load.scala:31 in Load$.parse'
    assert finding.advice[0].text.startswith("A text is no number")
    assert (finding.where.stage, finding.where.line) == (3, "Load.scala:31")


def test_python() -> None:
    (finding,) = found(RULE, run_of_log(PYTHON))
    assert finding.title == "KeyError: 'amout' at job.py:31 in main"
    assert finding.consequence == "ended"


def test_the_application_master() -> None:
    (finding,) = found(RULE, run_of_log(CLUSTER))
    assert finding.title.startswith("IllegalArgumentException: no input given")


@pytest.mark.parametrize(
    "text",
    [
        # Lost executors and kills are no errors of the program.
        "24/01/01 00:00:00 WARN TaskSetManager: Lost task 0.0 in stage 1.0 (TID 1, h, executor 1): "
        "ExecutorLostFailure (executor "
        "1 exited caused by one of the running tasks) Reason: worker lost",
        "24/01/01 00:00:00 WARN TaskSetManager: Lost task 0.1 in stage 1.0 (TID 1, h, executor 1): TaskKilled "
        "(another attempt "
        "succeeded)",
        # What another rule knows is left to it.
        "24/01/01 00:00:00 ERROR Executor: Exception in task 0.0 in stage 3.0 (TID 5)\njava.lang.StackOverflowError\n"
        "\tat com.example.X.y(X.scala:1)",
        "24/01/01 00:00:00 INFO TaskSetManager: Finished task 0.0 in stage 1.0 (TID 1) in 5 ms on h (executor 1) (1/1)",
    ],
)
def test_silent_where_it_is_not_the_programs(text: str) -> None:
    assert found(RULE, run_of_log(text)) == []


def test_what_nobody_knows_is_said_to_be_unknown() -> None:
    text = (
        "24/01/01 00:00:00 ERROR X: Job aborted due to stage failure: the moon was "
        "full\norg.apache.spark.SparkException: moon"
    )
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith("The job ended with an error that no rule knows")
    assert finding.confidence < 0.5
