"""Executors crowd on some hosts, and tasks are slower there.

## What it means
The cluster put at least twice as many executor cores on some hosts as on the median one. Where executors crowd they
share cores, memory bandwidth, disks and the network, and a resource manager that counts only memory gives away more
cores than a host has. Whether it did harm is measured: by tasks of the same stages, on crowded hosts and elsewhere.

## What it costs
The time that tasks on the crowded hosts took beyond those of the same stages on the other hosts. For the wall time the
schedule is replayed with these tasks as fast as the others.

## What to do
Choose executors that divide a host evenly, so that each host takes the same number. On YARN let the scheduler count
cores too (`DominantResourceCalculator` as `yarn.scheduler.capacity.resource-calculator`); on Kubernetes request whole
cores and spread the pods over the hosts.

## When to ignore it
When the crowded hosts are larger machines and their tasks are slow for another reason: data that is far away, or skewed
partitions. Look at the load of the host itself before you change the cluster.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where
from emberscope.rules.price import priced
from emberscope.rules.settings import is_local
from emberscope.simulate.stage_figures import StageFigures, stage_figures
from emberscope.simulate.stage_tasks import StageKey
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_ms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Our proposals; the guide on EMR computes the cores that YARN gives away beyond those of a node, which needs the
    node's size. Here the harm is measured in place of it."""

    crowd_ratio: float = 2.0  # cores on a host over those on the median host
    least_hosts: int = 3
    slower_ratio: float = 1.25  # time of tasks on crowded hosts over those of the same stages elsewhere
    least_tasks: int = 30  # on crowded hosts, and as many elsewhere
    least_excess_ms: int = 10_000  # of task time


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    cores = {} if is_local(run) else cores_by_host(run)
    figures = stage_figures(run)
    if len(cores) < limits.least_hosts or figures is None:
        return
    median = float(np.median(list(cores.values())))
    crowded = {host for host, count in cores.items() if count >= limits.crowd_ratio * median}
    if not crowded or len(crowded) * 2 > len(cores):
        return
    there, usual_ms, ran_ms = _of_tasks(figures, crowded)
    known = np.isfinite(usual_ms) & np.isfinite(ran_ms) & (usual_ms > 0)
    here, elsewhere = known & there, known & ~there
    if min(here.sum(), elsewhere.sum()) < limits.least_tasks:
        return
    slower = (ran_ms[here].sum() / usual_ms[here].sum()) / (ran_ms[elsewhere].sum() / usual_ms[elsewhere].sum())
    excess = ran_ms[here].sum() * (1 - 1 / slower)
    if slower < limits.slower_ratio or excess < limits.least_excess_ms:
        return
    price = priced(run, _mended(figures, there, slower), "The tasks on crowded hosts as fast as those elsewhere.")
    host = max(crowded, key=lambda name: cores[name])
    yield Finding(
        title=f"Tasks are {slower:.1f}× slower on {counted(len(crowded), 'crowded host')}",
        summary=f"Host {host} has executors of {cores[host]} cores, the median host of {median:.0f}. Tasks of the same "
        f"stages took {slower:.1f} times as long there, {format_ms(excess)} of task time in all.",
        where=Where(host=host),
        evidence=(
            Evidence(f"{cores[host]} cores at one time on host {host}", "executors.cores", cores[host], "cores"),
            Evidence(f"{median:.0f} on the median of {len(cores)} hosts", "executors.cores", median, "cores"),
            Evidence(
                f"{counted(int(here.sum()), 'task')} on crowded hosts took {slower:.2f} times as long as others",
                "tasks.executor_run_time_ms",
                float(slower),
                "ratio",
            ),
        ),
        advice=(
            Advice("cluster", f"Spread the executors: {median:.0f} cores on each host, as on most of them."),
            Advice("check", f"Look at CPU load, disks and network of host {host} during the run."),
        ),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(float(excess)),
        saving_basis=price.basis,
        confidence=0.5,
    )


def cores_by_host(run: Run) -> dict[str, int]:
    """The most cores that executors of this application had at one time, by host."""
    table = run.tables["executors"]
    changes: dict[str, list[tuple[int, int]]] = {}
    columns = [table[name].to_pylist() for name in ("executor_id", "host", "cores", "added_ms", "removed_ms")]
    for executor, host, cores, added, removed in zip(*columns, strict=True):
        if executor == "driver" or host is None or not cores or added is None:
            continue
        changes.setdefault(host, []).append((added, cores))
        if removed is not None and removed > added:
            changes[host].append((removed, -cores))
    most = {}
    for host, steps in changes.items():
        now = top = 0
        for _, step in sorted(steps):
            now += step
            top = max(top, now)
        most[host] = top
    return most


def _of_tasks(
    figures: StageFigures, crowded: set[str]
) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Of each task in the order of the figures: whether it ran on a crowded host, what the median task of its stage
    took, and what it took itself."""
    columns = figures.columns
    there = pc.fill_null(pc.is_in(columns.table["host"], value_set=pa.array(sorted(crowded))), False)
    usual = np.repeat(figures.median("executor_run_time_ms"), figures.counts)
    return np.asarray(there)[columns.order], usual, columns.numbers("executor_run_time_ms")


def _mended(figures: StageFigures, there: NDArray[np.bool_], slower: float) -> dict[StageKey, NDArray[np.float64]]:
    changed = {}
    for stage, start, count in zip(figures.stages, figures.starts, figures.counts, strict=True):
        slow = there[start : start + count]
        if slow.any():
            changed[stage.key] = np.where(slow, stage.durations_ms() / slower, stage.durations_ms())
    return changed


RULE = Rule(
    code="G7",
    name="node-packing",
    since="0.1",
    reads=(
        Reads(EXECUTORS, ("host", "cores")),
        Reads(TASKS, ("host", "executor_run_time_ms")),
        Reads(STAGES),
        Reads(JOBS),
    ),
    limits=Limits(),
    check=check,
)
