"""The rows of the report's tables: stages with the spread of their task times, and executors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.rules.places import place_of, places
from emberscope.simulate.cores import observed_window
from emberscope.simulate.stage_tasks import StageTasks, stage_tasks

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# The page shows so many stages, those with the most task time; the rest are told in one line.
MOST_STAGES: Final = 200


@dataclass(frozen=True, slots=True)
class Spread:
    """Task times of a stage in ms: least, quartiles, most."""

    least: float
    quarter: float
    median: float
    three_quarters: float
    most: float

    def percent(self, value: float) -> float:
        """Where a time lies between 0 and the longest task, in per cent, for drawing."""
        return round(100 * value / self.most, 2) if self.most > 0 else 0.0


@dataclass(frozen=True, slots=True)
class StageRow:
    """One stage attempt. Times in ms, sizes in bytes; `wall_ms` is None where it has not ended."""

    stage_id: int
    attempt: int
    words: str
    tasks: int
    failed: int
    wall_ms: float | None
    task_ms: float
    spread: Spread | None
    gc_ratio: float
    input_bytes: float
    shuffle_read_bytes: float
    shuffle_write_bytes: float
    spilled_bytes: float
    samples: int | None


@dataclass(frozen=True, slots=True)
class ExecutorRow:
    """One executor. `added_ms` and `removed_ms` count from the start of the application."""

    executor_id: str
    host: str
    cores: int | None
    added_ms: float | None
    removed_ms: float | None
    removed_reason: str
    tasks: int
    task_ms: float
    gc_ratio: float
    peak_heap_bytes: float | None
    samples: int | None


def stage_rows(run: Run) -> list[StageRow]:
    """All stage attempts with tasks, in the order of their ids."""
    known, samples = places(run), _samples_by(run, "stage_id")
    times = _stage_times(run)
    rows = []
    for stage in stage_tasks(run):
        runs_ms = stage.amounts("executor_run_time_ms")
        status = stage.texts("status")
        rows.append(
            StageRow(
                stage.key[0],
                stage.key[1],
                place_of(known, stage.key).words,
                len(stage),
                status.count("failed"),
                times.get(stage.key),
                float(runs_ms.sum()),
                _spread(stage),
                _ratio(stage.amounts("gc_time_ms").sum(), runs_ms.sum()),
                float(stage.amounts("input_bytes").sum()),
                float(stage.shuffle_read_bytes().sum()),
                float(stage.amounts("shuffle_write_bytes").sum()),
                float(stage.amounts("disk_spilled_bytes").sum()),
                None if samples is None else samples.get(str(stage.key[0]), 0),
            )
        )
    return rows


def executor_rows(run: Run) -> list[ExecutorRow]:
    """All executors in the order in which they came."""
    table, tasks = run.tables.get("executors"), run.tables.get("tasks")
    if table is None:
        return []
    window, samples = observed_window(run), _samples_by(run, "executor_id")
    spent: dict[str, list[float]] = {}
    if tasks is not None:
        columns = [tasks[name].to_pylist() for name in ("executor_id", "executor_run_time_ms", "gc_time_ms")]
        for executor, run_ms, gc_ms in zip(*columns, strict=True):
            sums = spent.setdefault(executor, [0, 0.0, 0.0])
            sums[0], sums[1], sums[2] = sums[0] + 1, sums[1] + (run_ms or 0), sums[2] + (gc_ms or 0)
    rows = []
    for row in sorted(table.to_pylist(), key=lambda row: (row["added_ms"] or 0, row["executor_id"] or "")):
        count, run_ms, gc_ms = spent.get(row["executor_id"], [0, 0.0, 0.0])
        rows.append(
            ExecutorRow(
                row["executor_id"] or "",
                row["host"] or "",
                row["cores"],
                None if window is None or row["added_ms"] is None else row["added_ms"] - window[0],
                None if window is None or row["removed_ms"] is None else row["removed_ms"] - window[0],
                row["removed_reason"] or "",
                int(count),
                run_ms,
                _ratio(gc_ms, run_ms),
                row["peak_jvm_heap_bytes"],
                None if samples is None else samples.get(row["executor_id"], 0),
            )
        )
    return rows


def _spread(stage: StageTasks) -> Spread | None:
    """Of the succeeded tasks; None where fewer than two succeeded."""
    runs_ms = stage.amounts("executor_run_time_ms")[np.array(stage.texts("status"), dtype=object) == "success"]
    return Spread(*np.quantile(runs_ms, [0, 0.25, 0.5, 0.75, 1]).tolist()) if len(runs_ms) > 1 else None


def _stage_times(run: Run) -> dict[tuple[int, int], float]:
    table = run.tables.get("stages")
    if table is None:
        return {}
    columns = ["stage_id", "stage_attempt", "submitted_ms", "completed_ms"]
    return {
        (row["stage_id"], row["stage_attempt"]): row["completed_ms"] - row["submitted_ms"]
        for row in table.select(columns).to_pylist()
        if row["completed_ms"] is not None and row["submitted_ms"] is not None
    }


def _samples_by(run: Run, column: str) -> dict[str, int] | None:
    """Number of samples by stage or executor; None where the run was not recorded."""
    samples = run.tables.get("samples")
    if samples is None:
        return None
    texts = samples.select([column, "count"]).set_column(0, column, samples[column].cast("string"))
    counts = texts.group_by(column).aggregate([("count", "sum")]).to_pylist()
    return {row[column]: row["count_sum"] or 0 for row in counts if row[column] is not None}


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else 0.0
