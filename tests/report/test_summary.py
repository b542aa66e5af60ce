import gzip
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.profile.ancestry import nodes_holding
from emberscope.report.summary import run_object, summarized, summary_document, summary_text
from emberscope.sources.load import load
from emberscope.tables.series import SERIES
from emberscope.units import format_ms
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


def measured(run, cpu_ns):
    """The run as a recorder that measures threads would have left it: every span that ended used so much CPU."""
    spans = run.tables["spans"]
    values = [None if end is None else cpu_ns for end in spans["end_ns"].to_pylist()]
    for name, column in (("cpu_start_ns", [5] * spans.num_rows), ("cpu_ns", values)):
        place = spans.schema.get_field_index(name)
        spans = spans.set_column(place, spans.schema.field(place), pa.array(column, pa.int64()))
    return replace(run, tables={**run.tables, "spans": spans})


def test_thread_cpu_stands_beside_the_raw_counts_and_changes_none_of_them(tmp_path):
    run = load(str(whole_run(tmp_path)))
    older, found = run_object(run), run_object(measured(run, 3_000_000_000))
    assert older["calibrated"] is None
    assert {stage["calibrated"] for stage in older["stages"]} == {None}
    raw = [{name: value for name, value in stage.items() if name != "calibrated"} for stage in found["stages"]]
    assert raw == [{name: value for name, value in stage.items() if name != "calibrated"} for stage in older["stages"]]
    told = [stage["calibrated"] for stage in found["stages"] if stage["calibrated"] is not None]
    assert {one["label"] for one in told} == {found["calibrated"]["label"]} == {"calibrated by thread CPU time"}
    for name in ("tasks", "cpu_ns", "in_samples_ns", "not_seen_ns", "tasks_not_seen", "tasks_not_measured"):
        assert sum(one[name] for one in told) == found["calibrated"][name]
    ended = {key for key in zip(*(run.tables["spans"][n].to_pylist() for n in ("executor_id", "task_id", "end_ns")),
                                strict=True) if key[2] is not None}  # fmt: skip
    assert found["calibrated"]["tasks"] == len({key[:2] for key in ended})
    assert found["calibrated"]["cpu_ns"] == 3_000_000_000 * found["calibrated"]["tasks"]
    unseen = [stage for stage in found["stages"] if stage["calibrated"] and not stage["cpu_samples"]]
    assert all(stage["calibrated"]["in_samples_ns"] == 0 for stage in unseen)


def test_samples_that_the_sampler_lost_are_told_of_the_stage_whose_task_ran_on_the_thread(tmp_path):
    run = load(str(whole_run(tmp_path)))
    assert {stage["lost_cpu_samples"] for stage in run_object(run)["stages"]} == {0}
    span = next(span for span in run.tables["spans"].to_pylist() if span["end_ns"] is not None)
    place = {name: span[name] for name in ("role", "executor_id", "host", "thread_id")}
    lost = [
        {"name": "cpu_samples_lost", "time_ns": time_ns, "value": value, **place}
        for time_ns, value in (
            *((span["start_ns"], 2.0), (span["end_ns"] - 1, 5.0), (span["start_ns"] - 10**12, 7.0)),
            (span["start_ns"], 2.0**63),  # of a damaged recording
        )
    ]
    found = run_object(replace(run, tables={**run.tables, "series": SERIES.from_rows(lost)}))["stages"]
    told = {(stage["stage_id"], stage["stage_attempt"]): stage["lost_cpu_samples"] for stage in found}
    assert told.pop((span["stage_id"], span["stage_attempt"])) == 7
    assert set(told.values()) == {0}


def test_the_text_tells_the_three_clocks_apart(tmp_path):
    run = measured(load(str(whole_run(tmp_path))), 3_000_000_000)
    found = summary_document([summarized("run", run)])
    whole, text = found["run"]["calibrated"], summary_text(found)
    samples = sum(stage["cpu_samples"] for stage in found["run"]["stages"])
    assert f"sampled    {samples} samples, " in text
    assert f"calibrated by thread CPU time: {format_ms(whole['cpu_ns'] / 1e6)}" in text
    assert ("not seen" in text) == (whole["tasks_not_seen"] > 0)


def test_what_samples_stand_for_is_the_sum_of_their_own_periods(tmp_path):
    run = load(str(whole_run(tmp_path)))
    samples = run.tables["samples"]
    periods = {value for event, value in zip(*(samples[n].to_pylist() for n in ("event", "value")), strict=True)
               if event == "cpu"}  # fmt: skip
    assert periods == {10_000_000}, "what the recording says, not the manifest that was made for it"
    for stage in run_object(run)["stages"]:
        assert stage["sampled_cpu_ns"] == stage["cpu_samples"] * 10_000_000
    place = samples.schema.get_field_index("value")
    unsaid = samples.set_column(place, samples.schema.field(place), pa.nulls(samples.num_rows, pa.int64()))
    rows = run_object(replace(run, tables={**run.tables, "samples": unsaid}))["stages"]
    assert {row["sampled_cpu_ns"] for row in rows if row["cpu_samples"]} == {None}


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
