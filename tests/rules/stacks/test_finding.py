from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.rules.base import Finding
from emberscope.rules.evaluate import evaluate
from emberscope.rules.stacks import (
    boxed_values,
    code_compilation,
    compiled_patterns,
    exceptions,
    file_listing,
    interpreted,
    java_serialization,
    python_start,
)
from emberscope.rules.stacks.finding import lower_share
from emberscope.tables.run import Run
from tests.rules.stacks.profiles import CODE, TASK, USER, one_stage, profiled, sample
from tests.runs import executor, found, job, run_of, stage, task, without

COMPILE = "java.util.regex.Pattern.compile"


def compiles(hits: int, others: int, **more: object) -> list[Finding]:
    samples = [sample(CODE, USER, COMPILE, count=hits), sample(CODE, "java.lang.Math.sqrt", count=others)]
    return found(compiled_patterns.RULE, profiled(samples, one_stage(**more)))


def test_the_price_is_the_share_of_the_samples_of_the_cpu_time_that_spark_measured() -> None:
    (finding,) = compiles(300, 700)
    assert finding.wasted_core_ms == 60_000
    assert finding.wasted_wall_ms == 30_000
    assert finding.where.stage == 0
    assert finding.evidence[0].text == "300 of 1,000 samples of stage 0 are in it: 1 min 00 s of CPU time"
    assert finding.evidence[1].frames == (USER, COMPILE)
    assert f"outside of {USER}()" in finding.advice[0].text


def test_time_off_the_cpu_is_not_the_hot_spots() -> None:
    (finding,) = compiles(300, 700, executor_cpu_time_ns=20_000_000_000)
    assert finding.wasted_core_ms == 12_000


def test_few_samples_are_chance_and_more_of_them_make_it_surer() -> None:
    assert compiles(29, 0) == []
    assert compiles(40, 760) == []
    (few,), (many,) = compiles(40, 260), compiles(4_000, 26_000)
    assert few.confidence < many.confidence < 0.9
    assert few.wasted_core_ms == many.wasted_core_ms


@given(st.integers(0, 1_000), st.integers(1, 1_000))
def test_prop_the_lower_end_lies_below_the_share_and_nears_it(hits: int, more: int) -> None:
    of = hits + more
    assert 0 <= lower_share(hits, of) <= hits / of
    assert lower_share(hits, of) <= lower_share(10 * hits, 10 * of)


def test_a_short_stage_of_a_long_application_is_not_told() -> None:
    run = run_of(
        2_000_000,
        tasks=[task(0, 0, 9_000)],
        stages=[stage(0, 0, 9_000)],
        jobs=[job(0, 0, 2_000_000)],
        executors=[executor("1", 1)],
    )
    assert found(compiled_patterns.RULE, profiled([sample(USER, COMPILE, count=400)], run)) == []


def test_a_recording_alone_has_a_price_in_core_time_but_none_in_wall_time() -> None:
    samples = [sample(USER, COMPILE, count=400), sample(USER, count=100)]
    run = without(profiled(samples, run_of(None)), "tasks", "stages", "jobs", "executors")
    (finding,) = found(compiled_patterns.RULE, run)
    assert (finding.wasted_wall_ms, finding.wasted_core_ms) == (None, 8_000)
    assert finding.title.startswith("Stage 0 spent 8.0 s of task time")


def test_a_recording_of_which_no_sample_is_of_a_task_is_not_evaluated() -> None:
    run = profiled([sample(USER, COMPILE, count=400, stage_id=None)])
    assert [answer.code for answer in evaluate(run, [compiled_patterns.RULE]).not_evaluated] == ["S1"]


def test_samples_outside_of_tasks_are_not_theirs() -> None:
    outside = sample(USER, COMPILE, count=400, stage_id=None)
    assert found(compiled_patterns.RULE, profiled([outside, sample(USER, count=100)])) == []


def test_time_in_native_code_counts_by_how_often_the_sampler_comes_round() -> None:
    """250 ticks in 5 s for ten threads: each is seen every 200 ms, so 20 samples are 4 s."""
    stat = ("org.apache.hadoop.fs.s3a.S3AFileSystem.getFileStatus", "sun.nio.ch.SocketDispatcher.read0")
    idle = [
        sample("java.net.accept", event="native", count=25, stage_id=None, os_thread_id=100 + thread)
        for thread in range(9)
    ]
    waits = sample(USER, *stat, event="native", count=20)
    run = profiled([*idle, waits, *[sample(USER, count=1)] * 50], one_stage(executor_cpu_time_ns=1_000_000_000))
    limits = type(file_listing.RULE.limits)(samples=10)
    (finding,) = file_listing.RULE.check(run, limits)
    assert finding.wasted_core_ms == 4_000


def test_exceptions_are_the_cpu_time_that_no_sample_shows() -> None:
    """100 s of CPU time in the stage, 20 s of it sampled; nine tenths of the bytes are stack traces."""
    thrown = sample(USER, "java.lang.Throwable.fillInStackTrace", event="alloc", count=1, value=900)
    other = sample(USER, event="alloc", count=1, value=100)
    run = profiled(
        [*[thrown] * 100, *[other] * 100, sample(USER, count=1_000)], one_stage(executor_cpu_time_ns=50_000_000_000)
    )
    (finding,) = found(exceptions.RULE, run)
    assert finding.wasted_core_ms == pytest.approx(100_000 * 72 / 92, rel=0.01)


def test_the_advice_takes_back_what_the_configuration_switched_off() -> None:
    evaluates = [sample("org.apache.spark.sql.catalyst.expressions.InterpretedMutableProjection.apply", count=500)]
    conf = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    run = run_of(110_000, conf, tasks=[task(0, 0, 100_000)], stages=[stage(0, 0, 100_000)], jobs=[job(0, 0, 100_000)])
    (finding,) = found(interpreted.RULE, profiled(evaluates, run))
    assert [advice.setting for advice in finding.advice if advice.kind == "unset"] == list(conf)


@pytest.mark.parametrize(("serializer", "settings"), [("Java", ["spark.serializer"]), ("Kryo", [])])
def test_kryo_is_advised_where_it_is_not_set(serializer: str, settings: list[str]) -> None:
    writes = [sample("java.io.ObjectOutputStream.writeObject", count=500)]
    conf = {"spark.serializer": f"org.apache.spark.serializer.{serializer}Serializer"}
    run = run_of(110_000, conf, tasks=[task(0, 0, 100_000)], stages=[stage(0, 0, 100_000)], jobs=[job(0, 0, 100_000)])
    (finding,) = found(java_serialization.RULE, profiled(writes, run))
    assert [advice.setting for advice in finding.advice if advice.setting] == settings


def test_the_task_frame_alone_is_no_hot_spot() -> None:
    assert TASK
    assert found(compiled_patterns.RULE, profiled([sample(count=900)])) == []


def test_the_start_of_python_workers_is_the_wait_for_their_lock_and_for_the_daemon() -> None:
    start = ("org.apache.spark.SparkEnv.createPythonWorker", "org.apache.spark.api.python.PythonWorkerFactory.create")
    waits = [sample(*start, event="lock", variant="enter", value=30_000_000_000, task_id=task_id) for task_id in (1, 2)]
    run = profiled([*waits, sample(CODE, count=500)], one_stage(executor_cpu_time_ns=5_000_000_000))
    (finding,) = found(python_start.RULE, run)
    assert finding.wasted_core_ms == 60_000
    assert finding.wasted_wall_ms == 30_000
    short = profiled([sample(*start, event="lock", variant="enter", value=900_000_000), sample(CODE, count=500)])
    assert found(python_start.RULE, short) == []


def test_code_that_is_compiled_for_the_first_time_is_usual() -> None:
    compiler = "org.codehaus.janino.SimpleCompiler.cook"
    once, often = ([sample(compiler, count=n), sample(CODE, count=1_000)] for n in (60, 400))
    assert found(code_compilation.RULE, profiled(once)) == []
    (finding,) = found(code_compilation.RULE, profiled(often))
    assert {advice.setting: advice.value for advice in finding.advice if advice.setting} == {
        "spark.sql.codegen.cache.maxEntries": "400"
    }


def test_wall_clock_samples_stand_in_where_there_are_no_cpu_samples() -> None:
    samples = [sample(USER, COMPILE, event="wall", count=300), sample(USER, event="wall", count=700)]
    (finding,) = found(compiled_patterns.RULE, profiled(samples))
    assert finding.wasted_core_ms == 60_000


def test_what_spark_itself_boxes_is_nobodys_to_mend() -> None:
    def boxes(*callers: str) -> Run:
        return profiled([sample(*callers, "java.lang.Double.valueOf", count=900)])

    assert found(boxed_values.RULE, boxes("org.apache.spark.sql.catalyst.util.QuantileSummaries.insert")) == []
    assert len(found(boxed_values.RULE, boxes(USER))) == 1


def test_hot_code_in_several_stages_is_one_finding() -> None:
    run = run_of(
        220_000,
        tasks=[task(number, 100_000 * number, 100_000) for number in (0, 1)],
        stages=[stage(0, 0, 100_000), stage(1, 100_000, 200_000, parent_ids=[0])],
        jobs=[job(0, 0, 200_000)],
        executors=[executor("1", 1)],
    )
    samples = [sample(USER, COMPILE, count=count, stage_id=number) for number, count in ((0, 100), (1, 400))]
    rest = [sample(CODE, count=100, stage_id=number) for number in (0, 1)]
    (finding,) = found(compiled_patterns.RULE, profiled([*samples, *rest], run))
    assert finding.where.stage == 1
    assert finding.wasted_core_ms == 80_000 + 50_000
    assert finding.wasted_wall_ms == 130_000
    assert "With 1 more stage" in finding.summary
