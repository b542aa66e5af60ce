from __future__ import annotations

from emberscope.rules.profilers.spark_profiler import RULE
from emberscope.tables.log_events import LOG_EVENTS
from tests.rules.profilers.pasted import answers
from tests.runs import run_of, with_rows


def test_old_names_in_settings_become_new_ones_with_their_values() -> None:
    # github.com/apache/spark/pull/49440
    conf = {
        "spark.plugins": "org.apache.spark.executor.profiler.ExecutorProfilerPlugin",
        "spark.executor.profiling.enabled": "true",
        "spark.executor.profiling.dfsDir": "hdfs:///spark-profiling",
        "spark.executor.profiling.fraction": "1",
        "spark.executor.profiling.options": "event=cpu",
    }
    run = with_rows(run_of(conf=conf), "log_events", LOG_EVENTS.empty())
    (finding,) = RULE.check(run, RULE.limits)
    assert {advice.setting: advice.value for advice in finding.advice if advice.setting} == {
        "spark.plugins": "org.apache.spark.profiler.ProfilerPlugin",
        "spark.profiler.executor.enabled": "true",
        "spark.profiler.dfsDir": "hdfs:///spark-profiling",
        "spark.profiler.executor.fraction": "1",
        "spark.profiler.asyncProfiler.args": "event=cpu",
    }
    assert finding.evidence


def test_the_same_pasted_as_text() -> None:
    text = "spark.executor.profiling.enabled true\nspark.executor.profiling.writeInterval 60"
    finding = answers(text)["P10"]
    said = {advice.setting: advice.value for advice in finding.advice}
    assert said["spark.profiler.dfsWriteInterval"] == "60"


def test_released_names_are_right() -> None:
    conf = {"spark.plugins": "org.apache.spark.profiler.ProfilerPlugin", "spark.profiler.executor.enabled": "true"}
    run = with_rows(run_of(conf=conf), "log_events", LOG_EVENTS.empty())
    assert list(RULE.check(run, RULE.limits)) == []
