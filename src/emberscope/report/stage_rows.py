"""The rows of the report's tables: stages with the spread of their task times, and executors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.rules.places import place_of, places
from emberscope.simulate.cores import observed_window
from emberscope.simulate.stage_tasks import StageKey, has_status
from emberscope.tables.samples import EVENTS

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
    """All stage attempts with tasks, in the order of their ids. `samples` are those of the attempt."""
    tasks = run.tables.get("tasks")
    if tasks is None or not tasks.num_rows:
        return []
    known, samples, walls = places(run), _samples_of_stages(run), _stage_times(run)
    ids, attempts = (tasks[name].fill_null(-1).to_numpy() for name in ("stage_id", "stage_attempt"))
    runs_ms, good = amounts(tasks["executor_run_time_ms"]), has_status(tasks, "success")
    # The succeeded of each attempt stand first, the quickest before all.
    order = np.lexsort((runs_ms, ~good, attempts, ids))
    ids, attempts, runs_ms, good = ids[order], attempts[order], runs_ms[order], good[order]
    starts = np.flatnonzero(np.append(True, (np.diff(ids) != 0) | (np.diff(attempts) != 0)))

    def sums(*values: npt.NDArray[np.float64]) -> list[float]:
        total: list[float] = np.add.reduceat(sum(values[1:], values[0]), starts).tolist()
        return total

    def of(*names: str) -> list[float]:
        return sums(*(amounts(tasks[name])[order] for name in names))

    keys = list(zip(ids[starts].tolist(), attempts[starts].tolist(), strict=True))
    several = Counter(stage for stage, _ in keys)
    columns = zip(
        keys,
        np.diff(starts, append=len(ids)).tolist(),
        sums(has_status(tasks, "failed")[order].astype(float)),
        sums(runs_ms),
        spreads(runs_ms, starts, np.add.reduceat(good.astype(np.int64), starts)),
        of("gc_time_ms"),
        of("input_bytes"),
        of("shuffle_read_local_bytes", "shuffle_read_remote_bytes"),
        of("shuffle_write_bytes"),
        of("disk_spilled_bytes"),
        strict=True,
    )
    return [
        StageRow(
            key[0],
            key[1],
            place_of(known, key).words,
            count,
            int(failed),
            walls.get(key),
            task_ms,
            spread,
            _ratio(gc_ms, task_ms),
            input_bytes,
            read_bytes,
            write_bytes,
            spilled_bytes,
            None if samples is None else samples(key, several[key[0]] == 1),
        )
        for key, count, failed, task_ms, spread, gc_ms, input_bytes, read_bytes, write_bytes, spilled_bytes in columns
    ]


def executor_rows(run: Run) -> list[ExecutorRow]:
    """All executors in the order in which they came."""
    table, tasks = run.tables.get("executors"), run.tables.get("tasks")
    if table is None:
        return []
    window, samples = observed_window(run), _samples_of_executors(run)
    spent: dict[str | None, tuple[int, float, float]] = {}
    if tasks is not None:
        chosen = tasks.select(["executor_id", "executor_run_time_ms", "gc_time_ms"])
        by_executor = chosen.group_by("executor_id").aggregate(
            [([], "count_all"), ("executor_run_time_ms", "sum"), ("gc_time_ms", "sum")]
        )
        spent = {
            row["executor_id"]: (row["count_all"], row["executor_run_time_ms_sum"] or 0, row["gc_time_ms_sum"] or 0)
            for row in by_executor.to_pylist()
        }
    rows = []
    for row in sorted(table.to_pylist(), key=lambda row: (row["added_ms"] or 0, row["executor_id"] or "")):
        count, run_ms, gc_ms = spent.get(row["executor_id"], (0, 0.0, 0.0))
        rows.append(
            ExecutorRow(
                row["executor_id"] or "",
                row["host"] or "",
                row["cores"],
                None if window is None or row["added_ms"] is None else row["added_ms"] - window[0],
                None if window is None or row["removed_ms"] is None else row["removed_ms"] - window[0],
                row["removed_reason"] or "",
                count,
                float(run_ms),
                _ratio(gc_ms, run_ms),
                row["peak_jvm_heap_bytes"],
                None if samples is None else samples.get(row["executor_id"], 0),
            )
        )
    return rows


def spreads(
    runs_ms: npt.NDArray[np.float64], starts: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> list[Spread | None]:
    """The spread of `counts` ascending times from each of `starts` on; None where these are fewer than two."""
    quantiles = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        place = share * np.maximum(counts - 1, 0)
        low, high = starts + np.floor(place).astype(np.int64), starts + np.ceil(place).astype(np.int64)
        quantiles.append((runs_ms[low] + (runs_ms[high] - runs_ms[low]) * (place % 1)).tolist())
    found = zip(counts.tolist(), zip(*quantiles, strict=True), strict=True)
    return [Spread(*values) if count > 1 else None for count, values in found]


def amounts(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """Times or sizes as float64, 0 where not known: for sums."""
    return np.asarray(column.fill_null(0).to_numpy(), dtype=np.float64)


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


def _samples_of_stages(run: Run) -> Callable[[StageKey, bool], int] | None:
    """Number of samples of a stage attempt, or of all of a stage (where that is the only attempt); None where the run
    was not recorded."""
    counts = _sample_counts(run, ["stage_id", "stage_attempt"])
    if counts is None:
        return None
    of_stage: Counter[int] = Counter()
    for (stage, _), count in counts.items():
        of_stage[stage] += count
    return lambda key, whole: of_stage[key[0]] if whole else counts.get(key, 0)


def _samples_of_executors(run: Run) -> dict[str, int] | None:
    counts = _sample_counts(run, ["executor_id"])
    return None if counts is None else {executor: count for (executor,), count in counts.items()}


def counted_event(run: Run) -> str | None:
    """The event whose samples the tables count: the one that the flame graph shows first. None where none is known."""
    samples = run.tables.get("samples")
    present = set() if samples is None else set(pc.unique(samples["event"]).to_pylist())
    return next((event for event in EVENTS if event in present), None)


def _sample_counts(run: Run, columns: list[str]) -> dict[tuple[Any, ...], int] | None:
    samples, event = run.tables.get("samples"), counted_event(run)
    if samples is None:
        return None
    mine = samples if event is None else samples.filter(pc.fill_null(pc.equal(samples["event"], event), False))
    sums = mine.group_by(columns).aggregate([("count", "sum")]).to_pylist()
    return {tuple(row[name] for name in columns): row["count_sum"] or 0 for row in sums}


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else 0.0
