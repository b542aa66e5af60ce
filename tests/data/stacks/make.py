"""Makes the recorded runs of this folder: the tables of a run of the store, cut down to what rules over stacks read.

    python tests/data/stacks/make.py RUN NAME [JOB…]

RUN is the directory with run.json of what `emberscope run -- python tests/jobs/stacks/hot_spots.py 2500` leaves, or
`python -m tests.jobs.faults lock --store STORE`. Samples of tasks stay, with the part of the prefix tree that they are
of; allocation samples only those of the jobs that are named (Throws), since they are most. Hosts, threads, paths and
all settings but a few of Spark's go. Each table is a Parquet file of `NAME.zip`; what rules read of the application and
the recorder is `run.json` there.
"""

import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from emberscope.sources.run import load_run

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
_TABLES = ("tasks", "stages", "jobs", "executors", "sql_executions", "conf")
_COLUMNS = (
    "time_ns event variant state count value stack object_class os_thread_id executor_id stage_id stage_attempt task_id"
)
_TASK_COLUMNS = (
    "stage_id stage_attempt task_id task_index attempt launch_ms finish_ms status executor_id has_metrics "
    "executor_run_time_ms executor_cpu_time_ns gc_time_ms shuffle_fetch_wait_ms"
)
_SETTINGS = r"^spark\.(master|serializer|sql\.codegen|executor\.(cores|memory)|io\.compression|python\.worker)"


def pruned(tables: dict[str, pa.Table], alloc_stages: list[int]) -> None:
    """Only the samples of tasks, the nodes above them and the frames of these."""
    samples = tables["samples"]
    event, stage = samples["event"].cast("string"), samples["stage_id"].fill_null(-1)
    kinds = pc.is_in(event, pa.array(["cpu", "wall", "native", "lock"]))
    wanted = pc.or_(kinds, pc.is_in(stage, pa.array(alloc_stages, pa.int32())))
    rest = samples.filter(pc.and_(pc.equal(event, "native"), pc.less(stage, 0)))
    samples = samples.filter(pc.and_(wanted, pc.greater_equal(stage, 0))).select(_COLUMNS.split())
    samples = pa.concat_tables([samples, batches(rest, samples.schema)])
    ms = pc.multiply(pc.divide(samples["time_ns"], 1_000_000), 1_000_000)
    samples = samples.set_column(0, "time_ns", ms)
    parents, frames = (tables["stacks"][name].to_numpy() for name in ("parent", "frame"))
    used = np.zeros(len(parents), np.bool_)
    used[0] = True
    nodes = np.unique(samples["stack"].to_numpy())
    while len(nodes):
        nodes = nodes[~used[nodes]]
        used[nodes] = True
        nodes = np.unique(parents[nodes])
        nodes = nodes[nodes >= 0]
    kept, shown = np.flatnonzero(used), np.unique(frames[used])
    shown = shown[shown >= 0]
    new_node, new_frame = np.zeros(len(parents), np.int32), np.full(tables["frames"].num_rows + 1, -1, np.int32)
    new_node[kept], new_frame[shown] = np.arange(len(kept)), np.arange(len(shown))
    above = np.where(parents[kept] >= 0, new_node[parents[kept]], -1)
    tables["stacks"] = pa.table({"parent": above.astype(np.int32), "frame": new_frame[frames[kept]]})
    tables["frames"] = tables["frames"].take(pa.array(shown))
    stack = pa.array(new_node[samples["stack"].to_numpy()])
    tables["samples"] = samples.set_column(samples.column_names.index("stack"), "stack", stack)


def batches(samples: pa.Table, schema: pa.Schema) -> pa.Table:
    """Samples of threads in native code outside of tasks, without their stacks: one row for each thread and 5 s. They
    tell how often the sampler came round to a thread."""
    piece = pc.multiply(pc.divide(samples["time_ns"], 5_000_000_000), 5_000_000_000)
    samples = samples.set_column(samples.column_names.index("time_ns"), "time_ns", piece)
    keys = ["time_ns", "event", "state", "os_thread_id", "executor_id"]
    grouped = samples.group_by(keys).aggregate([("count", "sum")]).rename_columns([*keys, "count"])
    grouped = grouped.append_column("stack", pa.array(np.zeros(grouped.num_rows, np.int32)))
    columns = [
        grouped[field.name].cast(field.type)
        if field.name in grouped.column_names
        else pa.nulls(len(grouped), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def make(run_dir: str, name: str, with_allocations: list[str]) -> None:
    run = load_run(run_dir)
    tables = {table: run.tables[table] for table in (*_TABLES, "samples", "stacks", "frames")}
    tables["tasks"] = tables["tasks"].select(_TASK_COLUMNS.split())
    tables["executors"] = tables["executors"].select(["executor_id", "cores", "added_ms", "removed_ms"])
    conf = tables["conf"]
    spark = pc.and_(pc.equal(conf["scope"].cast("string"), "spark"), pc.match_substring_regex(conf["key"], _SETTINGS))
    tables["conf"] = conf.filter(spark)
    stages = [
        "stage_id",
        "stage_attempt",
        "name",
        "job_id",
        "sql_execution_id",
        "description",
        "task_count",
        "parent_ids",
    ]
    tables["stages"] = tables["stages"].select([*stages, "submitted_ms", "completed_ms", "status"])
    jobs = ["job_id", "submitted_ms", "completed_ms", "status"]
    tables["jobs"] = tables["jobs"].select(jobs)
    tables["sql_executions"] = tables["sql_executions"].select(["sql_execution_id", "description"])
    described = zip(tables["stages"]["description"].to_pylist(), tables["stages"]["stage_id"].to_pylist(), strict=True)
    pruned(tables, [stage for description, stage in described if description in with_allocations])
    application = run.application
    said = {
        "app_name": application.app_name,
        "spark_version": application.spark_version,
        "master": application.master,
        "app_start_ms": application.app_start_ms,
        "app_end_ms": application.app_end_ms,
        "sample_period_ns": run.recorder.get("sample_period_ns"),
    }
    with zipfile.ZipFile(HERE / f"{name}.zip", "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("run.json", json.dumps(said, indent=1))
        for table, rows in tables.items():
            text = io.BytesIO()
            for column in ("name", "description"):
                if table in ("stages", "sql_executions") and column in rows.column_names:
                    words = pc.replace_substring(rows[column], str(ROOT), "/app")
                    rows = rows.set_column(rows.column_names.index(column), column, words)
            pq.write_table(rows, text, compression="zstd", compression_level=19)
            archive.writestr(f"{table}.parquet", text.getvalue())


if __name__ == "__main__":
    make(sys.argv[1], sys.argv[2], sys.argv[3:])
