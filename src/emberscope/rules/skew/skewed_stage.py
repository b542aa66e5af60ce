"""One task of a stage runs far longer than its siblings.

## What it means
A stage ends when its last task ends. Here one task (or a few) ran many times longer than the median task, so cores were
idle while the stage waited for it. Where the long task also read many times more bytes or records, the data are skewed:
one key or one file holds most of the rows. Where it read about as much as the others, the data are not to blame: the
machine was slower, or its rows cost far more to compute.

## What it costs
The time between the stage as it was and the stage with the same work spread evenly over the cores, replayed through the
rest of the application. A skewed stage that other work hides costs nothing, and the price says so.

## What to do
For a skewed join, let adaptive execution split the large partition: the advice gives settings with values computed from
this run. Where the other table is small, broadcasting it is cheaper still. For a skewed aggregation no setting helps:
aggregate in two steps (by key and a random salt, then by key), or handle the hot key by itself. A window needs all rows
of a key in one task: partition it by more columns. A skewed input is a large file that cannot be split: write it anew
in a format that can. Where a host is slow, look at the host.

## When to ignore it
When the long task cannot be shorter (a single large file that is read once), or when the stage is hidden behind others
and the saving is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Reads, Rule
from emberscope.rules.places import Place, place_of, places
from emberscope.rules.skew.advice import advice_for
from emberscope.rules.skew.slow_node import slow_machines
from emberscope.rules.skew.slow_read import slow_reads
from emberscope.rules.skew.straggler import Straggler, evened, straggler_of
from emberscope.simulate.replay import Timeline, saving, timeline
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageTasks
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Sources: spark-advisor warns at 5 times the median; DataFlint asks for a longest task over 5 s; the RAPIDS tools
    call a task that reads 3 times the stage's mean skewed; Compass asks for less the more records the longest task has
    read. Where no tool is named, the value is our proposal."""

    ratio: float = 5.0  # longest task over median task (spark-advisor)
    floor_ms: int = 5_000  # stages whose longest task is shorter are never reported (DataFlint)
    least_tasks: int = 4  # a median of fewer says nothing; adaptive execution leaves few tasks (proposal)
    data_ratio: float = 3.0  # bytes or records of the longest task over the median: skewed data (RAPIDS tools)
    ratio_20m: float = (
        3.5  # longest over median task, in time and records, where it read more than 20 million (Compass)
    )
    ratio_30m: float = 3.0  # more than 30 million (Compass)
    ratio_40m: float = 2.25  # more than 40 million (Compass)
    ratio_50m: float = 2.0  # more than 50 million (Compass)
    host_share: float = 0.5  # more than this share of the stragglers on one of several hosts: slow host (proposal)
    least_app_ratio: float = 0.01  # longest task over the application's wall time (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    floor_ms = max(limits.floor_ms, limits.least_app_ratio * (run.application.observed_ms or 0))
    divisors = np.array([stage.run_time_divisor for stage in figures.stages], dtype=np.float64)
    longest = np.nan_to_num(figures.most("executor_run_time_ms"))
    least = min(limits.ratio, limits.ratio_50m)
    worth = (figures.counts >= limits.least_tasks) & (longest / divisors >= floor_ms)
    worth &= longest >= least * np.nan_to_num(figures.median("executor_run_time_ms"))
    application, known = timeline(run), places(run)
    for place in np.flatnonzero(worth).tolist():
        stage = figures.stages[place]
        found = _straggler(stage, limits, floor_ms)
        if found is None or _told_better(run, found):
            continue
        finding = _finding(run, application, place_of(known, stage.key), stage, found)
        # Costly rows that nobody waits for are nothing to mend; the first tasks of an executor always take longer.
        if (
            found.kind == "data"
            or finding.wasted_wall_ms is None
            or finding.wasted_wall_ms >= limits.least_app_ratio * (run.application.observed_ms or 0)
        ):
            yield finding


def _straggler(stage: StageTasks, limits: Limits, floor_ms: float) -> Straggler | None:
    """The straggler by the plain limits, or by those for tasks that read very many records."""
    tasks = stage.succeeded()
    found = straggler_of(
        tasks,
        ratio=limits.ratio,
        floor_ms=floor_ms,
        least_tasks=limits.least_tasks,
        data_ratio=limits.data_ratio,
        host_share=limits.host_share,
    )
    if found is not None or len(tasks) < limits.least_tasks:
        return found
    most = float(tasks.read_records().max())
    ladder = ((50e6, limits.ratio_50m), (40e6, limits.ratio_40m), (30e6, limits.ratio_30m), (20e6, limits.ratio_20m))
    ratio = next((ratio for records, ratio in ladder if most > records), None)
    if ratio is None:
        return None
    found = straggler_of(
        tasks,
        ratio=ratio,
        floor_ms=floor_ms,
        least_tasks=limits.least_tasks,
        data_ratio=ratio,
        host_share=limits.host_share,
    )
    return found if found is not None and found.kind == "data" else None


def _told_better(run: Run, found: Straggler) -> bool:
    """Whether the task was long because its machine was slow in all stages (B4), or its storage (B5)."""
    if found.kind == "data":
        return False
    slow = {executor for one, _ in slow_machines(run) for executor in one.executors}
    task = found.tasks.numbers("task_id")[found.longest]
    readers = (one.tasks.numbers("task_id")[one.slow] for one in slow_reads(run) if one.tasks.key == found.tasks.key)
    return found.tasks.texts("executor_id")[found.longest] in slow or any(task in ids for ids in readers)


def _finding(run: Run, application: Timeline | None, place: Place, stage: StageTasks, found: Straggler) -> Finding:
    if application is None:
        wall_ms, basis = None, "The times of the application are not known, so nothing could be replayed."
    else:
        price = saving(application, {stage.key: evened(stage, found)})
        wall_ms, basis = price.wall_ms, price.basis
    times = f"{found.ratio:.0f}×"
    title, why, confidence = {
        "data": (
            f"{place.title} is skewed: one task ran {times} the median",
            f"it read {found.data_ratio:.1f}× the data of the median task",
            0.95,
        ),
        "host": (
            f"{place.title} waited for tasks on host {found.host}",
            f"the long tasks ran on host {found.host} and read no more than the others",
            0.7,
        ),
        "work": (
            f"{place.title} waited for one task that ran {times} the median",
            f"it read only {found.data_ratio:.1f}× the data of the median task, so its rows cost more to compute"
            if found.data_ratio
            else "no data that it read are counted, so the reason is in what it computed",
            0.6,
        ),
    }[found.kind]
    return Finding(
        title=title,
        summary=f"{place.sentence}: one of {len(found.tasks)} tasks ran {format_ms(found.longest_ms)} where the median "
        f"ran {format_ms(found.median_ms)}; {why}.",
        where=found.where(place),
        evidence=tuple(_evidence(found)),
        advice=tuple(advice_for(run, place, found)),
        wasted_wall_ms=wall_ms,
        wasted_core_ms=None if wall_ms is None else found.idle_core_ms(application, stage.key),
        saving_basis=basis,
        confidence=confidence,
    )


def _evidence(found: Straggler) -> Iterator[Evidence]:
    yield Evidence(
        f"longest task {format_ms(found.longest_ms)}, median {format_ms(found.median_ms)}, {len(found.tasks)} tasks",
        "tasks.executor_run_time_ms",
        round(found.ratio, 2),
        "ratio",
    )
    if found.read_bytes > 0:
        yield Evidence(
            f"the longest task read {format_bytes(found.read_bytes)}, the median task "
            f"{format_bytes(found.median_bytes)}",
            "tasks.shuffle_read_local_bytes + shuffle_read_remote_bytes + input_bytes",
            found.read_bytes,
            "bytes",
        )
    if found.records > 0:
        yield Evidence(
            f"the longest task read {format_count(found.records)} records, the median task "
            f"{format_count(found.median_records)}",
            "tasks.shuffle_read_records + input_records",
            found.records,
            "records",
        )
    if found.kind == "host":
        yield Evidence(f"most of the long tasks ran on {found.host}", "tasks.host")
    if found.spilled_bytes > 0:
        yield Evidence(
            f"the longest task spilled {format_bytes(found.spilled_bytes)} to disk, all tasks "
            f"{format_bytes(found.tasks.amounts('disk_spilled_bytes').sum())}",
            "tasks.disk_spilled_bytes",
            found.spilled_bytes,
            "bytes",
        )


RULE = Rule(
    code="B1",
    name="skewed-stage",
    since="0.1",
    reads=(Reads(TASKS, ("executor_run_time_ms",)), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
