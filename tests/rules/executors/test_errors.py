from __future__ import annotations

from emberscope.rules.executors.errors import exception_line, program_line

PYTHON = """[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):
  File "/venv/lib/python3.11/site-packages/pyspark/python/lib/pyspark.zip/pyspark/worker.py", line 4327, in invoke_udf
    run_process()
  File "/jobs/daily.py", line 45, in flaky
    raise ValueError("again")
  File "/venv/lib/python3.11/site-packages/dateutil/parser.py", line 3, in parse
ValueError: again
 SQLSTATE: 38000"""
JAVA = """java.io.FileNotFoundException: /data/a/b/c/d/temp_shuffle_1 (No space left on device)
\tat java.base/java.io.FileOutputStream.open0(Native Method)
\tat org.apache.spark.storage.DiskBlockObjectWriter.open(DiskBlockObjectWriter.scala:181)
\tat com.acme.jobs.Clean$.parse(Clean.scala:37)"""


def test_a_python_error_is_its_last_line_and_the_users_own_line() -> None:
    assert exception_line("org.apache.spark.api.python.PythonException", PYTHON) == "ValueError: again"
    assert program_line(PYTHON) == "daily.py:45 in flaky"


def test_a_java_error_is_its_first_line_with_the_reason_behind_a_long_path() -> None:
    said = exception_line("java.io.FileNotFoundException", JAVA)
    assert said == "FileNotFoundException: …/temp_shuffle_1 (No space left on device)"
    assert program_line(JAVA) == "Clean.scala:37 in Clean$.parse"


def test_what_spark_says_before_the_exception_is_left_out() -> None:
    message = (
        "Job aborted due to stage failure: Task 0 in stage 5.0 failed 4 times, most recent failure: Lost task 0.3 in "
        "stage 5.0 (TID 19) (host executor 2): java.lang.ArithmeticException: / by zero"
    )
    assert exception_line(None, message) == "java.lang.ArithmeticException: / by zero"


def test_nothing_is_made_of_nothing() -> None:
    assert exception_line(None, None) == ""
    assert exception_line("a.b.Oops", "") == "Oops"
    assert program_line(None) is None


def test_an_error_without_words_is_its_name() -> None:
    text = PYTHON.replace("ValueError: again", "MemoryError")
    assert exception_line("org.apache.spark.api.python.PythonException", text) == "MemoryError"
