from __future__ import annotations

import pytest

from emberscope.rules.failures.python_module import RULE
from tests.rules.log_lines import run_of_log
from tests.runs import found

# A worker's traceback as PythonRunner logs it, and messages of pyspark.sql.pandas.utils.
ON_EXECUTOR = """\
24/01/01 00:00:00 WARN TaskSetManager: Lost task 0.0 in stage 1.0 (TID 1) (h executor 2): \
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "/usr/lib/spark/python/lib/pyspark.zip/pyspark/worker.py", line 686, in main
  File "/home/u/job.py", line 12, in score
ModuleNotFoundError: No module named 'sklearn'"""
CASES = {
    "Python module numpy is missing in the driver's Python": "ModuleNotFoundError: No module named 'numpy'",
    "PyArrow 4.0.0 or later is missing": "ImportError: PyArrow >= 4.0.0 must be installed; however, it was not found.",
    "pandas is too new for this PySpark": "AttributeError: 'DataFrame' object has no attribute 'iteritems'",
    "numpy is too new for this PySpark": "AttributeError: module 'numpy' has no attribute 'bool'.",
    "A shared library is missing": "ImportError: libgomp.so.1: cannot open shared object file: No such file",
    "Python packages do not fit together": "ImportError: cannot import name 'soft_unicode' from 'markupsafe' (/x/y.py)",
}


def test_names_the_package_and_where_it_is_missing() -> None:
    (finding,) = found(RULE, run_of_log(ON_EXECUTOR))
    assert finding.title == "Python module sklearn is missing on the executors (job.py:12 in score)"
    assert "scikit-learn" in finding.summary
    assert [advice.text.startswith("Ship") for advice in finding.advice] == [True]


@pytest.mark.parametrize(("title", "text"), CASES.items(), ids=CASES)
def test_tells_missing_from_misfit(title: str, text: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith(title)


def test_a_version_that_is_too_old_is_named() -> None:
    text = "ImportError: Pandas >= 1.0.5 must be installed; however, your version was 0.25.3."
    (finding,) = found(RULE, run_of_log(text))
    assert "and 0.25.3 is there" in finding.title


def test_silent_on_other_errors() -> None:
    assert found(RULE, run_of_log("AttributeError: 'Row' object has no attribute 'x'")) == []
