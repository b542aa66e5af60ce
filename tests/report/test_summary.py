import gzip
from dataclasses import replace

import numpy as np
import pyarrow.compute as pc

from emberscope.profile.ancestry import nodes_holding
from emberscope.report.summary import run_object, summarized, summary_document, summary_text
from emberscope.sources.load import load
from tests.eventlog.logs import PACKED
from tests.runs import run_of
from tests.runs import stage as stage_row
from tests.sources.stored import APP_ID, LOG, whole_run


def document(path):
    run = load(str(path))
    kind = "run" if path.is_dir() else "event_log"
    return summary_document([summarized(kind, run)])


def test_raw_counts_per_stage_are_those_of_the_tables(tmp_path):
    run = load(str(whole_run(tmp_path)))
    samples, tasks = run.tables["samples"], run.tables["tasks"]
    found = run_object(run)
    by_stage = {(stage["stage_id"], stage["stage_attempt"]): stage for stage in found["stages"]}
    for (stage, attempt), row in by_stage.items():
        inside = [
            count
            for event, s, a, in_span, count in zip(
                *(samples[n].to_pylist() for n in ("event", "stage_id", "stage_attempt", "in_span", "count")),
                strict=True,
            )
            if event == "cpu" and (s, a) == (stage, attempt) and in_span
        ]
        assert row["cpu_samples"] == sum(inside)
        spark = [
            value
            for s, a, value in zip(
                *(tasks[n].to_pylist() for n in ("stage_id", "stage_attempt", "executor_cpu_time_ns")), strict=True
            )
            if (s, a) == (stage, attempt)
        ]
        assert row["executor_cpu_time_ns"] == (sum(spark) if spark else None)
        assert row["sample_period_ns"] == 20_000_000
    assert any(row["cpu_samples"] for row in by_stage.values())


def test_task_samples_and_the_rest_add_up_to_all_that_hold_spark_s_task_frame(tmp_path):
    run = load(str(whole_run(tmp_path)))
    # The recordings are of no Spark, so a frame of theirs stands for Spark's.
    names = run.tables["frames"]["name"].to_pylist()
    frame = names.index("java.lang.Thread.run")
    renamed = pc.if_else(
        pc.equal(run.tables["frames"]["name"], names[frame]),
        "org.apache.spark.executor.Executor$TaskRunner.run",
        run.tables["frames"]["name"],
    )
    frames = run.tables["frames"].set_column(0, run.tables["frames"].schema.field(0), renamed)
    run = replace(run, tables={**run.tables, "frames": frames})
    found = run_object(run)
    samples = run.tables["samples"]
    holding = nodes_holding(run.tables["stacks"], frames)[samples["stack"].to_numpy()]
    count = int(np.sum(samples["count"].to_numpy()[holding]))
    assert count > 0
    assert found["task_samples"] == count
    assert found["attributed_samples"] + sum(n for _, n in found["unattributed"]) == count
    assert sum(stage["attributed_samples"] for stage in found["stages"]) == found["attributed_samples"]


def test_the_document_begins_with_its_schema_and_has_the_parts_of_its_kind(tmp_path):
    of_log, of_run = document(LOG), document(whole_run(tmp_path))
    assert list(of_log) == ["schema", "inputs", "apps", "recordings", "coverage"]
    assert list(of_run) == ["schema", "inputs", "apps", "recordings", "run", "coverage"]
    assert of_log["apps"][0]["app_id"] == of_run["apps"][0]["app_id"] == APP_ID
    assert len(of_run["recordings"]) == 2
    assert [executor["id"] for executor in of_run["run"]["executors"]] == ["0", "1"]


def test_an_event_log_alone_knows_no_samples():
    run = load(str(LOG))
    assert {stage["cpu_samples"] for stage in run_object(run)["stages"]} == {None}


def test_the_text_says_the_figures_of_the_document(tmp_path):
    found = document(whole_run(tmp_path))
    text = summary_text(found)
    app = found["apps"][0]
    assert f"logged-job ({APP_ID}), Spark 3.5.9" in text
    assert f"tasks       {app['tasks']['total']}, {app['tasks']['failed']} failed" in text
    assert "recorded in 2 parts\n  samples     142 cpu, 1,282 alloc, 2 lock" in text
    assert "executor 1  recorded 10.0 s, nothing lost" in text
    assert "with stacks deeper than the recorder kept" in text


def test_a_log_without_its_first_events_is_not_called_none(tmp_path):
    path = tmp_path / "log"
    first = (b"SparkListenerLogStart", b"SparkListenerApplicationStart", b"SparkListenerEnvironmentUpdate")
    lines = gzip.decompress(PACKED.read_bytes()).splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if not any(name in line[:60] for name in first)))
    text = summary_text(document(path))
    assert text.startswith("application of unknown name, Spark's version not known, ")
    assert "None" not in text


def test_one_of_a_kind_is_singular():
    application = run_of(stages=[stage_row(0, 0, 1)], sql_executions=[{"sql_execution_id": 0, "status": "unfinished"}])
    text = summary_text(summary_document([summarized("event_log", application)]))
    assert "1 attempt of 1," in text
    assert "1 execution\n" in text
