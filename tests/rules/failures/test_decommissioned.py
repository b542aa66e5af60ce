from __future__ import annotations

from emberscope.rules.failures.decommissioned import RULE
from tests.rules.failures.test_fetch_failed import ABORT, GONE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# TaskSchedulerImpl of Spark with ExecutorDecommission's message.
LOST = (
    "22/01/28 17:40:01 ERROR TaskSchedulerImpl: Lost executor 3 on host-1: Executor decommission: worker "
    "decommissioned because of kill request from HTTP endpoint (data migration disabled)."
)


def test_fetches_from_decommissioned_executors() -> None:
    (finding,) = found(RULE, run_of_log(f"{LOST}\n{GONE}{ABORT}", spark_version="3.5.1"))
    assert finding.consequence == "ended"
    assert {a.setting: a.value for a in finding.advice}["spark.stage.ignoreDecommissionFetchFailure"] == "true"


def test_versions_get_what_they_have() -> None:
    old = found(RULE, run_of_log(f"{LOST}\n{GONE}", spark_version="3.2.0"))[0]
    assert "spark.stage.ignoreDecommissionFetchFailure" not in {advice.setting for advice in old.advice}
    assert {a.setting: a.value for a in old.advice}["spark.stage.maxConsecutiveAttempts"] == "8"
    new = found(RULE, run_of_log(f"{LOST}\n{GONE}", spark_version="4.0.0"))[0]
    assert not {advice.setting for advice in new.advice} & {
        "spark.stage.ignoreDecommissionFetchFailure",
        "spark.stage.maxConsecutiveAttempts",
    }


def test_a_decommission_without_harm_is_nothing() -> None:
    assert found(RULE, run_of_log(LOST)) == []


def test_in_plain_words() -> None:
    assert found(RULE, run_of_words("stages fail because executors are decommissioned when spot nodes go"))
