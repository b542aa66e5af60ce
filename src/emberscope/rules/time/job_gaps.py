"""Jobs were active, but cores were idle: tasks waited for a slot near their data, for executors, or for the driver.

## What it means
A job is active, but none of its tasks runs, or cores are idle that could run them. The log shows three reasons: there
was no executor; tasks were held back until a slot near their data was free (locality); or the driver prepared the next
step or ended the job. The finding says which one it was.

## What it costs
Where there was no executor, or the driver was busy: all of that time, an upper bound. Where tasks were held back: the
core time that idle cores could have given them, divided by the number of cores.

## What to do
If tasks were held back: let them run anywhere at once (`spark.locality.wait=0s`); reading over the network is nearly
always faster than waiting. If no executor was there: look at what kept the cluster from giving one (a queue, a quota,
machines that start slowly). If the driver was busy within a job: look at its flame graph at that time.

## When to ignore it
When the cluster is shared and you had to wait your turn, or when the driver's time went into planning a very large
query that you need as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.places import place_of, places
from emberscope.rules.price import driver_saving
from emberscope.rules.settings import is_local, ms_setting
from emberscope.rules.time.pending import Pending, pending
from emberscope.simulate.shares import Steps, shares, steps
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageTasks
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

_NEAR: Final = ("PROCESS_LOCAL", "NODE_LOCAL", "RACK_LOCAL")


class Limits(Struct, frozen=True):
    """Sources: Compass reports jobs that are idle for more than 30 % of their time. All else is our proposal."""

    ratio: float = 0.3  # time in jobs without a task over the time of jobs (Compass)
    share: float = 0.05  # waiting for executors, or tasks held back, over the application's time (proposal)
    floor_ms: int = 10_000  # less waiting is never reported (proposal)
    near: float = 0.8  # share of a stage's tasks that ran next to their data: held back for that (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    pieces, owned, length_ms = steps(run), shares(run), run.application.observed_ms
    if pieces is None or pieces.cores is None or owned is None or not length_ms:
        return
    least_ms = max(limits.floor_ms, limits.share * length_ms)
    if owned.without_executor_ms >= least_ms:
        yield _no_executor(run, owned.without_executor_ms)
    waiting = pending(run)
    if waiting is not None and not is_local(run):
        yield from _held_back(run, pieces, waiting, least_ms, limits)
    within = (pieces.jobs > 0) & (pieces.running == 0) & (pieces.cores > 0)
    if waiting is not None:
        within &= waiting.cores == 0
    within &= ~_ends_of_writes(run, pieces)
    within_ms = float(pieces.lengths_ms[within].sum())
    jobs_ms = float(pieces.lengths_ms[pieces.jobs > 0].sum())
    if within_ms >= max(least_ms, limits.ratio * jobs_ms):
        yield _driver_within(run, pieces, within, within_ms, jobs_ms)


def _no_executor(run: Run, ms: float) -> Finding:
    price = driver_saving(run, ms, "Upper bound: all time in which a job was active and no executor was there.")
    return Finding(
        title=f"Jobs waited {format_ms(ms)} for a first executor",
        summary=f"For {format_ms(ms)} a job was active while there was no executor to run its tasks.",
        where=Where(),
        evidence=(
            Evidence(
                f"{format_ms(ms)} with an active job and without an executor",
                "jobs.submitted_ms, executors.added_ms, executors.removed_ms",
                round(ms),
                "ms",
            ),
        ),
        advice=(
            Advice(
                "cluster",
                "Look at what the cluster did then: a full queue, a quota, machines or images that came slowly, "
                "executors that were lost.",
            ),
        ),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=None,
        saving_basis=price.basis,
        confidence=0.6,
    )


def _held_back(run: Run, pieces: Steps, waiting: Pending, least_ms: float, limits: Limits) -> Iterator[Finding]:
    """One finding for each stage whose tasks waited for a slot next to their data while others were free."""
    figures = stage_figures(run)
    conf = run.tables.get("conf")
    # Where tasks need more than cores (GPUs), idle cores do not show that a task could have run.
    if figures is None or conf is None or any("task.resource." in key for key in conf["key"].to_pylist()):
        return
    assert pieces.cores is not None
    wall = np.divide(waiting.held_back, pieces.cores, out=np.zeros_like(waiting.held_back), where=pieces.cores > 0)
    total = np.concatenate(([0.0], np.cumsum(wall * pieces.lengths_ms)))
    begins, ends = figures.least("launch_ms"), figures.most("launch_ms")
    lost = np.interp(ends, pieces.edges, total) - np.interp(begins, pieces.edges, total)
    for row in np.flatnonzero(lost >= least_ms).tolist():
        near = _near(figures.stages[row])
        if near >= limits.near:
            yield _locality(run, figures.stages[row], float(lost[row]), near)


def _near(stage: StageTasks) -> float:
    """The share of its tasks that ran next to their data, as far as they have any place."""
    levels = stage.texts("locality")
    return sum(level in _NEAR for level in levels) / max(1, len(levels))


def _locality(run: Run, stage: StageTasks, lost_ms: float, near: float) -> Finding:
    place = place_of(places(run), stage.key)
    price = driver_saving(run, lost_ms, "Core time that idle cores could have given to waiting tasks, over the cores.")
    wait = format_ms(ms_setting(run, "spark.locality.wait", "3s"))
    return Finding(
        title=f"{place.title} held tasks back for a slot near to their data",
        summary=f"{place.sentence}: while its tasks waited, cores on other executors were idle; {format_ratio(near)} "
        f"of them ran next to their data in the end (spark.locality.wait is {wait}).",
        where=place.where,
        evidence=(
            Evidence(
                f"idle cores for {format_ms(lost_ms)} of wall time while tasks of the stage waited for their launch",
                "stages.submitted_ms, tasks.launch_ms, executors.cores",
                round(lost_ms),
                "ms",
            ),
            Evidence(f"{format_ratio(near)} of the tasks ran next to their data", "tasks.locality", near, "ratio"),
        ),
        advice=(
            set_conf("spark.locality.wait", "0s", f"Tasks go to any free core at once; they waited up to {wait}."),
            Advice(
                "check",
                "See which executors hold the data (the stage's tasks by executor): data that only a few hold, such as "
                "what was cached before the others came, is what draws all tasks there.",
            ),
        ),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=None,
        saving_basis=price.basis,
        confidence=0.6,
    )


def _ends_of_writes(run: Run, pieces: Steps) -> NDArray[np.bool_]:
    """At which pieces a job that wrote output had no task left: the commit of the output, told by another rule."""
    figures, jobs = stage_figures(run), run.tables["jobs"]
    mask = np.zeros(len(pieces.lengths_ms), dtype=np.bool_)
    if figures is None:
        return mask
    wrote = figures.total("output_bytes") > 0
    last = {key[0]: end for key, end, out in zip(figures.keys, figures.most("finish_ms"), wrote, strict=True) if out}
    begins, ends = [], []
    for stages, completed in zip(jobs["stage_ids"].to_pylist(), jobs["completed_ms"].to_pylist(), strict=True):
        at = max((last[stage] for stage in stages or () if stage in last), default=None)
        if at is not None and completed is not None and completed > at:
            begins.append(at)
            ends.append(completed)
    starts = pieces.edges[:-1]
    open_ends = np.searchsorted(np.sort(begins), starts, "right") - np.searchsorted(np.sort(ends), starts, "right")
    return np.asarray(open_ends > 0, dtype=np.bool_)


def _driver_within(run: Run, pieces: Steps, within: NDArray[np.bool_], ms: float, jobs_ms: float) -> Finding:
    total = np.concatenate(([0.0], np.cumsum(np.where(within, pieces.lengths_ms, 0.0))))
    jobs = run.tables["jobs"]
    begins = np.asarray(jobs["submitted_ms"].to_numpy(), dtype=np.float64)
    ends = np.nan_to_num(np.asarray(jobs["completed_ms"].to_numpy(), dtype=np.float64), nan=pieces.edges[-1])
    lost = np.nan_to_num(np.interp(ends, pieces.edges, total) - np.interp(begins, pieces.edges, total))
    order = np.lexsort((jobs["job_id"].to_numpy(), -lost))
    worst = int(order[0])
    job, said = jobs["job_id"][worst].as_py(), jobs["description"][worst].as_py() or jobs["call_site"][worst].as_py()
    price = driver_saving(run, ms, "Upper bound: all time in jobs without a running or a waiting task.")
    return Finding(
        title=f"The driver worked for {format_ms(ms)} within jobs, and no task ran",
        summary=f"For {format_ms(ms)} of the {format_ms(jobs_ms)} in which jobs were active no task ran or waited, "
        f"{format_ms(float(lost[worst]))} of it in job {job}{f' ({said})' if said else ''}.",
        where=Where(job=job),
        evidence=(
            Evidence(
                f"{format_ms(ms)} in {format_count(int((lost > 0).sum()))} jobs without a task",
                "jobs.submitted_ms, jobs.completed_ms, tasks.launch_ms, tasks.finish_ms",
                round(ms),
                "ms",
            ),
        ),
        advice=(
            Advice(
                "check",
                "See in the driver's flame graph at that time what it did: planning a large query, listing files, "
                "sending large closures, ending the job.",
            ),
        ),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=None,
        saving_basis=price.basis,
        confidence=0.5,
    )


RULE = Rule(
    code="A8",
    name="job-gaps",
    since="0.1",
    reads=(
        Reads(TASKS, ("launch_ms", "finish_ms")),
        Reads(STAGES),
        Reads(JOBS, ("submitted_ms",)),
        Reads(EXECUTORS, ("cores",)),
    ),
    limits=Limits(),
    check=check,
    needs_times=True,
    needs_all_tasks=True,
)
