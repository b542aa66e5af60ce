"""Spark 4.1 and later multiply the run time of a task by its cores; wall time is what it was before."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emberscope.rules.evaluate import task_time_ms
from emberscope.simulate.stage_tasks import stage_tasks
from emberscope.simulate.task_cpus import run_ms_by_task
from emberscope.tables.run import Run
from tests.runs import run_of, stage, task


def of_version(run: Run, version: str) -> Run:
    return replace(run, application=replace(run.application, spark_version=version))


@pytest.mark.parametrize(("version", "divisor"), [("4.3.0", 4), ("4.1.0", 4), ("4.0.1", 1), ("3.5.9", 1)])
def test_by_the_setting(version: str, divisor: int) -> None:
    run = run_of(conf={"spark.task.cpus": "4"}, stages=[stage(0, 0, 9_000)], tasks=[task(0, 0, 8_000)])
    (one,) = stage_tasks(of_version(run, version))
    assert one.cpus == 4
    assert one.run_ms().tolist() == [8_000 / divisor]
    assert run_ms_by_task(of_version(run, version)).tolist() == [8_000 / divisor]
    assert task_time_ms(of_version(run, version)) == 8_000 / divisor


def test_by_the_resource_profile_of_the_stage() -> None:
    run = run_of(
        stages=[stage(0, 0, 9_000, resource_profile_id=0), stage(1, 0, 9_000, resource_profile_id=1)],
        tasks=[task(1, 0, 8_000), task(0, 0, 8_000)],
        resource_profiles=[{"resource_profile_id": 1, "scope": "task", "resource": "cpus", "amount": 2.0}],
    )
    assert [one.cpus for one in stage_tasks(run)] == [1, 2]
    assert [one.run_ms().tolist() for one in stage_tasks(run)] == [[8_000], [4_000]]
    assert run_ms_by_task(run).tolist() == [4_000, 8_000]


@pytest.mark.parametrize("value", ["0", "-3", "two", ""])
def test_a_setting_that_is_no_number_counts_as_one_core(value: str) -> None:
    run = run_of(conf={"spark.task.cpus": value}, stages=[stage(0, 0, 9_000)], tasks=[task(0, 0, 8_000)])
    assert [one.cpus for one in stage_tasks(run)] == [1]
