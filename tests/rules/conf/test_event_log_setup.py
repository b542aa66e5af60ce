from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emberscope.rules.conf.event_log_setup import RULE
from emberscope.tables.run import TaskTotals
from tests.runs import found, run_of, spark_wrote

HOUR_MS = 3_600_000


def advised(hours: float, tasks: int, conf: dict[str, str], version: str = "3.5.1", **rows: Any) -> dict[str, str]:
    run = run_of(round(hours * HOUR_MS), conf={"spark.eventLog.enabled": "true", **conf}, **rows)
    application = replace(run.application, spark_version=version, tasks=TaskTotals(succeeded=tasks))
    findings = found(RULE, replace(run, application=application))
    assert all(finding.consequence == "hint" for finding in findings)
    return {advice.setting or "": advice.value or "" for finding in findings for advice in finding.advice}


@pytest.mark.parametrize("log", ["none", "odd_settings", "skew_spill_python"])
def test_ignores_short_jobs_that_spark_ran(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_long_applications_should_roll() -> None:
    assert advised(20, 50_000, {}) == {"spark.eventLog.rolling.enabled": "true"}
    assert advised(20, 50_000, {"spark.eventLog.rolling.enabled": "true"}) == {}
    assert advised(20, 50_000, {}, "4.0.0") == {}
    assert advised(20, 100, {}) == {}
    assert advised(2, 50_000, {}) == {}
    stream = [{"query_id": "q", "run_id": "r"}]
    assert advised(2, 50_000, {}, streaming_queries=stream) == {"spark.eventLog.rolling.enabled": "true"}


def test_large_logs_need_not_say_things_twice() -> None:
    doubles = {"spark.eventLog.includeTaskMetricsAccumulators": "false"}
    assert advised(1, 900_000, {}, "4.0.0") == doubles
    assert advised(1, 900_000, {}, "3.4.0") == {"spark.eventLog.compress": "true"}
    assert advised(1, 900_000, {"spark.eventLog.enabled": "false"}) == {}
