from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.plan.python_functions import RULE
from emberscope.tables.run import Run
from tests.rules.fault_logs import fault_log
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

NODE = {
    "sql_execution_id": 0,
    "node_id": 2,
    "name": "BatchEvalPython",
    "detail": "BatchEvalPython [weigh(id#2L)#9L, clean(name#3)#10], [pythonUDF0#11L, pythonUDF1#12]",
    "stage_ids": [0],
}


def waiting(wait_ms: int, node: dict[str, Any] | None = None, **more: Any) -> Run:
    """Four tasks of 10 s on two cores, each off the CPU for so long."""
    tasks = [
        task(0, 10_000 * (i // 2), 10_000, task_id=i, executor_cpu_time_ns=(10_000 - wait_ms) * 10**6) for i in range(4)
    ]
    return run_of(
        25_000,
        tasks=tasks,
        stages=[stage(0, 0, 20_000, **more.pop("stage", {}))],
        jobs=[job(0, 0, 20_000)],
        executors=[executor("1", 2)],
        plan_nodes=[node] if node else [],
        **more,
    )


def test_finds_the_function_that_spark_ran_by_name() -> None:
    (finding,) = found(RULE, spark_wrote("skew_spill_python"))
    assert finding.where.stage == 9
    assert "weigh()" in finding.title
    assert any("row by row" in e.text for e in finding.evidence)
    assert any("Spark measured" in e.text for e in finding.evidence)
    assert any(e.value == 6000 and e.unit == "rows" for e in finding.evidence)
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 3_000
    assert finding.saving_basis.startswith("Upper bound")


@pytest.mark.parametrize("log", ["none", "driver_idle_gc"])
def test_ignores_applications_without_python_functions(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_waits_without_python_in_the_plan_are_not_python() -> None:
    assert found(RULE, waiting(9_000)) == []


def test_ignores_short_waits_and_small_shares() -> None:
    assert found(RULE, waiting(1_000, NODE)) == []
    assert len(found(RULE, waiting(2_500, NODE))) == 1


def test_the_bound_is_the_application_without_the_waits() -> None:
    (finding,) = found(RULE, waiting(8_000, NODE))
    assert finding.wasted_wall_ms == 16_000
    assert finding.wasted_core_ms == 32_000
    assert finding.title == "Stage 0 waited for Python: weigh(), clean()"


def test_what_spark_measured_in_the_workers_bounds_the_waits() -> None:
    metric = {"sql_execution_id": 0, "node_id": 2, "name": "time to run Python workers", "metric_type": "timing"}
    (finding,) = found(RULE, waiting(8_000, NODE, plan_metrics=[{**metric, "value": 16_000, "stage_ids": [0]}]))
    assert finding.wasted_core_ms == 16_000
    (finding,) = found(RULE, waiting(8_000, NODE, plan_metrics=[{**metric, "value": 99_000, "stage_ids": [0]}]))
    assert finding.wasted_core_ms == 32_000


def test_functions_of_rdds_are_told_by_their_rdds() -> None:
    (finding,) = found(RULE, waiting(8_000, stage={"rdd_names": ["PythonRDD", "ParallelCollectionRDD"]}))
    assert "functions of an RDD" in finding.summary
    assert "DataFrames" in finding.advice[0].text


def test_arrow_functions_are_not_told_to_use_arrow() -> None:
    (finding,) = found(
        RULE, waiting(8_000, {**NODE, "name": "ArrowEvalPython", "detail": "ArrowEvalPython [f(id#2)#9]"})
    )
    assert not any("pandas UDF" in a.text or a.setting for a in finding.advice)
    assert finding.title == "Stage 0 waited for Python: f()"


def test_names_the_function_that_spark_has() -> None:
    (finding,) = found(RULE, fault_log("python_udf"))
    assert finding.title == "Stage 0 waited for Python: parse_date()"
    assert "to_date for parse_date()" in finding.advice[0].text
    assert finding.where.line is not None
    assert "python_udf.py" in finding.where.line
    assert not found(RULE, fault_log("python_udf_healthy"))
