from __future__ import annotations

from emberscope.rules.failures.code_too_large import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# SPARK-22523 and SPARK-16845; the words are CodeGenerator's and WholeStageCodegenExec's own.
FELL_BACK = """\
18/01/01 00:00:00 ERROR CodeGenerator: failed to compile: org.codehaus.janino.InternalCompilerException: Compiling \
"GeneratedClass": Code of method "agg_doAggregateWithKeys$(Lorg/X;)V" of class \
"org.apache.spark.sql.catalyst.expressions.GeneratedClass$GeneratedIteratorForCodegenStage7" grows beyond 64 KB
18/01/01 00:00:00 WARN WholeStageCodegenExec: Whole-stage codegen disabled for plan (id=7):
 *(7) HashAggregate(keys=[a#1], functions=[sum(b#2)])"""
TOO_LONG = (
    "18/01/01 00:00:00 INFO WholeStageCodegenExec: Found too long generated codes and JIT optimization might not work: "
    "the bytecode size (12345) is above the limit 8000, and the whole-stage codegen was disabled for this plan (id=3)."
)


def test_a_fallback_is_a_hint_and_not_the_cause_of_a_failure() -> None:
    (finding,) = found(RULE, run_of_log(FELL_BACK))
    assert finding.title.startswith("Generated code of plan 7 is too large")
    assert finding.consequence == "hint"
    assert "not why a job failed" in finding.summary


def test_it_is_one_where_the_job_ended_with_it() -> None:
    text = (
        "ERROR FileFormatWriter: Aborting job 1.\norg.apache.spark.SparkException: Job aborted due to stage failure: "
        "Task 0\n"
        "Caused by: org.codehaus.janino.InternalCompilerException: failed to compile: org.codehaus.commons.compiler."
        "CompileException: grows beyond 64 KB"
    )
    (finding,) = found(RULE, run_of_log(text))
    assert finding.consequence == "ended"
    assert finding.advice[-1].setting == "spark.sql.codegen.wholeStage"


def test_code_that_the_jit_does_not_compile() -> None:
    (finding,) = found(RULE, run_of_log(TOO_LONG))
    assert finding.title == "Generated code is too long for the JIT compiler: 12,345 bytes in one method"
    assert finding.consequence == "hint"


def test_in_plain_words() -> None:
    (finding,) = found(RULE, run_of_words("my query says the generated method is over 64 KB, is that why it is slow?"))
    assert "64 KB" in finding.title


def test_silent_on_healthy_lines() -> None:
    healthy = "24/01/01 00:00:00 INFO CodeGenerator: Code generated in 12.3 ms"
    assert found(RULE, run_of_log(healthy)) == []
