from __future__ import annotations

import pytest

from emberscope.rules.memory.gc_pressure import RULE
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task


def collecting(
    gc_ms: int,
    conf: dict[str, str] | None = None,
    peak: int | None = None,
    added_ms: float = -60_000,
    long_ms: int = 10_000,
) -> Run:
    """Ten tasks of 10 s (or so long) on one core, each with so much collection."""
    return run_of(
        110_000,
        conf=conf,
        tasks=[task(0, 10_000 * i, long_ms, gc_time_ms=gc_ms, peak_jvm_heap_bytes=peak) for i in range(10)],
        stages=[stage(0, 0, 100_000)],
        jobs=[job(0, 0, 100_000)],
        executors=[{**executor("1", 1, added_ms), "peak_jvm_heap_bytes": peak}],
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
    (finding,) = found(RULE, collecting(1_500, conf))
    settings = {a.setting: a.value for a in finding.advice if a.setting}
    assert settings == {"spark.executor.memory": "6g", "spark.executor.cores": "2"}


def test_from_a_fifth_on_it_gives_twice_the_heap() -> None:
    (finding,) = found(RULE, collecting(2_000, {"spark.executor.memory": "4g"}))
    assert next(a.value for a in finding.advice if a.setting) == "8g"


def test_a_bare_number_is_mebibytes_as_spark_takes_it() -> None:
    (finding,) = found(RULE, collecting(1_500, {"spark.executor.memory": "1024"}))
    assert next(a.value for a in finding.advice if a.setting) == "1536m"


def test_a_heap_that_never_got_half_full_gets_no_more_memory() -> None:
    (finding,) = found(RULE, collecting(9_000, {"spark.executor.memory": "4g"}, peak=1 << 30, long_ms=30_000))
    assert [a.kind for a in finding.advice] == ["check"]
    assert "no cure" in finding.advice[0].text


def test_a_peak_that_was_hardly_looked_at_proves_no_room() -> None:
    (finding,) = found(RULE, collecting(3_000, {"spark.executor.memory": "4g"}, peak=1 << 30))
    assert "spark.executor.memory" in {a.setting for a in finding.advice}


def test_a_large_heap_that_grows_in_its_first_half_minute_is_none() -> None:
    conf = {"spark.executor.memory": "20g"}
    assert found(RULE, collecting(3_000, conf, added_ms=80_000)) == []
    assert len(found(RULE, collecting(3_000, conf))) == 1
    assert len(found(RULE, collecting(3_000, {"spark.executor.memory": "1g"}, added_ms=80_000))) == 1


def test_a_task_with_very_much_heap_is_not_given_more() -> None:
    (finding,) = found(RULE, collecting(3_000, {"spark.executor.memory": "30g", "spark.executor.cores": "2"}))
    assert {a.setting for a in finding.advice if a.setting} == {"spark.executor.cores"}


def test_an_old_collector_of_a_large_heap_is_replaced_among_the_other_options() -> None:
    conf = {
        "spark.executor.memory": "6g",
        "spark.executor.extraJavaOptions": "-Dx=1 -XX:+UseParallelGC -XX:ParallelGCThreads=2",
    }
    (finding,) = found(RULE, collecting(3_000, conf))
    values = {a.setting: a.value for a in finding.advice if a.setting}
    assert values["spark.executor.extraJavaOptions"] == "-Dx=1 -XX:+UseG1GC -XX:ParallelGCThreads=2"
