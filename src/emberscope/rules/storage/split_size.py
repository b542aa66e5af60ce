"""Input splits are far from the size that suits the files: tasks of a scan are too large or too small.

## What it means
Spark cuts files into splits of at most `spark.sql.files.maxPartitionBytes` (128 MiB by default), one task each. Where a
setting made them much larger, or files cannot be split (gzip), few long tasks read much, and the last of them runs
alone. Where only a few columns of wide files are read, a split of 128 MiB holds very little to read: most of a task's
time is its own start and end.

## What it costs
The application replayed with the same work cut into splits of the advised size. Where splits should be larger, the
measured start and end of the tasks that are no longer needed is taken off.

## What to do
Set `spark.sql.files.maxPartitionBytes` to the value in the advice. It is computed from what the tasks of this scan
read: smaller, so that no task reads more than 256 MiB, or larger, so that a task reads up to 128 MiB. Files that cannot
be split have to be written anew, in a format that can.

## When to ignore it
When other scans of the same application have the opposite trouble: the setting is for all of them. Where tasks of any
kind are many and tiny, tiny-tasks (A7) and task-overhead (A10) report it; this finding then names the setting.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, set_conf
from emberscope.rules.places import Place, place_of, places
from emberscope.rules.price import priced
from emberscope.rules.settings import MIB, bytes_setting, memory_words
from emberscope.rules.shuffle.partitions import MOST_PARTITIONS, most_cores
from emberscope.rules.storage.files import FileScan, file_scans, stages_at
from emberscope.tables.jobs import JOBS
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.simulate.stage_tasks import StageTasks
    from emberscope.tables.run import Run

_SPLIT: Final = "spark.sql.files.maxPartitionBytes"
_MOST_BYTES: Final = 4 << 30
_TASK_MS: Final = 50.0  # what one more task costs in start and end (our proposal)


class Limits(Struct, frozen=True):
    """The RAPIDS tools want the largest input of a task between 128 and 256 MB, and set no more than 4 GB. The other
    values are our proposal."""

    least_bytes: int = 128 * MIB  # largest input of a task (RAPIDS tools)
    most_bytes: int = 256 * MIB  # and its upper end (RAPIDS tools)
    overhead: float = 0.25  # start and end of tasks over their time: below, larger splits change little (proposal)
    waves: int = 2  # so many tasks for each core have to remain (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    known, cores = places(run), max(1, most_cores(run))
    for scan in file_scans(run):
        for whole in stages_at(run, scan.node.stage_ids):
            stage = whole.succeeded()
            read = stage.amounts("input_bytes")
            most = float(read.max(initial=0.0))
            if most <= 0 or stage.shuffle_read_bytes().sum() > 0:
                continue
            place = place_of(known, stage.key)
            if most > limits.most_bytes and len(stage) < limits.waves * cores:
                yield _too_large(run, place, scan, stage, most)
            elif most < limits.least_bytes:
                yield from _too_small(run, limits, place, scan, stage, cores)


def _split_bytes(run: Run) -> int:
    """The largest size of a split; Spark's default where it was set to nothing."""
    return bytes_setting(run, _SPLIT, "128m") or 128 * MIB


def _too_large(run: Run, place: Place, scan: FileScan, stage: StageTasks, most: float) -> Finding:
    now = _split_bytes(run)
    wanted = math.ceil(float(stage.amounts("input_bytes").sum()) / (128 * MIB))
    count = max(len(stage), min(wanted, MOST_PARTITIONS))
    work = float(np.nansum(stage.durations_ms())) + _TASK_MS * (count - len(stage))
    price = priced(
        run,
        {stage.key: np.full(count, work / count)},
        f"The stage's work cut into {count} tasks, {_TASK_MS:.0f} ms more for each.",
    )
    if most > 2 * now:
        advice = Advice(
            "code",
            f"A task read {format_bytes(most)} though splits have {format_bytes(now)} at most: the files of "
            f"{scan.table} cannot be split. Write them anew as Parquet or ORC, or in a compression that can be split.",
        )
    else:
        value = memory_words(max(MIB, math.floor(now / (most / (256 * MIB)) / MIB) * MIB))
        advice = set_conf(_SPLIT, value, f"A task read up to {format_bytes(most)} with {format_bytes(now)}.")
    return _finding(place, scan, stage, "large", most, (advice,), price.wall_ms, None, price.basis)


def _too_small(
    run: Run, limits: Limits, place: Place, scan: FileScan, stage: StageTasks, cores: int
) -> Iterator[Finding]:
    now = _split_bytes(run)
    most = float(stage.amounts("input_bytes").max())
    times = min(128 * MIB / most, _MOST_BYTES / now, len(stage) / (limits.waves * cores))
    if times < 2 or scan.size_bytes < now:
        return
    durations = np.nan_to_num(stage.durations_ms())
    overhead = np.maximum(0.0, durations - stage.run_ms())
    if overhead.sum() < limits.overhead * durations.sum():
        return
    price = priced(
        run,
        {stage.key: _merged(durations, overhead, math.floor(times))},
        f"{math.floor(times)} tasks made one, with the start and end of one.",
    )
    value = memory_words(math.floor(now * times / MIB) * MIB)
    advice = set_conf(
        _SPLIT,
        value,
        f"A task read no more than {format_bytes(most)} of its split of {format_bytes(now)}; "
        f"{math.ceil(len(stage) / times)} tasks remain of {len(stage)}.",
    )
    saved = float(overhead.sum()) * (1 - 1 / math.floor(times))
    yield _finding(place, scan, stage, "small", most, (advice,), price.wall_ms, round(saved), price.basis)


def _merged(durations: NDArray[np.float64], overhead: NDArray[np.float64], times: int) -> NDArray[np.float64]:
    """Durations of the tasks that do the work of `times` tasks each."""
    starts = np.arange(0, len(durations), times)
    merged: NDArray[np.float64] = np.add.reduceat(durations - overhead, starts) + np.maximum.reduceat(overhead, starts)
    return merged


def _finding(
    place: Place,
    scan: FileScan,
    stage: StageTasks,
    size: str,
    most: float,
    advice: tuple[Advice, ...],
    wall_ms: int | None,
    core_ms: int | None,
    basis: str,
) -> Finding:
    run_ms = float(stage.run_ms().sum())
    durations = float(np.nansum(stage.durations_ms()))
    return Finding(
        title=f"{place.title} read {scan.table} in splits that are too {size}",
        summary=f"{place.sentence}: {format_count(len(stage))} tasks read {format_bytes(most)} at most, "
        f"{format_ms(run_ms / len(stage))} each.",
        where=place.where,
        evidence=(
            Evidence(
                f"{format_count(len(stage))} tasks, the largest read {format_bytes(most)}",
                "tasks.input_bytes",
                most,
                "bytes",
            ),
            Evidence(
                f"{format_ms(max(0.0, durations - run_ms))} of {format_ms(durations)} were start and end of tasks",
                "tasks.finish_ms - launch_ms - executor_run_time_ms",
                round(max(0.0, durations - run_ms)),
                "ms",
            ),
        ),
        advice=advice,
        wasted_wall_ms=wall_ms,
        wasted_core_ms=core_ms,
        saving_basis=basis,
        confidence=0.6,
    )


RULE = Rule(
    code="E3",
    name="split-size",
    since="0.1",
    reads=(
        Reads(TASKS, ("executor_run_time_ms", "input_bytes")),
        Reads(STAGES),
        Reads(JOBS),
        Reads(PLAN_NODES),
        Reads(PLAN_METRICS),
    ),
    limits=Limits(),
    check=check,
)
