from __future__ import annotations

import pytest

from emberscope.rules.failures.error_condition import RULE
from tests.rules.log_lines import run_of_log
from tests.runs import found

# Messages of Spark 2.4 to 4 as its tests and users print them; Python's traces as PySpark writes them.
CASES = {
    "DIVIDE_BY_ZERO": (
        "org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] Division by zero. Use `try_divide` to tolerate "
        "divisor being 0 and return NULL instead. SQLSTATE: 22012",
        "values in the data",
    ),
    "UNRESOLVED_COLUMN.WITH_SUGGESTION": (
        "pyspark.errors.exceptions.captured.AnalysisException: [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, "
        "or function parameter with name `nme` cannot be resolved. Did you mean one of the following? [`name`]. "
        "SQLSTATE: 42703",
        "objectName nme",
    ),
    "UNRESOLVED_COLUMN": (
        "org.apache.spark.sql.AnalysisException: cannot resolve '`nme`' given input columns: [id, name]; line 1 pos 7",
        "objectName nme",
    ),
    "TABLE_OR_VIEW_NOT_FOUND": (
        "org.apache.spark.sql.AnalysisException: Table or view not found: sales; line 1 pos 14",
        "relationName sales",
    ),
    "INTERNAL_ERROR": (
        "org.apache.spark.SparkException: [INTERNAL_ERROR] The Spark SQL phase planning failed with an internal error. "
        "SQLSTATE: XX000",
        "Spark itself",
    ),
    "INCONSISTENT_BEHAVIOR_CROSS_VERSION": (
        "org.apache.spark.SparkUpgradeException: You may get a different result due to the upgrading of Spark 3.0",
        "query",
    ),
    "SOME_VENDORS_OWN": (
        "com.vendor.XException: [SOME_VENDORS_OWN] the vendor's words. SQLSTATE: 42000",
        "text of the query",
    ),
}


@pytest.mark.parametrize(("name", "text", "words"), [(name, *case) for name, case in CASES.items()], ids=CASES)
def test_decodes_the_condition(name: str, text: str, words: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith(f"{name}: ")
    assert words in finding.summary
    assert finding.consequence == "ended"
    assert finding.advice


def test_the_innermost_condition_is_told_and_frames_are_not() -> None:
    text = (
        "24/01/01 00:00:00 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID "
        "1)\norg.apache.spark.SparkException: "
        "[TASK_WRITE_FAILED] Task failed while writing rows to s3://b/t. SQLSTATE: 58030\n"
        "\tat org.apache.spark.X.y(X.scala:1)\n"
        "Caused by: org.apache.spark.SparkNumberFormatException: [CAST_INVALID_INPUT] The value 'x' of the type "
        '"STRING" '
        'cannot be cast to "INT" because it is malformed. SQLSTATE: 22018'
    )
    (finding,) = found(RULE, run_of_log(text))
    assert finding.title.startswith("CAST_INVALID_INPUT")
    assert "expression 'x'" in finding.summary
    assert finding.advice[-1].setting == "spark.sql.ansi.enabled"


def test_what_other_rules_tell_is_left_to_them() -> None:
    text = "org.apache.spark.SparkException: [PATH_ALREADY_EXISTS] Path x already exists. SQLSTATE: 42K04"
    assert found(RULE, run_of_log(text)) == []


def test_silent_on_words_in_brackets() -> None:
    text = (
        "13:12:52 [INFO] [o.a.s.s.DAGScheduler:61] - ResultStage 3 finished\n24/01/01 00:00:00 INFO X: state "
        "[RUNNING] ok"
    )
    assert found(RULE, run_of_log(text)) == []
