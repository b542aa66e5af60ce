"""Rules of the plan that name what has no price."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emberscope.rules.base import Rule
from emberscope.rules.evaluate import evaluate
from emberscope.rules.plan.adaptive_off import RULE as ADAPTIVE_OFF
from emberscope.rules.plan.large_plan import RULE as LARGE_PLAN
from emberscope.rules.plan.long_filter import RULE as LONG_FILTER
from emberscope.rules.plan.native_fallback import RULE as NATIVE_FALLBACK
from emberscope.rules.plan.no_codegen import RULE as NO_CODEGEN
from emberscope.rules.plan.sort_fallback import RULE as SORT_FALLBACK
from emberscope.tables.run import Run
from tests.rules.fault_logs import fault_log
from tests.rules.plan.tables import Op, op, run_with, without_floors
from tests.runs import found, spark_wrote

_ADAPTIVE = "spark.sql.adaptive.enabled"


def _shuffled(**more: object) -> Run:
    shuffle = op("Exchange", op("Range", stages=[0]), stages=[0, 1], detail="Exchange hashpartitioning(a#1, 200)")
    return run_with(op("HashAggregate", shuffle, stages=[1]), stage_ms={0: 20_000, 1: 20_000}, **more)  # type: ignore[arg-type]


def test_adaptive_execution_off() -> None:
    (finding,) = found(ADAPTIVE_OFF, _shuffled(conf={_ADAPTIVE: "false"}))
    assert finding.title == "Adaptive execution was off for 1 query with 1 shuffle"
    assert (finding.advice[0].setting, finding.advice[0].value) == (_ADAPTIVE, "true")
    assert "on purpose" in finding.advice[0].text
    assert finding.wasted_wall_ms is None


def test_adaptive_execution_on_by_version() -> None:
    run = _shuffled()
    assert not found(ADAPTIVE_OFF, run)
    for version, count in (("3.1.2", 1), ("3.0.0", 1), ("2.4.8", 0), ("3.2.0", 0), (None, 0)):
        other = replace(run, application=replace(run.application, spark_version=version))
        assert len(found(ADAPTIVE_OFF, other)) == count, version


def test_adaptive_execution_off_for_one_query() -> None:
    run = _shuffled()
    row = {"key": _ADAPTIVE, "value": "false", "scope": "sql", "sql_execution_id": 0}
    conf = run.tables["conf"]
    run = replace(run, tables={**run.tables, "conf": type(conf).from_pylist([row], schema=conf.schema)})
    (finding,) = found(ADAPTIVE_OFF, run)
    assert "for these queries" in finding.summary


def test_long_filter() -> None:
    def plan(tests: int, rows: float = 5_000_000) -> Op:
        detail = "Filter (" + " OR ".join(f"(x#1 = {n})" for n in range(tests)) + ")"
        return op("Filter", op("Scan csv", stages=[0], rows=rows), stages=[0], detail=detail)

    (finding,) = found(LONG_FILTER, run_with(plan(300), stage_ms={0: 20_000}))
    assert "about 300 tests" in finding.summary
    assert "left_semi" in finding.advice[0].text
    assert not found(LONG_FILTER, run_with(plan(20), stage_ms={0: 20_000}))
    assert not found(LONG_FILTER, run_with(plan(300, rows=10), stage_ms={0: 20_000}))
    assert not found(LONG_FILTER, run_with(plan(300), stage_ms={0: 500}))


def test_sort_fallback() -> None:
    def plan(tasks: float, name: str = "HashAggregate") -> Op:
        counted = {"number of sort fallback tasks": tasks, "number of output rows": 40_000.0, "spill size": 1e9}
        return Op(name, [0], counted)

    (finding,) = found(SORT_FALLBACK, run_with(plan(4), stage_ms={0: 20_000}))
    assert finding.title == "HashAggregate went on by sorting in 4 of 4 tasks"
    assert finding.advice[0].kind == "code"
    (finding,) = found(SORT_FALLBACK, run_with(plan(4, "ObjectHashAggregate"), stage_ms={0: 20_000}))
    assert finding.advice[0].setting == "spark.sql.objectHashAggregate.sortBased.fallbackThreshold"
    assert finding.advice[0].value == "32768", "twice the 10,000 groups of a task, a power of two"
    assert not found(SORT_FALLBACK, run_with(plan(0), stage_ms={0: 20_000}))
    assert not found(SORT_FALLBACK, run_with(plan(4), stage_ms={0: 500}))
    assert found(SORT_FALLBACK, spark_wrote("driver_idle_gc")), "collect_list of more than 128 groups"
    assert not found(SORT_FALLBACK, spark_wrote("none"))


def test_native_fallback() -> None:
    native = op("GpuProject", op("GpuScan parquet", stages=[0]), stages=[0])
    mixed = op(
        "BatchEvalPython", op("GpuColumnarToRow", native, stages=[0]), stages=[0], detail="BatchEvalPython [f(x#1)]"
    )
    (finding,) = found(NATIVE_FALLBACK, run_with(mixed, stage_ms={0: 20_000}))
    assert finding.title == "RAPIDS left 1 operator of SQL execution 0 to Spark"
    assert "spark.rapids.sql.explain=NOT_ON_GPU" in finding.advice[0].text
    assert "f(x)" in finding.advice[1].text
    assert not found(NATIVE_FALLBACK, run_with(native, stage_ms={0: 20_000}))
    assert not found(NATIVE_FALLBACK, run_with(op("BatchEvalPython", stages=[0]), stage_ms={0: 20_000})), "no engine"


def test_code_that_was_not_used() -> None:
    def plan(**duration: float) -> Op:
        top = Op("HashAggregate", [0], {}, [op("Range", stages=[0])], None, 1)
        code = Op("WholeStageCodegen (1)", [0], duration, [top], None, 1)
        return op("Exchange", code, stages=[0, 1], written=100)

    (finding,) = found(NO_CODEGEN, run_with(plan(), stage_ms={0: 20_000}))
    assert finding.title == "The generated code of HashAggregate was not used"
    assert not found(NO_CODEGEN, run_with(plan(duration=19_000), stage_ms={0: 20_000}))
    run = run_with(plan(duration=9), stage_ms={0: 20_000}, conf={"spark.sql.codegen.wholeStage": "false"})
    (finding,) = found(NO_CODEGEN, run)
    assert finding.advice[0].setting == "spark.sql.codegen.wholeStage"


def test_large_plan() -> None:
    deep = op("Range", stages=[0])
    for _ in range(600):
        deep = op("Project", deep)
    late = [{"started_ms": -19_000}]
    (finding,) = found(LARGE_PLAN, run_with(deep, stage_ms={0: 5_000}, sql=late))
    assert finding.wasted_wall_ms == 20_000
    assert "601 operators" in finding.title
    assert "localCheckpoint" in finding.advice[0].text
    assert not found(LARGE_PLAN, run_with(deep, stage_ms={0: 5_000}))
    assert not found(LARGE_PLAN, run_with(op("Range", stages=[0]), stage_ms={0: 5_000}, sql=late))
    text = [{"started_ms": -19_000, "physical_plan": "x" * 2_000_000}]
    assert found(LARGE_PLAN, run_with(op("Range", stages=[0]), stage_ms={0: 5_000}, sql=text))


@pytest.mark.parametrize("name", ["none", "skew_spill_python", "driver_idle_gc"])
def test_no_price_is_no_severity(name: str) -> None:
    codes = {"F4", "F5", "F7", "F8", "F10"}
    assert all(item.severity == "info" for item in evaluate(spark_wrote(name)).findings if item.rule.code in codes)


def test_healthy_twins_have_none_of_these() -> None:
    rules = (ADAPTIVE_OFF, LARGE_PLAN, LONG_FILTER, NATIVE_FALLBACK, NO_CODEGEN, SORT_FALLBACK)
    for name in ("exploding_join_healthy", "cache_never_read_healthy", "python_udf_healthy", "repeated_scan_healthy"):
        for rule in rules:
            assert not found(rule, fault_log(name)), (rule.code, name)


@pytest.mark.parametrize(
    ("rule", "log", "title"),
    [
        (LONG_FILTER, "plan_shapes", "A filter of 3,254 characters"),
        (ADAPTIVE_OFF, "plan_shapes", "Adaptive execution was off for 1 query with 1 shuffle"),
        (NO_CODEGEN, "plan_shapes", "Generated code was switched off"),
    ],
)
def test_spark_planned_it(rule: Rule[Any], log: str, title: str) -> None:
    (finding,) = found(without_floors(rule), spark_wrote(log))
    assert finding.title == title
    assert finding.where.line is not None
    assert not found(without_floors(rule), spark_wrote("none"))


def test_rapids_planned_it() -> None:
    (finding,) = found(without_floors(NATIVE_FALLBACK), fault_log("rapids_dataset"))
    assert finding.title == "RAPIDS left 5 operators of SQL execution 0 to Spark"
    assert "MapElements" in finding.summary
