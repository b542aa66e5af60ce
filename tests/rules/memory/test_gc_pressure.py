from __future__ import annotations

import pytest

from emberscope.rules.memory.gc_pressure import RULE
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task


def collecting(gc_ms: int, conf: dict[str, str] | None = None) -> Run:
    """Ten tasks of 10 s on one core, each with so much collection."""
    return run_of(
        110_000,
        conf=conf,
        tasks=[task(0, 10_000 * i, 10_000, gc_time_ms=gc_ms) for i in range(10)],
        stages=[stage(0, 0, 100_000)],
        jobs=[job(0, 0, 100_000)],
        executors=[executor("1", 1)],
    )


def test_finds_the_full_heap_that_spark_ran_in() -> None:
    (finding,) = found(RULE, spark_wrote("driver_idle_gc"))
    assert finding.evidence[0].value == pytest.approx(0.18, abs=0.03)
    assert {a.setting for a in finding.advice if a.setting} == {"spark.driver.memory"}


@pytest.mark.parametrize("log", ["none", "skew_spill_python"])
def test_ignores_applications_with_room(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_only_collection_above_the_healthy_share_is_priced() -> None:
    (finding,) = found(RULE, collecting(2_000))
    assert finding.wasted_core_ms == 10 * (2_000 - 500)
    assert finding.wasted_wall_ms == 10 * (2_000 - 500)
    assert finding.where.stage == 0


def test_the_share_has_to_be_a_tenth() -> None:
    assert found(RULE, collecting(990)) == []
    assert len(found(RULE, collecting(1_000))) == 1


def test_the_advice_gives_half_more_heap_or_half_the_cores() -> None:
    conf = {"spark.executor.memory": "4g", "spark.executor.cores": "4"}
    (finding,) = found(RULE, collecting(3_000, conf))
    settings = {a.setting: a.value for a in finding.advice if a.setting}
    assert settings == {"spark.executor.memory": "6g", "spark.executor.cores": "2"}


def test_a_bare_number_is_mebibytes_as_spark_takes_it() -> None:
    (finding,) = found(RULE, collecting(3_000, {"spark.executor.memory": "1024"}))
    assert next(a.value for a in finding.advice if a.setting) == "1536m"
