"""For much of the time no job ran: the driver worked, or waited, alone.

## What it means
An executor only works while a job is active. For a large part of the application's time none was: the driver started
up, planned queries, listed files, worked on collected rows in Python or Scala, called other services, or wrote results.
Meanwhile all executors waited.

## What it costs
An upper bound: all time without a job, less what any application takes to start. How much of it can be saved depends on
what the driver did. Where it worked on rows that it had collected, nearly all of it can.

## What to do
Look at the longest gaps (the finding lists them with the jobs around them), and in the driver's flame graph at what it
did in them.

Before the first job: run several jobs in one application, load fewer packages at the start, and load models and
configuration only once.

Between jobs: the finding names the lines of the program after whose calls the driver worked alone. Replace loops over
collected rows (collect, toPandas, toLocalIterator) with Spark operations, start independent actions from several
threads, and read fewer and larger files.

After the last job: let Spark write what the driver writes, and stop the session when it is done.

Where the driver has to work alone, keep the cluster small, or let it shrink meanwhile (dynamic allocation).

## When to ignore it
In interactive sessions and notebooks, where the driver waits for a person: where the log shows one, the finding says so
and has low confidence. In short applications, where start-up is most of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.price import driver_saving
from emberscope.rules.settings import INTERACTIVE_CONFIDENCE, is_interactive, is_local, is_on
from emberscope.rules.time.driver_gaps import CallSite, Gap, alone, call_sites, gap_words, gaps
from emberscope.rules.time.start_up import started_ms
from emberscope.simulate.cores import core_steps, cores_at
from emberscope.simulate.shares import Steps, shares, steps
from emberscope.tables.jobs import JOBS
from emberscope.units import format_bytes, format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Compass reports an application whose driver wastes more than 50 % of the core time. We begin earlier, since the
    price says how much it matters; that and all else is our proposal."""

    ratio: float = 0.2  # time without a job over the application's time, its start left out
    floor_ms: int = 10_000  # time without a job, the start left out
    gaps: int = 3  # so many of the longest gaps, and of the call sites before gaps, are named
    part: float = 0.25  # from this share of the time alone on, advice speaks of start, gaps or end
    site_part: float = 0.1  # call sites before less of it are not named
    collects: float = 0.5  # from this share of it after calls that collect rows on, they are the reason
    call_ms: float = 2_000.0  # shorter gaps after such a call may be the planning of the next query


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    owned, pieces = shares(run), steps(run)
    if owned is None or pieces is None or run.tables["jobs"].num_rows == 0:
        return
    between_ms = owned.driver_ms - owned.before_first_job_ms - owned.after_last_job_ms
    start_ms = started_ms(run, pieces) - float(pieces.edges[0])
    late_ms = max(0.0, owned.before_first_job_ms - start_ms)
    places = {
        "before the first job": late_ms,
        "between jobs": between_ms,
        "after the last job": owned.after_last_job_ms,
    }
    wasted_ms = sum(places.values())
    if wasted_ms < limits.floor_ms or wasted_ms < limits.ratio * (owned.duration_ms - start_ms):
        return
    main = max(places, key=lambda place: places[place])
    interactive = is_interactive(run)
    found = gaps(run, pieces)
    sites = [site for site in call_sites(run, found) if site.line and site.ms >= limits.site_part * wasted_ms][
        : limits.gaps
    ]
    collects = [site for site in sites if site.collects and site.ms >= limits.call_ms * site.gaps]
    by_rows = sum(site.ms for site in collects) >= limits.collects * wasted_ms
    price = driver_saving(
        run,
        wasted_ms,
        "Upper bound: all time without an active job, less what any application takes to start. "
        + (
            "The driver worked on rows that it had collected: executors can do that side by side."
            if by_rows
            else "What of it can go depends on what the driver did."
        ),
    )
    summary = (
        f"No job ran for {format_ms(owned.driver_ms)} of {format_ms(owned.duration_ms)}, "
        f"{format_ms(_raw(places, main, owned.before_first_job_ms))} of it {main}; the executors waited for the driver"
    )
    if by_rows:
        summary += f", mostly after `{collects[0].text}` had brought rows to it"
    yield Finding(
        title=f"The driver was alone for {format_ms(wasted_ms)}" + (f", after {collects[0].text}" if by_rows else ""),
        summary=summary
        + "."
        + (" This looks like an interactive session: the driver may have waited for a person." if interactive else ""),
        where=Where(executor="driver", line=sites[0].line if sites else None),
        evidence=(
            Evidence(
                f"no job was active for {format_ms(owned.driver_ms)} of {format_ms(owned.duration_ms)}",
                "jobs.submitted_ms, jobs.completed_ms",
                round(owned.driver_ms),
                "ms",
            ),
            Evidence(
                f"{format_ms(owned.before_first_job_ms)} before the first job, {format_ms(between_ms)} between jobs, "
                f"{format_ms(owned.after_last_job_ms)} after the last",
                "jobs.submitted_ms, jobs.completed_ms",
            ),
            *(_after_call(site) for site in sites),
            *_longest(found, limits.gaps),
        ),
        advice=tuple(_advice(run, {p for p, ms in places.items() if ms >= limits.part * wasted_ms}, collects)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=_idle_core_ms(run, pieces),
        saving_basis=price.basis,
        confidence=INTERACTIVE_CONFIDENCE if interactive else 0.8 if by_rows else 0.6,
    )


def _raw(places: dict[str, float], place: str, before_first_job_ms: float) -> float:
    return before_first_job_ms if place == "before the first job" else places[place]


def _idle_core_ms(run: Run, pieces: Steps) -> int | None:
    """Core time that executors offered while the driver was alone, the start left out; None where none is known."""
    changes = core_steps(run)
    if changes is None:
        return None
    offered = cores_at(changes, pieces.edges[:-1]) * pieces.lengths_ms
    counted = alone(pieces) & (pieces.edges[:-1] >= started_ms(run, pieces))
    return round(float(offered[counted].sum()))


def _after_call(site: CallSite) -> Evidence:
    times = "once" if site.gaps == 1 else f"{format_count(site.gaps)} times"
    sent = f", which sent {format_bytes(site.result_bytes)} to the driver" if site.result_bytes else ""
    return Evidence(
        f"{format_ms(site.ms)} of it after {site.text} ({times}{sent})",
        "jobs.call_site, jobs.completed_ms, tasks.result_size_bytes",
        round(site.ms),
        "ms",
    )


def _longest(found: Sequence[Gap], most: int) -> Iterator[Evidence]:
    for gap in sorted(found, key=lambda gap: (-gap.ms, gap.start_ms))[:most]:
        yield Evidence(f"{format_ms(gap.ms)} {' and '.join(gap_words(gap))}", "jobs", round(gap.ms), "ms")


def _advice(run: Run, places: set[str], collects: Sequence[CallSite]) -> Iterator[Advice]:
    if "before the first job" in places:
        yield Advice(
            "code",
            "Look at what happens before the first job: Spark's own start, packages that are fetched at each start "
            "(spark.jars.packages), imports, models and files that the program loads first. One application for "
            "several jobs pays for its start once.",
        )
    for site in collects:
        yield Advice(
            "code",
            f"`{site.text}` brings rows into the driver, which was then alone for {format_ms(site.ms)}: let executors "
            "do what the program does with them (a column expression, a join, `mapInPandas`, `foreachPartition`), and "
            "collect only the small result.",
        )
    if "between jobs" in places and not collects:
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
    if "after the last job" in places and not collects:
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
    needs_all_tasks=True,
)
