"""One machine was slower than the others throughout the application.

## What it means
The tasks of one host, or of one executor, took longer than tasks of the same stages that read as much elsewhere: not in
one stage, where chance or costly rows may explain it, but throughout the application. Garbage collection and the first
tasks of each executor are left out of the comparison. The data are not to blame: the machine is.

## What it costs
The wall time that the application would have saved, by replay, if the slow machine's tasks had taken what the same work
took elsewhere; and the core time of the difference.

## What to do
Look at that machine: a neighbour that takes its CPU (steal time), a throttled or failing disk, a slow network card,
more executor cores than it has, an older type than the other machines. Until it is mended, take it out of the cluster,
or let Spark start second copies of its tasks on other hosts (`spark.speculation`; none is started on the same host).
Splitting or salting the data would not help.

## When to ignore it
When the cluster is made of unlike machines on purpose, so that slower ones are expected, or when the price is small.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.price import priced
from emberscope.rules.settings import is_local, is_on
from emberscope.rules.skew.pace import Paces, Slow, paces, slow_ones
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageKey
from emberscope.tables.run import once
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Our proposal: no tool that we know compares machines over the stages of an application."""

    factor: float = 1.5  # how many times longer than the same work elsewhere
    spread: float = 3.0  # that difference in standard errors
    least_tasks: int = 6  # compared tasks there, and elsewhere: a slow machine gets few
    stage_tasks: int = 8  # tasks of a stage that is compared
    median_ms: float = 200.0  # median task of a stage that is compared: shorter ones are mostly overhead
    floor_ms: float = 2_000.0  # wall time of a stage that is compared
    excess_ms: float = 10_000.0  # core time beyond what the work takes elsewhere


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for slow, of_hosts in slow_machines(run):
        yield _finding(run, slow, of_hosts, limits)


@once
def slow_machines(run: Run) -> list[tuple[Slow, bool]]:
    """The slow hosts, or, where there is but one or none of them is slow as a whole, the slow executors."""
    limits = RULE.limits
    floor_ms = max(limits.floor_ms, 0.01 * (run.application.observed_ms or 0))
    found = None
    if not is_local(run):
        found = paces(run, least_tasks=limits.stage_tasks, least_ms=limits.median_ms, least_wall_ms=floor_ms)
    if found is None:
        return []
    asked: dict[str, Any] = {"factor": limits.factor, "spread": limits.spread, "least": limits.least_tasks}
    hosts = [slow for slow in slow_ones(found, found.hosts, **asked) if _excess_ms(found, slow) >= limits.excess_ms]
    hosts = [slow for slow in hosts if _all_slow(found, slow, limits.factor)]
    if hosts:
        return [(slow, True) for slow in hosts]
    executors = slow_ones(found, found.executors, **asked)
    return [(slow, False) for slow in executors if _excess_ms(found, slow) >= limits.excess_ms]


def _all_slow(found: Paces, slow: Slow, factor: float) -> bool:
    """Whether most executors of a slow host are slow, and not only one of several."""
    ratios = []
    for name in slow.executors:
        here = found.executors == found.names.index(name)
        ratios.append(float(found.took_ms[here].sum() / found.usual_ms[here].sum()))
    return sum(ratio >= math.sqrt(factor) * 0.9 for ratio in ratios) > len(ratios) / 2


def _excess_ms(found: Paces, slow: Slow) -> float:
    here = np.isin(found.executors, [found.names.index(name) for name in slow.executors])
    return float(found.took_ms[here].sum() * (1 - 1 / slow.factor))


def _finding(run: Run, slow: Slow, of_hosts: bool, limits: Limits) -> Finding:
    changed, excess_ms, tasks, share = _as_elsewhere(run, slow)
    what = f"host {slow.name}" if of_hosts else f"executor {slow.name}"
    price = priced(run, changed, f"The tasks of {what} take what the same work took elsewhere.")
    hosts = _hosts(run)
    host = slow.name if of_hosts else hosts.get(slow.name)
    several = len(slow.executors) > 1
    on = f" (executor{'s' if several else ''} {', '.join(slow.executors[:4])})" if of_hosts else ""
    return Finding(
        title=f"{what[0].upper()}{what[1:]} was {slow.factor:.1f}× slower than the others",
        summary=f"Tasks on {what}{on} took {slow.factor:.1f}× what tasks of the same stages took elsewhere, with as "
        f"much data, in {slow.agreeing} of {counted(slow.stages, 'stage')}. The machine is the cause, not the data.",
        where=Where(executor=None if of_hosts and several else slow.executors[0], host=host),
        evidence=(
            Evidence(
                f"{counted(slow.tasks, 'task')} there took {slow.factor:.1f}× as long, less garbage collection and "
                "with bytes and records allowed for",
                "tasks.executor_run_time_ms, gc_time_ms, input_bytes, shuffle_read_*_bytes, host, executor_id",
                round(slow.factor, 2),
                "ratio",
            ),
            Evidence(
                f"slower in {slow.agreeing} of {counted(slow.stages, 'stage')}, by {slow.spread:.0f} standard errors",
                "tasks.executor_run_time_ms",
                round(slow.spread, 1),
                "standard errors",
            ),
            Evidence(
                f"{counted(tasks, 'task')} ({format_ratio(share)} of all) ran there and held cores for "
                f"{format_ms(excess_ms)} more than they should",
                "tasks.launch_ms, tasks.finish_ms",
                round(excess_ms),
                "ms",
            ),
        ),
        advice=tuple(_advice(run, what, host, of_hosts)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(excess_ms),
        saving_basis=price.basis,
        confidence=0.85,
    )


def _as_elsewhere(run: Run, slow: Slow) -> tuple[dict[StageKey, Any], float, int, float]:
    """The durations of the stages as if the slow machine were like the others, the core time that this saves, how many
    tasks ran there, and their share of all."""
    figures = stage_figures(run)
    assert figures is not None
    columns = figures.columns
    here = np.logical_or.reduce([columns.flags("executor_id", name) for name in slow.executors])
    changed, excess_ms = {}, 0.0
    touched = np.add.reduceat(here.astype(np.int64), figures.starts) > 0
    for place in np.flatnonzero(touched).tolist():
        stage = figures.stages[place]
        durations = stage.durations_ms()
        quicker = np.where(here[stage.rows], durations / slow.factor, durations)
        known = ~np.isnan(durations)
        excess_ms += float((durations - quicker)[known].sum())
        changed[stage.key] = quicker[known]
    return changed, excess_ms, int(here.sum()), float(here.mean())


def _hosts(run: Run) -> dict[str, str | None]:
    table = run.tables.get("executors")
    if table is None:
        return {}
    return dict(zip(table["executor_id"].to_pylist(), table["host"].to_pylist(), strict=True))


def _advice(run: Run, what: str, host: str | None, of_hosts: bool) -> Iterator[Advice]:
    yield Advice(
        "check",
        f"Look at {f'host {host}' if host else 'its host'} while a job runs there: CPU steal and load (`top`), "
        "disk errors and waiting (`iostat`, `dmesg`), the type of machine"
        + ("." if of_hosts else f"; and at what else {what} shares its cores with."),
    )
    # Spark starts no second copy on the host of the first one.
    elsewhere = len({name for name in _hosts(run).values() if name}) > 1
    if elsewhere and not is_on(run, "spark.speculation", default=False):
        yield set_conf(
            "spark.speculation",
            "true",
            "Lets Spark start a second copy of a task that takes much longer than the others, elsewhere. Only where "
            "tasks may run twice (no side effects outside Spark).",
        )
    yield Advice(
        "cluster", f"Take {f'host {host}' if host and of_hosts else what} out of the cluster until it is mended."
    )


RULE = Rule(
    code="B4",
    name="slow-node",
    since="0.1",
    reads=(Reads(TASKS, ("executor_run_time_ms", "executor_id")), Reads(STAGES)),
    limits=Limits(),
    check=check,
)
