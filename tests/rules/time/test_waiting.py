"""What the rules say of an application whose cores waited for several reasons (tests/jobs/findings_waiting.py)."""

from __future__ import annotations

from msgspec import structs

from emberscope.rules.time.critical_path import RULE as CRITICAL_PATH
from emberscope.rules.time.job_gaps import RULE as JOB_GAPS
from emberscope.rules.time.serial_writes import RULE as SERIAL_WRITES
from emberscope.rules.time.single_task import RULE as SINGLE_TASK
from emberscope.rules.time.slow_ramp_up import RULE as SLOW_RAMP_UP
from emberscope.rules.time.task_overhead import RULE as TASK_OVERHEAD
from tests.rules.time.shapes import settings_of
from tests.runs import found, spark_wrote


def test_executors_that_dynamic_allocation_asked_for_late() -> None:
    (finding,) = found(SLOW_RAMP_UP, spark_wrote("waiting"))
    assert "began with 2 of 8 cores" in finding.summary
    assert settings_of(finding)["spark.dynamicAllocation.initialExecutors"] == "4"
    assert found(SLOW_RAMP_UP, spark_wrote("skew_spill_python")) == []


def test_tasks_that_waited_for_the_executor_with_the_cached_rows() -> None:
    small = structs.replace(JOB_GAPS, limits=structs.replace(JOB_GAPS.limits, share=0.01))
    finding = next(one for one in found(small, spark_wrote("waiting")) if one.where.stage is not None)
    assert settings_of(finding) == {"spark.locality.wait": "0s"}
    assert found(JOB_GAPS, spark_wrote("none")) == []


def test_the_stage_of_one_task_but_not_those_that_write() -> None:
    (finding,) = found(SINGLE_TASK, spark_wrote("waiting"))
    assert finding.where.sql == 3
    assert found(SINGLE_TASK, spark_wrote("none")) == []


def test_outputs_that_no_other_one_needs() -> None:
    (finding,) = found(SERIAL_WRITES, spark_wrote("waiting"))
    assert finding.title.startswith("4 outputs were written one after another")
    assert found(SERIAL_WRITES, spark_wrote("none")) == []


def test_tasks_of_executors_that_were_short_of_cpu() -> None:
    findings = found(TASK_OVERHEAD, spark_wrote("waiting"))
    unpacking = next(one for one in findings if "unpacking" in one.title)
    assert "short of CPU" in unpacking.advice[0].text.replace("\n", " ")
    assert found(TASK_OVERHEAD, spark_wrote("none")) == []


def test_more_executors_would_not_have_helped() -> None:
    (finding,) = found(CRITICAL_PATH, spark_wrote("waiting"))
    assert finding.wasted_wall_ms is None
    assert found(CRITICAL_PATH, spark_wrote("none")) == []
