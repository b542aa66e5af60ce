"""For much of the time no job ran: the driver worked, or waited, alone.

## What it means
Executors only work while a job is active. Here a large part of the application's time passed without one: the driver
started up, planned queries, listed files, collected and processed rows in Python or Scala, called other services, or
wrote results. All executors that were there waited for it.

## What it costs
An upper bound: all time without a job, the start-up before the first one included. How much of it can go depends on
what the driver does then.

## What to do
Look at the longest gaps (they are listed with the jobs around them) and at the driver's flame graph for what it did.

Before the first job: keep one application for several jobs, ship fewer packages, load models and configuration once.

Between jobs: replace loops over collected rows (collect, toPandas, toLocalIterator) by operations of Spark, start
independent actions from several threads with the FAIR scheduler, read fewer and larger files.

After the last job: let Spark write what the driver writes, and stop the session. Keep the cluster small, or let it
shrink, while the driver works by itself.

## When to ignore it
In interactive sessions and notebooks, where the driver waits for a person (where the log shows that it is one, the
finding says so and has little confidence); and in short applications, where start-up
is most of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.places import short_call_site
from emberscope.rules.settings import INTERACTIVE_CONFIDENCE, is_interactive, is_local, is_on
from emberscope.simulate.cores import core_steps, cores_at
from emberscope.simulate.shares import Steps, shares, steps
from emberscope.tables.jobs import JOBS
from emberscope.units import format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run


@dataclass(frozen=True, slots=True)
class Limits:
    """Compass reports an application whose driver wastes more than 50 % of the core time. We begin earlier, at 35 % of
    the wall time, since the price says how much it matters; that and the floor are our proposal."""

    ratio: float = 0.35  # time without a job over the application's time
    floor_ms: int = 10_000  # time without a job; starting Spark alone takes several seconds
    gaps: int = 3  # so many of the longest gaps are named
    part: float = 0.25  # from this share of the time alone on, advice speaks of start, gaps or end (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    owned, pieces = shares(run), steps(run)
    if owned is None or pieces is None or run.tables["jobs"].num_rows == 0:
        return
    alone_ms, ratio = owned.driver_ms, owned.driver_ms / owned.duration_ms
    if alone_ms < limits.floor_ms or ratio < limits.ratio:
        return
    between = alone_ms - owned.before_first_job_ms - owned.after_last_job_ms
    places = {
        "before the first job": owned.before_first_job_ms,
        "between jobs": between,
        "after the last job": owned.after_last_job_ms,
    }
    main = max(places, key=lambda place: places[place])
    interactive = is_interactive(run)
    cores = _idle_core_ms(run, pieces)
    evidence = [
        Evidence(
            f"no job was active for {format_ms(alone_ms)} of {format_ms(owned.duration_ms)}",
            "jobs.submitted_ms, jobs.completed_ms",
            round(alone_ms),
            "ms",
        ),
        Evidence(
            f"{format_ms(owned.before_first_job_ms)} before the first job, {format_ms(between)} between jobs, "
            f"{format_ms(owned.after_last_job_ms)} after the last",
            "jobs.submitted_ms, jobs.completed_ms",
        ),
        *_longest_gaps(run, pieces, limits.gaps),
    ]
    yield Finding(
        title=f"The driver was alone for {format_ratio(ratio)} of the time",
        summary=f"No job ran for {format_ms(alone_ms)} of {format_ms(owned.duration_ms)}, "
        f"{format_ms(places[main])} of it {main}; the executors waited for the driver."
        + (" This looks like an interactive session: the driver may have waited for a person." if interactive else ""),
        where=Where(executor="driver"),
        evidence=tuple(evidence),
        advice=tuple(_advice(run, {place for place, ms in places.items() if ms >= limits.part * alone_ms})),
        wasted_wall_ms=round(alone_ms),
        wasted_core_ms=cores,
        saving_basis="Upper bound: all time without an active job. What of it can go depends on what the driver did.",
        confidence=INTERACTIVE_CONFIDENCE if interactive else 0.6,
    )


def _alone(pieces: Steps) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    alone: np.ndarray[tuple[int], np.dtype[np.bool_]] = (pieces.jobs == 0) & (pieces.running == 0)
    return alone


def _idle_core_ms(run: Run, pieces: Steps) -> int | None:
    """Core time that executors offered while the driver was alone; None where no executor is known."""
    changes = core_steps(run)
    if changes is None:
        return None
    offered = cores_at(changes, pieces.edges[:-1]) * pieces.lengths_ms
    return round(float(offered[_alone(pieces)].sum()))


def _longest_gaps(run: Run, pieces: Steps, most: int) -> Iterator[Evidence]:
    """The longest stretches without a job, each with the jobs around it."""
    alone = np.concatenate(([False], _alone(pieces), [False])).astype(np.int8)
    begins, ends = np.flatnonzero(np.diff(alone) == 1), np.flatnonzero(np.diff(alone) == -1)
    gaps = sorted(
        ((float(pieces.edges[begin]), float(pieces.edges[end])) for begin, end in zip(begins, ends, strict=True)),
        key=lambda gap: (gap[0] - gap[1], gap[0]),
    )
    columns = ["job_id", "submitted_ms", "completed_ms", "call_site", "description"]
    jobs = run.tables["jobs"].select(columns).to_pylist()
    for begin, end in gaps[:most]:
        before = [job for job in jobs if job["completed_ms"] is not None and job["completed_ms"] <= begin]
        after = [job for job in jobs if job["submitted_ms"] is not None and job["submitted_ms"] >= end]
        words = []
        if before:
            words.append(f"after {_job(max(before, key=lambda job: (job['completed_ms'], job['job_id'])))}")
        if after:
            words.append(f"before {_job(min(after, key=lambda job: (job['submitted_ms'], job['job_id'])))}")
        yield Evidence(f"{format_ms(end - begin)} {' and '.join(words)}", "jobs", round(end - begin), "ms")


def _job(row: dict[str, Any]) -> str:
    said = row["description"] or short_call_site(row["call_site"] or "")
    return f"job {row['job_id']}" + (f" ({said})" if said else "")


def _advice(run: Run, places: set[str]) -> Iterator[Advice]:
    if "before the first job" in places:
        yield Advice(
            "code",
            "Look at what happens before the first job: Spark's own start, packages that are fetched at each start "
            "(spark.jars.packages), imports, models and files that the program loads first. One application for "
            "several jobs pays for its start once.",
        )
    if "between jobs" in places:
        yield Advice(
            "code",
            "Look for loops over collected rows (collect, toPandas, toLocalIterator) between the jobs named above, and "
            "let Spark do that work.",
        )
        yield Advice(
            "code",
            "Start actions that do not depend on each other from several threads, so that one plans while another "
            "runs.",
        )
    if "after the last job" in places:
        yield Advice(
            "code",
            "Look at what the program does after its last job: results that the driver processes or writes by itself, "
            "files that are moved one by one, a session that is not stopped (spark.stop()).",
        )
    if not is_on(run, "spark.dynamicAllocation.enabled", default=False) and not is_local(run):
        yield set_conf(
            "spark.dynamicAllocation.enabled",
            "true",
            "Lets idle executors go while the driver works alone. This saves core time, not wall time; it needs "
            "spark.shuffle.service.enabled or spark.dynamicAllocation.shuffleTracking.enabled.",
        )


RULE = Rule(
    code="A1",
    name="driver-bound",
    since="0.1",
    reads=(Reads(JOBS, ("submitted_ms",)),),
    limits=Limits(),
    check=check,
    needs_times=True,
)
