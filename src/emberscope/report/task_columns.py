"""The task attempts of a run as numpy columns, ended and running ones, with their executors and stages by place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from emberscope.tables.run import Run

STATUSES: Final = ("success", "failed", "killed", "running")
"""What became of a task; a column `status` holds places in it."""

LOCALITIES: Final = ("PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY")
"""Spark's levels from the nearest on; a column `locality` holds places in it, -1 where it is not known."""

FAILED: Final = STATUSES.index("failed")
UNKNOWN: Final = -1

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]

# Columns of table tasks that the page shows, each by its name there; null becomes UNKNOWN.
_FIGURES: Final = {
    "task": ("task_id", 1),
    "index": ("task_index", 1),
    "attempt": ("attempt", 1),
    "run_ms": ("executor_run_time_ms", 1),
    "cpu_ms": ("executor_cpu_time_ns", 1_000_000),
    "gc_ms": ("gc_time_ms", 1),
    "fetch_ms": ("shuffle_fetch_wait_ms", 1),
    "spilled_bytes": ("disk_spilled_bytes", 1),
}


@dataclass(frozen=True, slots=True)
class TaskColumns:
    """Task attempts with a known launch and end, by launch. Times in ms from the start; UNKNOWN where not known.

    `executor` and `stage` are places in `executors` (ids) and `stages` (id and attempt), `host` in `hosts`. `figures`
    are those of `_FIGURES` and `read_bytes`: shuffle and input together. `undrawn` counts attempts without times.
    """

    start_ms: int
    launch: Ints
    finish: Ints
    status: Ints
    executor: Ints
    host: Ints
    stage: Ints
    locality: Ints
    speculative: Ints
    figures: dict[str, Ints]
    reasons: list[str | None]
    executors: list[str]
    hosts: list[str]
    stages: list[tuple[int, int]]
    undrawn: int

    def __len__(self) -> int:
        return len(self.launch)

    @property
    def duration(self) -> Ints:
        return self.finish - self.launch

    @property
    def measured(self) -> npt.NDArray[np.bool_]:
        """Which ones succeeded with a known run time: what quartiles and medians are taken over."""
        return np.asarray((self.status == 0) & (self.figures["run_ms"] >= 0))


def task_columns(run: Run) -> TaskColumns:
    """All attempts of tables `tasks` and `running_tasks`; a running one ends where it was last seen."""
    ended, running = run.tables.get("tasks"), run.tables.get("running_tasks")
    tables = [table for table in (ended, running) if table is not None and table.num_rows]

    def gathered(name: str, running_name: str = "") -> Ints:
        pieces = [_numbers(table, (table is running and running_name) or name) for table in tables]
        return np.concatenate(pieces) if pieces else np.zeros(0, np.int64)

    def texts(name: str) -> pa.Array:
        pieces = [_texts(table, name) for table in tables]
        return pa.concat_arrays(pieces) if pieces else pa.array([], pa.string())

    launch, finish = gathered("launch_ms"), gathered("finish_ms", "until_ms")
    known = (launch > _NONE) & (finish > _NONE)
    undrawn = int((~known).sum())
    start_ms = run.application.app_start_ms
    if start_ms is None:
        start_ms = int(launch[known].min()) if known.any() else 0
    order = np.flatnonzero(known)
    order = order[np.lexsort((gathered("task_id")[order], launch[order]))]
    status = np.full(len(launch), STATUSES.index("running"), np.int64)
    if ended is not None:
        status[: ended.num_rows] = _places(_texts(ended, "status"), STATUSES)
    # What came before the start of the application, by clocks that differ, is drawn at it.
    launch = np.maximum(launch - start_ms, 0)
    finish = np.maximum(finish - start_ms, launch)
    executors, executor = _encoded_texts(texts("executor_id"))
    hosts, host = _encoded_texts(texts("host"))
    attempts = gathered("stage_attempt")
    keys = np.column_stack([gathered("stage_id"), np.where(attempts > _NONE, attempts, 0)])
    stages, stage = np.unique(keys[order], axis=0, return_inverse=True)
    figures = {}
    for name, (column, scale) in _FIGURES.items():
        values = gathered(column)
        figures[name] = np.where(values > _NONE, values // scale, UNKNOWN)
    parts = np.stack([gathered(name) for name in _READ])
    sums = np.where(parts > _NONE, parts, 0).sum(axis=0)
    figures["read_bytes"] = np.where((parts > _NONE).any(axis=0), sums, UNKNOWN)
    reasons = _reasons(tables)
    return TaskColumns(
        start_ms,
        launch[order],
        finish[order],
        status[order],
        executor[order],
        host[order],
        stage.reshape(-1).astype(np.int64),
        _places(texts("locality"), LOCALITIES)[order],
        np.maximum(gathered("speculative"), 0)[order],
        {name: values[order] for name, values in figures.items()},
        [reasons[row] for row in order.tolist()],
        executors,
        hosts,
        [(int(number), int(attempt)) for number, attempt in stages.tolist()],
        undrawn,
    )


_NONE: Final = -(2**62)
_READ: Final = ("input_bytes", "shuffle_read_local_bytes", "shuffle_read_remote_bytes")


def _numbers(table: pa.Table, name: str) -> Ints:
    """A column as integers, `_NONE` where it is null or the table has no such column."""
    if name not in table.column_names:
        return np.full(table.num_rows, _NONE, np.int64)
    return np.asarray(table[name].cast(pa.int64()).fill_null(_NONE).to_numpy(), np.int64)


def _texts(table: pa.Table, name: str) -> pa.Array:
    if name not in table.column_names:
        return pa.nulls(table.num_rows, pa.string())
    return pa.concat_arrays([chunk.cast(pa.string()) for chunk in table[name].chunks] or [pa.array([], pa.string())])


def _places(texts: pa.Array, values: tuple[str, ...]) -> Ints:
    places = pc.index_in(texts, value_set=pa.array(values, pa.string()))
    return np.asarray(pc.fill_null(places, UNKNOWN).to_numpy(zero_copy_only=False), np.int64)


def _encoded_texts(texts: pa.Array) -> tuple[list[str], Ints]:
    """The distinct texts, the empty one for null, and each row's place among them."""
    encoded = pc.fill_null(texts, "").dictionary_encode()
    return encoded.dictionary.to_pylist(), np.asarray(encoded.indices.to_numpy(zero_copy_only=False), np.int64)


def _reasons(tables: list[Any]) -> list[str | None]:
    """Why an attempt failed or was killed: the exception's class, else Spark's reason; None where it succeeded."""
    found: list[str | None] = []
    for table in tables:
        if "reason" not in table.column_names:
            found += [None] * table.num_rows
            continue
        good = pc.equal(_texts(table, "status"), "success")
        words = pc.coalesce(_texts(table, "error_class"), _texts(table, "reason"))
        found += pc.if_else(pc.fill_null(good, False), pa.scalar(None, pa.string()), words).to_pylist()
    return found
