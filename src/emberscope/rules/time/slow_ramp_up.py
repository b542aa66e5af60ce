"""Tasks waited for executors that came late.

## What it means
An application begins with few executors and gets more, one by one or in steps: by dynamic allocation, or because the
cluster starts them slowly. Here tasks were ready to run and all cores that were there were busy, but most executors
came only much later.

## What it costs
The core time for which tasks waited until the executors had come, divided by the cores that there were in the end:
about what the application would have saved with all executors there at the first job. Other waiting is not in it.

## What to do
With dynamic allocation, start with more executors (`spark.dynamicAllocation.initialExecutors`; the value below is what
this run ended up with), and let Spark ask for more after a second of waiting, as it does by default. Without it, look
at how long the cluster takes to start containers: images, queues, quotas, new machines.

## When to ignore it
When executors cost money from their start and the wait is short beside the work; or when they came late because the
cluster was full.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.settings import is_local, is_on
from emberscope.rules.time.pending import pending
from emberscope.simulate.shares import Steps, steps
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


_BACKLOG: Final = "spark.dynamicAllocation.schedulerBacklogTimeout"


class Limits(Struct, frozen=True):
    """All are our proposal."""

    share: float = 0.9  # the cluster is complete when this share of its cores has come
    lasted: float = 0.1  # its cores are those that it had at least for this share of the time of jobs
    begun: float = 0.5  # with more than this share of them at the first job, executors were not late
    ratio: float = 0.1  # from the first job until then, over the application's time
    floor_ms: int = 10_000  # the same, in ms
    least_saving: float = 0.02  # saving over the application's time


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    pieces, waiting = steps(run), pending(run)
    length_ms = run.application.observed_ms
    if pieces is None or pieces.cores is None or waiting is None or not length_ms or is_local(run):
        return
    active = np.flatnonzero(pieces.jobs > 0)
    if not len(active):
        return
    first, most = int(active[0]), _full_size(pieces, active, limits.lasted)
    if most == 0 or pieces.cores[first] > limits.begun * most:
        return
    complete = int(np.flatnonzero(pieces.cores >= limits.share * most)[0])
    ramp_ms = float(pieces.edges[complete] - pieces.edges[first])
    if ramp_ms < max(limits.floor_ms, limits.ratio * length_ms):
        return
    index = np.arange(len(pieces.cores))
    during = (index >= first) & (index < complete)
    lacking = np.minimum(waiting.cores, np.maximum(0, most - pieces.cores).astype(np.float64))
    # What waits although cores are idle does not wait for executors; that there is none at all is told by another rule.
    lacking = np.where(during & (pieces.occupied >= pieces.cores) & (pieces.cores > 0), lacking, 0.0)
    core_ms = float((lacking * pieces.lengths_ms).sum())
    if core_ms / most < limits.least_saving * length_ms:
        return
    yield _finding(run, pieces, first, ramp_ms, core_ms, most)


def _full_size(pieces: Steps, active: NDArray[np.int64], lasted: float) -> int:
    """The number of cores that were there, or more, for this share of the time in which jobs were active."""
    assert pieces.cores is not None
    cores, lengths = pieces.cores[active], pieces.lengths_ms[active]
    order = np.argsort(-cores, kind="stable")
    passed = np.cumsum(lengths[order])
    return int(cores[order][np.searchsorted(passed, lasted * passed[-1])])


def _finding(run: Run, pieces: Steps, first: int, ramp_ms: float, core_ms: float, most: int) -> Finding:
    assert pieces.cores is not None
    saved_ms = core_ms / most
    begun = int(pieces.cores[first])
    count = run.tables["executors"].num_rows
    return Finding(
        title=f"Executors came late: {format_ms(ramp_ms)} after the first job",
        summary=f"The first job began with {begun} of {most} cores, and the others came only within "
        f"{format_ms(ramp_ms)}; tasks that were ready waited for them.",
        where=Where(),
        evidence=(
            Evidence(
                f"{begun} cores at the first job, {most} in the end, {format_ms(ramp_ms)} later",
                "executors.added_ms, executors.cores, jobs.submitted_ms",
                round(ramp_ms),
                "ms",
            ),
            Evidence(
                f"tasks waited for {format_ms(core_ms)} of core time while all cores were busy",
                "stages.submitted_ms, tasks.launch_ms",
                round(core_ms),
                "ms",
            ),
            Evidence(f"{count} executors came in all", "executors", count, "executors"),
        ),
        advice=tuple(_advice(run, most)),
        wasted_wall_ms=round(saved_ms),
        wasted_core_ms=0,
        saving_basis=f"Core time for which tasks waited until the cores had come, over {most} cores: "
        f"{format_ratio(saved_ms / max(1, run.application.observed_ms or 1))} of the application's time.",
        confidence=0.7,
    )


def _advice(run: Run, most: int) -> Iterator[Advice]:
    sizes = [cores for cores in run.tables["executors"]["cores"].to_pylist() if cores]
    executors = max(1, round(most / max(sizes, default=1)))
    if is_on(run, "spark.dynamicAllocation.enabled", default=False):
        why = f"The application ended up with {most} cores; let it begin with their executors."
        yield set_conf("spark.dynamicAllocation.initialExecutors", executors, why)
        if run.setting(_BACKLOG) not in (None, "1", "1s"):
            yield set_conf(
                _BACKLOG,
                "1s",
                f"So long tasks wait before Spark asks for more executors, instead of {run.setting(_BACKLOG)}; each "
                "time it asks for twice as many.",
            )
        return
    yield Advice(
        "cluster",
        "Look at what the cluster does between the request and the start of an executor: pulling images, fetching "
        "packages, waiting in a queue, starting machines.",
    )


RULE = Rule(
    code="H2",
    name="slow-ramp-up",
    since="0.1",
    reads=(
        Reads(TASKS, ("launch_ms",)),
        Reads(STAGES, ("submitted_ms",)),
        Reads(JOBS),
        Reads(EXECUTORS, ("cores", "added_ms")),
    ),
    limits=Limits(),
    check=check,
    needs_times=True,
)
