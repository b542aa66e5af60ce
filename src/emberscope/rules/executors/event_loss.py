"""The event log lacks events: what it says of this application is incomplete.

## What it means
Spark's driver hands events to its listeners through queues of a fixed length. When events come faster than the log is
written, the queue fills up and the driver drops what does not fit: tasks, stages and jobs are then missing from the log
and may be missing from Spark's own pages. Here what the log counts twice does not add up, so events must be missing.

## What it costs
No time of the application, but trust: task times, bytes, idle cores and every other finding are computed from what is
left. The confidence of all findings is lowered by the share of tasks that is missing.

## What to do
Make the queue longer by the setting below, whose value comes from the busiest seconds of this run. Search the driver's
log for "Dropping event from queue" to see which queue was full. Fewer, longer tasks make fewer events, and a driver
with more memory and cores writes them faster.

## When to ignore it
When only a few events are missing and you look for what costs minutes: large figures are still right.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.settings import number_setting
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_count, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_CAPACITY: Final = "spark.scheduler.listenerbus.eventqueue.capacity"
_OWN_CAPACITY: Final = "spark.scheduler.listenerbus.eventqueue.eventLog.capacity"
_DAMAGE: Final = frozenset({"cut", "malformed_line", "missing_part"})


class Limits(Struct, frozen=True):
    """Our proposal: no tool that we know tells of lost events."""

    blind_ratio: float = 0.01  # missing events over all: the figures cannot be trusted (proposal)
    burst_ms: int = 10_000  # the queue has to hold the events of the busiest time of this length (proposal)
    step: int = 10_000  # advised capacities are multiples of this, Spark's default (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    # Notes about the event log as a whole name no place; those about recordings do.
    notes = [note for note in run.coverage.notes if note.code == "dropped_events" and not note.where]
    lost = round(sum(note.lost.get("events", 0) for note in notes))
    if lost <= 0:
        return
    seen = sum(run.application.event_counts.values()) or run.application.lines
    ratio = lost / (lost + seen)
    damaged = any(note.code in _DAMAGE for note in run.coverage.notes)
    blind = ratio >= limits.blind_ratio
    capacity = round(number_setting(run, _OWN_CAPACITY, number_setting(run, _CAPACITY, 10_000)))
    busiest = _busiest(run, limits.burst_ms)
    evidence = [Evidence(note.message, "coverage", note.lost.get("events"), "events") for note in notes[:5]]
    evidence.append(
        Evidence(
            f"{format_count(lost)} of at least {format_count(lost + seen)} events are missing",
            "coverage, application.event_counts",
            round(ratio, 4),
            "ratio",
        )
    )
    evidence.append(
        Evidence(
            f"the queue of the event log held {format_count(capacity)} events; in the busiest "
            f"{limits.burst_ms // 1000} s the log shows {format_count(busiest)} starts and ends of tasks",
            f"conf {_CAPACITY}, tasks.launch_ms, tasks.finish_ms",
            busiest,
            "events",
        )
    )
    why = "the log is damaged too, which may be why" if damaged else "the driver dropped them"
    yield Finding(
        title=f"At least {format_count(lost)} event{'' if lost == 1 else 's'} ({format_ratio(ratio)}) are missing from "
        "the log"
        if lost != 1
        else f"At least one event ({format_ratio(ratio)}) is missing from the log",
        summary=f"What the log counts twice does not add up: at least {format_count(lost)} of "
        f"{format_count(lost + seen)} events are missing; {why}. "
        + (
            "Figures and findings of this run are too low, and less sure than they look."
            if blind
            else "That is little: large figures are still right."
        ),
        where=Where(executor="driver"),
        evidence=tuple(evidence),
        advice=tuple(_advice(run, capacity, busiest, limits, damaged)),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="Missing events cost no time, but what is reckoned from the rest is too little.",
        confidence=0.6 if damaged else 0.95,
        consequence="blind" if blind else "hint",
    )


def _busiest(run: Run, length_ms: int) -> int:
    """Starts and ends of tasks in the busiest time of this length, to the second."""
    figures = stage_figures(run)
    if figures is None:
        return 0
    times = np.concatenate([figures.columns.numbers(name) for name in ("launch_ms", "finish_ms")])
    times = times[~np.isnan(times)]
    if not len(times):
        return 0
    # Only seconds with events: a clock that jumps can make the time so long that all do not fit into memory.
    ordered = np.sort((times - times.min()) // 1000, kind="stable")
    firsts = np.flatnonzero(np.diff(ordered, prepend=-1.0))
    seconds, counts = ordered[firsts], np.diff(firsts, append=len(ordered))
    begins = np.searchsorted(seconds, seconds - length_ms // 1000, side="right")
    sums = np.concatenate(([0], np.cumsum(counts)))
    return int((sums[1:] - sums[begins]).max())


def _advice(run: Run, capacity: int, busiest: int, limits: Limits, damaged: bool) -> Iterator[Advice]:
    if damaged:
        yield Advice("check", "Fetch the log again; where events are missing even then, the driver dropped them.")
    value = math.ceil(max(2 * capacity, 2 * busiest, 2 * limits.step) / limits.step) * limits.step
    yield set_conf(
        _CAPACITY,
        value,
        f"Room for twice the events of the busiest {limits.burst_ms // 1000} s, and at least twice the "
        f"{format_count(capacity)} of this run. Events that wait lie in the driver's heap.",
    )
    own = run.setting(_OWN_CAPACITY)
    if own is not None:
        yield Advice("unset", f"It holds the event log's queue at {own} whatever the setting above.", _OWN_CAPACITY)
    yield Advice(
        "check",
        "Search the driver's log for “Dropping event from queue” and for long garbage collections: a driver that has "
        "no time to write loses events at any length of the queue.",
    )


RULE = Rule(
    code="H6",
    name="event-loss",
    since="0.1",
    reads=(Reads(TASKS), Reads(STAGES)),
    limits=Limits(),
    check=check,
)
