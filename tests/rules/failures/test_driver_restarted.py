from __future__ import annotations

from emberscope.rules.failures.driver_restarted import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# github.com/databrickslabs/ucx/issues/2398
STOPPED = """The spark driver has stopped unexpectedly and is restarting. Your notebook will be reattached.
	at com.databricks.spark.chauffeur.Chauffeur.onDriverStateChange(Chauffeur.scala:1478)"""
CODE = (
    "com.databricks.backend.common.rpc.DriverStoppedException: Driver down cause: driver state change (exit code: 137)"
)


def test_a_driver_that_was_restarted() -> None:
    (finding,) = found(RULE, run_of_log(f"{STOPPED}\n{CODE}"))
    assert finding.title == "The driver stopped and was restarted by Databricks (exit code 137)"
    assert "memory was full" in finding.summary
    assert finding.consequence == "ended"


def test_a_crash_of_native_code_is_not_told_as_memory() -> None:
    (finding,) = found(RULE, run_of_log(CODE.replace("137", "134")))
    assert "native library crashed" in finding.summary


def test_a_driver_that_only_does_not_answer() -> None:
    # github.com/NVIDIA/cudf-spark/issues/1811
    (finding,) = found(RULE, run_of_log("Driver is up but is not responsive, likely due to GC."))
    assert "garbage collection" in finding.title
    assert finding.consequence == "lost"


def test_in_words() -> None:
    assert found(RULE, run_of_words("my Databricks notebook loses its driver, it restarts when I train the model"))
    assert found(RULE, run_of_words("which driver size should I take")) == []
