"""Some executors had nothing to do while tasks waited for the others.

## What it means
A stage still had tasks to start and there were free cores, but its tasks went to a few executors only: usually those
that hold the cached data or the blocks that the tasks read. Spark lets a task wait for such a place before it gives it
to another executor (`spark.locality.wait`, 3 seconds for each step down; in Spark 3.0 the wait began anew whenever a
task of the stage started). Where tasks are short, they all end up in the same few places.

## What it costs
The wall time between the stage as it was and the same tasks spread over all cores, replayed through the rest of the
application, and the core time that was idle meanwhile. Reading from another executor costs a little more than the
replay assumes.

## What to do
Let tasks wait less for the place that they prefer: `spark.locality.wait=0s`, or a second at most. Spread the cached
data: fill the cache when all executors are there, with at least as many partitions as there are cores (`repartition`
before `cache`).

## When to ignore it
When the data are so large that reading them over the network takes longer than waiting, or when the price is small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, set_conf
from emberscope.rules.places import place_of, places
from emberscope.rules.price import Price
from emberscope.rules.settings import ms_setting
from emberscope.simulate.replay import end_ms, makespan_ms, timeline
from emberscope.simulate.shares import Steps, steps
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageTasks
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

_NEAR: Final = ("PROCESS_LOCAL", "NODE_LOCAL")


class Limits(Struct, frozen=True):
    """Dr. Elephant compares the executors' task times and calls 1.33, 1.78, 3.16 and 10 times the median low to
    critical. Such a difference may be chance; so we ask first that tasks waited while cores were idle (proposal)."""

    ratio: float = 1.78  # busiest executor over the median one, by time for each core (Dr. Elephant)
    idle_ratio: float = 0.3  # of the core time while tasks of the stage still waited (proposal)
    floor_ms: float = 10_000.0  # wall time of a stage (proposal)
    least_app_ratio: float = 0.01  # of the application's wall time (proposal)
    tasks_per_core: float = 1.5  # fewer tasks are gone in one wave, in which nothing waits (proposal)


class Imbalance(Struct, frozen=True):
    """`waited_ms` is the time from the first launch to the last, `idle_ms` the core time that lay idle in it. `busy` is
    the share of its cores' time with tasks, for each executor that was there all that time."""

    stage: StageTasks
    waited_ms: float
    idle_ms: float
    idle_ratio: float
    busy: dict[str, float]
    cores: int


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures, pieces = stage_figures(run), steps(run)
    if figures is None or pieces is None or pieces.cores is None:
        return
    most = int(pieces.cores.max(initial=0))
    floor_ms = max(limits.floor_ms, limits.least_app_ratio * (run.application.observed_ms or 0))
    worth = (figures.wall_ms >= floor_ms) & (figures.counts >= limits.tasks_per_core * max(2, most) * 0.5)
    for place in np.flatnonzero(worth).tolist():
        found = _imbalance(run, figures.stages[place], pieces, limits)
        if found is not None:
            yield _finding(run, found)


def _imbalance(run: Run, stage: StageTasks, pieces: Steps, limits: Limits) -> Imbalance | None:
    launched, finished = stage.numbers("launch_ms"), stage.numbers("finish_ms")
    known = ~np.isnan(launched) & ~np.isnan(finished)
    if not known.any() or pieces.cores is None:
        return None
    first, last = float(launched[known].min()), float(launched[known].max())
    if last - first < limits.floor_ms / 2:
        return None
    inside = slice(*np.searchsorted(pieces.edges, [first, last]).tolist())
    there, lengths = pieces.cores[inside], np.diff(pieces.edges[inside.start : inside.stop + 1])
    if not len(there) or len(there) != len(lengths):
        return None
    idle = np.maximum(0, there - stage.cpus * pieces.running[inside]) * lengths
    total = float((there * lengths).sum())
    cores = int(np.median(there))
    if not total or idle.sum() < limits.idle_ratio * total or len(stage) < limits.tasks_per_core * cores:
        return None
    busy = _busy(run, first, last)
    if len(busy) < 2:
        return None
    shares = np.array(list(busy.values()))
    if shares.max() < limits.ratio * max(float(np.median(shares)), 1e-9) or shares.max() < 0.5:
        return None
    return Imbalance(stage, last - first, float(idle.sum()), float(idle.sum()) / total, busy, cores)


def _busy(run: Run, first: float, last: float) -> dict[str, float]:
    """For each executor that was there from `first` to `last`: the share of its cores' time with tasks of any stage."""
    table, figures = run.tables["executors"], stage_figures(run)
    assert figures is not None
    launched, finished = (figures.columns.numbers(name) for name in ("launch_ms", "finish_ms"))
    lengths = np.nan_to_num(np.minimum(finished, last) - np.maximum(launched, first)).clip(min=0)
    columns = [table[name].to_pylist() for name in ("executor_id", "cores", "added_ms", "removed_ms")]
    found = {}
    for name, cores, added_ms, removed_ms in zip(*columns, strict=True):
        there = added_ms is not None and added_ms <= first and (removed_ms is None or removed_ms >= last)
        if there and cores:
            spent = float(lengths[figures.columns.flags("executor_id", name)].sum())
            found[name] = spent / (cores * (last - first))
    return found


def _finding(run: Run, found: Imbalance) -> Finding:
    stage = found.stage
    place = place_of(places(run), stage.key)
    price = _price(run, stage, found.cores)
    shares: NDArray[np.float64] = np.array(list(found.busy.values()))
    idle = sorted(name for name, share in found.busy.items() if share < 0.5 * shares.max())
    busiest = max(sorted(found.busy), key=lambda name: found.busy[name])
    localities = Counter(str(one) for one in stage.texts("locality") if one)
    near = sum(localities[name] for name in _NEAR)
    evidence = [
        Evidence(
            f"for {format_ms(found.waited_ms)} tasks of the stage were still to start, and "
            f"{format_ratio(found.idle_ratio)} of the cores' time was idle",
            "tasks.launch_ms, tasks.finish_ms, executors.cores",
            round(found.idle_ratio, 3),
            "ratio",
        ),
        Evidence(
            f"executor {busiest} was busy for {format_ratio(min(1.0, found.busy[busiest]))} of its cores' time, "
            f"{counted(len(idle), 'other')} for {format_ratio(float(np.mean([found.busy[one] for one in idle])))}",
            "tasks.executor_id, executors.cores",
        ),
    ]
    if localities:
        told = ", ".join(f"{count} {name}" for name, count in localities.most_common())
        evidence.append(Evidence(f"tasks by where they ran: {told}", "tasks.locality", near, "tasks"))
    return Finding(
        title=f"{place.title} left {len(idle)} of {len(found.busy)} executors idle while its tasks waited",
        summary=f"{place.sentence}: its tasks went to executor {busiest} and few others, while "
        f"executor{'' if len(idle) == 1 else 's'} {', '.join(idle[:5])} had little to do.",
        where=place.where,
        evidence=tuple(evidence),
        advice=tuple(_advice(run, near >= 0.5 * len(stage) and bool(localities))),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(found.idle_ms),
        saving_basis=price.basis,
        confidence=0.8 if near >= 0.5 * len(stage) and localities else 0.5,
    )


def _price(run: Run, stage: StageTasks, cores: int) -> Price:
    """What the application saves if the stage takes what a list schedule of its tasks on all cores takes."""
    application = timeline(run)
    recorded = next((one for one in application.stages if one.key == stage.key), None) if application else None
    if application is None or recorded is None:
        return Price(None, "The times of the application are not known, so nothing could be replayed.")
    durations = stage.durations_ms()
    length = float(np.nanmax(stage.numbers("finish_ms")) - np.nanmin(stage.numbers("launch_ms")))
    even = makespan_ms(durations[~np.isnan(durations)], max(1, cores // stage.cpus))
    cut = min(max(0.0, length - even), recorded.end_ms - recorded.start_ms)
    wall_ms = max(0, round(application.replayed_end_ms - end_ms(application, {stage.key: cut})))
    return Price(
        wall_ms,
        f"Replay with the stage's tasks spread over {cores} cores: {format_ms(length)} → {format_ms(length - cut)}.",
    )


def _advice(run: Run, near: bool) -> Iterator[Advice]:
    wait_ms = ms_setting(run, "spark.locality.wait", "3s")
    if near and wait_ms > 0:
        yield set_conf(
            "spark.locality.wait",
            "0s",
            f"Tasks waited up to {format_ms(wait_ms)} for the executor that has their data; without that they take the "
            "next free core.",
        )
    yield Advice(
        "code",
        "Spread what the stage reads: cache it when all executors are there and with at least one partition for each "
        "core (`repartition` before `cache`).",
    )


RULE = Rule(
    code="B6",
    name="executor-imbalance",
    since="0.1",
    reads=(
        Reads(TASKS, ("launch_ms", "finish_ms", "executor_id")),
        Reads(STAGES),
        Reads(EXECUTORS, ("cores", "added_ms")),
    ),
    limits=Limits(),
    check=check,
    needs_times=True,
    needs_all_tasks=True,
)
