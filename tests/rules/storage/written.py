"""Runs with one SQL execution that reads or writes files, made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from emberscope.tables.run import Run
from tests.runs import executor, job, run_of, stage, task

WRITE = (
    "Execute InsertIntoHadoopFsRelationCommand {path}, false, {columns}Parquet, [path={path}], ErrorIfExists, [id, day]"
)


def executed(
    nodes: Sequence[Mapping[str, Any]],
    metrics: Mapping[int, Mapping[str, int]],
    *,
    count: int = 4,
    run_ms: int = 10_000,
    ended_ms: int | None = None,
    conf: Mapping[str, str] | None = None,
    stages: Mapping[str, Any] | None = None,
    **columns: Any,
) -> Run:
    """`count` tasks of stage 0 on two cores for SQL execution 0 with this plan; metrics by node and name.

    The names of metrics that are times end in `time`. The execution ends with its stage unless `ended_ms` says else.
    """
    length = run_ms * -(-count // 2)
    kinds = {"number": "sum", "written": "size", "size": "size"}
    rows = [
        {"sql_execution_id": 0, "node_id": node, "accumulator_id": 100 * node + place, "name": name, "value": value}
        | {"metric_type": kinds.get(name.split(" ")[0], "timing"), "last_attempt_value": value, "stage_ids": [0]}
        for node, named in metrics.items()
        for place, (name, value) in enumerate(named.items())
    ]
    end = length if ended_ms is None else ended_ms
    more = {"sql_execution_id": 0, "task_count": count, **(stages or {})}
    return run_of(
        max(length, end),
        conf=conf,
        tasks=[task(0, run_ms * (i // 2), run_ms, task_id=i, task_index=i, **columns) for i in range(count)],
        stages=[stage(0, 0, length, **more)],
        jobs=[job(0, 0, length, sql_execution_id=0, call_site="parquet at daily.py:7")],
        executors=[executor("1", 2)],
        sql_executions=[
            {"sql_execution_id": 0, "description": "daily", "started_ms": 0, "ended_ms": end, "status": "succeeded"}
        ],
        plan_nodes=[{"sql_execution_id": 0, **node} for node in nodes],
        plan_metrics=rows,
    )


def writing(
    files: int,
    size_bytes: int,
    *,
    columns: str = "[day#1L], ",
    path: str = "hdfs://a/events",
    parts: int = 0,
    **more: Any,
) -> Run:
    """A write of so many files of so many bytes in all, by four tasks of 10 s."""
    node = {"node_id": 0, "name": "Execute InsertIntoHadoopFsRelationCommand", "stage_ids": [0]}
    metrics = {"number of written files": files, "written output": size_bytes, "number of dynamic part": parts}
    metrics |= {"job commit time": more.pop("commit_ms")} if "commit_ms" in more else {}
    return executed(
        [{**node, "detail": WRITE.format(path=path, columns=columns)}],
        {0: metrics},
        output_bytes=max(1, size_bytes // 4),
        **more,
    )


def scanning(files: int, size_bytes: int, rows: int, detail: str, kept: int | None = None, **more: Any) -> Run:
    """A scan of so many files, with a filter above it where `kept` rows are told, by four tasks of 10 s."""
    scan = {"name": "Scan parquet ", "detail": detail, "stage_ids": [0]}
    counted = {"number of files read": files, "size of files read": size_bytes, "number of output rows": rows}
    counted |= more.pop("counted", {})
    if kept is None:
        return executed([{"node_id": 0, **scan}], {0: counted}, input_bytes=max(1, size_bytes // 4), **more)
    nodes = [
        {"node_id": 0, "name": "Filter", "detail": more.pop("condition", "Filter (key#1L = 7)"), "stage_ids": [0]},
        {"node_id": 1, "parent_node_id": 0, **scan},
    ]
    metrics = {0: {"number of output rows": kept}, 1: counted}
    return executed(nodes, metrics, input_bytes=max(1, size_bytes // 4), **more)
