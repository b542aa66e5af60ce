"""Runs made by hand or at random, for tests of all that works on a run's tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from emberscope.eventlog.read import read_event_log
from emberscope.rules.base import Finding, Rule
from emberscope.tables.catalog import TABLES
from emberscope.tables.coverage import Coverage
from emberscope.tables.run import Application, Run

FINDINGS = Path(__file__).parent / "data" / "findings"
START_MS = 1_700_000_000_000
_EVENT_LOG_TABLES = (
    "tasks",
    "running_tasks",
    "stages",
    "jobs",
    "executors",
    "sql_executions",
    "plan_nodes",
    "plan_metrics",
    "conf",
)
Rows = Sequence[Mapping[str, Any]]


@cache
def spark_wrote(name: str) -> Run:
    """A run that real Spark logged (tests/data/findings)."""
    return read_event_log(str(FINDINGS / f"findings_{name}.zstd"))


def run_of(
    length_ms: int | None = 100_000,
    conf: Mapping[str, str] | None = None,
    coverage: Coverage | None = None,
    **rows: Rows,
) -> Run:
    """A run with these rows by table; all tables of an event log are there, empty where nothing is given.

    Times in rows count from the start of the application and become epoch ms here.
    """
    rows = {**rows, "conf": [{"key": k, "value": v, "scope": "spark"} for k, v in (conf or {}).items()]}
    tables = {
        table.name: table.from_rows([_shifted(row) for row in rows.get(table.name, ())])
        for table in TABLES
        if table.name in _EVENT_LOG_TABLES or table.name in rows
    }
    application = Application(
        app_id="app-1",
        app_name="by hand",
        spark_version="4.3.0",
        app_start_ms=START_MS if length_ms is not None else None,
        app_end_ms=START_MS + length_ms if length_ms is not None else None,
        complete=True,
    )
    return Run("by-hand", application, tables, coverage or Coverage())


def task(stage: int, launch_ms: float, run_ms: float, **more: Any) -> dict[str, Any]:
    """One succeeded task that does nothing but compute; `more` overrides."""
    row = {
        "stage_id": stage,
        "stage_attempt": 0,
        "task_id": more.get("task_id", round(launch_ms * 1000) + stage),
        "launch_ms": round(launch_ms),
        "finish_ms": round(launch_ms + run_ms),
        "status": "success",
        "executor_id": "1",
        "host": "a",
        "executor_run_time_ms": round(run_ms),
        "executor_cpu_time_ns": round(run_ms * 1e6),
        "gc_time_ms": 0,
        "memory_spilled_bytes": 0,
        "disk_spilled_bytes": 0,
        "has_metrics": True,
    }
    return {**row, **more}


def stage(stage_id: int, submitted_ms: float, completed_ms: float, **more: Any) -> dict[str, Any]:
    row = {
        "stage_id": stage_id,
        "stage_attempt": 0,
        "name": f"collect at job.py:{stage_id}",
        "parent_ids": [],
        "submitted_ms": round(submitted_ms),
        "completed_ms": round(completed_ms),
        "status": "succeeded",
        "job_id": 0,
    }
    return {**row, **more}


def job(job_id: int, submitted_ms: float, completed_ms: float, **more: Any) -> dict[str, Any]:
    times = {"submitted_ms": round(submitted_ms), "completed_ms": round(completed_ms)}
    return {"job_id": job_id, "status": "succeeded", **times, **more}


def executor(executor_id: str, cores: int, added_ms: float = 0, removed_ms: float | None = None) -> dict[str, Any]:
    return {
        "executor_id": executor_id,
        "host": "a",
        "cores": cores,
        "added_ms": round(added_ms),
        "removed_ms": None if removed_ms is None else round(removed_ms),
    }


def without(run: Run, *names: str) -> Run:
    """The run less these tables."""
    return replace(run, tables={name: table for name, table in run.tables.items() if name not in names})


def with_rows(run: Run, name: str, table: pa.Table) -> Run:
    return replace(run, tables={**run.tables, name: table})


def found(rule: Rule[Any], run: Run) -> list[Finding]:
    return list(rule.check(run, rule.limits))


def _shifted(row: Mapping[str, Any]) -> dict[str, Any]:
    times = (
        "launch_ms",
        "finish_ms",
        "submitted_ms",
        "completed_ms",
        "added_ms",
        "removed_ms",
        "started_ms",
        "ended_ms",
        "until_ms",
    )
    return {k: v + START_MS if k in times and v is not None else v for k, v in row.items()}


_TIMES = st.none() | st.integers(-2_000, 60_000)
_AMOUNTS = st.none() | st.integers(0, 200_000)
_SIZES = st.none() | st.integers(0, 1 << 40)


@st.composite
def any_runs(draw: st.DrawFn) -> Run:
    """Runs as damaged as a log can make them: missing values, times out of order, tasks outside of any job."""
    task_rows = st.fixed_dictionaries(
        {
            "stage_id": st.integers(0, 2),
            "stage_attempt": st.integers(0, 1),
            "task_id": st.integers(0, 50),
            "task_index": st.integers(0, 50),
            "launch_ms": _TIMES,
            "finish_ms": _TIMES,
            "status": st.sampled_from(["success", "success", "failed", "killed"]),
            "executor_id": st.sampled_from(["1", "2"]),
            "host": st.none() | st.sampled_from(["a", "b"]),
            "executor_run_time_ms": _AMOUNTS,
            "executor_cpu_time_ns": st.none() | st.integers(0, 10**12),
            "gc_time_ms": _AMOUNTS,
            "shuffle_fetch_wait_ms": _AMOUNTS,
            "shuffle_write_time_ns": st.none() | st.integers(0, 10**12),
            "memory_spilled_bytes": _SIZES,
            "disk_spilled_bytes": _SIZES,
            "shuffle_read_local_bytes": _SIZES,
            "shuffle_read_records": _SIZES,
            "peak_execution_memory_bytes": _SIZES,
        }
    )
    intervals = st.fixed_dictionaries({"submitted_ms": _TIMES, "completed_ms": _TIMES})
    stages = [
        {**draw(intervals), "stage_id": i, "stage_attempt": 0, "job_id": draw(st.none() | st.integers(0, 1))}
        | {"parent_ids": draw(st.lists(st.integers(0, 2), max_size=2)), "status": "succeeded"}
        | {"task_count": draw(st.integers(1, 9)), "rdd_names": draw(st.sampled_from([["PythonRDD"], ["Range"]]))}
        for i in range(draw(st.integers(0, 3)))
    ]
    jobs = [{"job_id": i, **draw(intervals)} for i in range(draw(st.integers(0, 2)))]
    executors = [
        {"executor_id": str(i + 1), "host": "a", "cores": draw(st.integers(1, 4)), "added_ms": draw(_TIMES)}
        | {"removed_ms": draw(_TIMES)}
        for i in range(draw(st.integers(0, 2)))
    ]
    tasks = draw(st.lists(task_rows, max_size=12))
    running = [
        {"stage_id": 0, "stage_attempt": 0, "task_id": 100 + i, "launch_ms": draw(_TIMES), "until_ms": draw(_TIMES)}
        | {"executor_id": "1", "at_end": draw(st.booleans())}
        for i in range(draw(st.integers(0, 2)))
    ]
    length_ms = draw(st.none() | st.integers(1, 60_000))
    return run_of(length_ms, tasks=tasks, running_tasks=running, stages=stages, jobs=jobs, executors=executors)
