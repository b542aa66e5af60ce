"""Tasks waited for shuffle blocks instead of working on them.

## What it means
A task that reads a shuffle asks the executors that hold its blocks for them, and works on what has come while the rest
is on its way. Here the blocks came too slowly: the task had nothing left to work on and stood still. The time is
Spark's own measure (fetch wait time). Usual reasons are slow or busy disks of the executors that serve the blocks, a
full network, and executors that collect garbage while they should answer.

## What it costs
An upper bound: the application replayed with the waits taken off the tasks, as if every block were there when it is
needed.

## What to do
Find out who answers slowly: compare the disks, the network and the garbage collection of the hosts that wrote the
shuffle. Where a task reads much more than it may have on its way at one time, let it ask for more
(`spark.reducer.maxSizeInFlight`; the advice has a value). Move less: aggregate, filter and drop columns before the
shuffle, or broadcast the small side of a join. An external shuffle service on fast disks answers while executors are
busy.

## When to ignore it
When the disks or the network were busy with another application and the next run does not show it, and when the saving
is near zero. Where the blocks are tiny, tiny-blocks (D6) reports it instead, because their number is then the reason;
where one task reads most of the data, this finding is listed under skewed-stage (B1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, set_conf
from emberscope.rules.long_stages import long_stages, ratios, shortened
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.rules.settings import MIB, bytes_setting, memory_words
from emberscope.rules.shuffle.blocks import blocks_are_tiny
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.simulate.stage_tasks import StageTasks
    from emberscope.tables.run import Run

_IN_FLIGHT = "spark.reducer.maxSizeInFlight"


class Limits(Struct, frozen=True):
    """No tool that we know of has numbers for this; all values are our proposal."""

    ratio: float = 0.10  # fetch wait over the run time of the stage's tasks
    floor_ms: int = 10_000  # fetch wait of all its tasks


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    wait_ms, run_ms = figures.total("shuffle_fetch_wait_ms"), figures.run_ms()
    mask = (wait_ms >= limits.floor_ms) & (ratios(wait_ms, run_ms) >= limits.ratio) & long_stages(run, figures)
    known = places(run)
    for index in np.flatnonzero(mask & ~blocks_are_tiny(figures)).tolist():
        stage = figures.stages[index]
        place = place_of(known, stage.key)
        wait = np.minimum(stage.amounts("shuffle_fetch_wait_ms"), stage.run_ms())
        price = priced(
            run, {stage.key: shortened(stage, wait)}, "Upper bound: the waits for shuffle blocks taken off the tasks."
        )
        ratio = float(wait_ms[index] / run_ms[index])
        remote = float(stage.amounts("shuffle_read_remote_bytes").sum())
        yield Finding(
            title=f"{place.title} waited {format_ms(wait.sum())} for shuffle blocks",
            summary=f"{place.sentence}: {format_ratio(ratio)} of the tasks' time passed while they waited for blocks "
            "of the shuffle that they read.",
            where=place.where,
            evidence=(
                Evidence(
                    f"tasks waited {format_ms(wait_ms[index])} for blocks, of {format_ms(run_ms[index])} that they ran",
                    "tasks.shuffle_fetch_wait_ms",
                    round(float(wait_ms[index])),
                    "ms",
                ),
                Evidence(
                    f"they read {format_bytes(remote)} from other executors and "
                    f"{format_bytes(stage.amounts('shuffle_read_local_bytes').sum())} from their own",
                    "tasks.shuffle_read_remote_bytes, tasks.shuffle_read_local_bytes",
                    remote,
                    "bytes",
                ),
            ),
            advice=tuple(_advice(run, stage)),
            wasted_wall_ms=price.wall_ms,
            wasted_core_ms=round(float(wait.sum())),
            saving_basis=price.basis,
            confidence=0.6,
        )


def _advice(run: Run, stage: StageTasks) -> Iterator[Advice]:
    yield Advice(
        "check",
        "Compare disk, network and garbage collection of the executors that wrote this shuffle: one slow host holds up "
        "every task that reads from it.",
    )
    now = bytes_setting(run, _IN_FLIGHT, "48m", unit="m")
    most = float(stage.amounts("shuffle_read_remote_bytes").max(initial=0.0))
    if most > 2 * now:
        value = min(4 * now, int(most))
        yield set_conf(
            _IN_FLIGHT,
            memory_words(max(MIB, value)),
            f"A task read up to {format_bytes(most)} from other executors and may have {format_bytes(now)} on its way. "
            "Each task that runs needs this much more memory.",
        )
    yield Advice(
        "code",
        "Send less through this shuffle: select only the columns that are needed, filter and aggregate before it, or "
        "broadcast the smaller side of a join.",
    )


RULE = Rule(
    code="D1",
    name="fetch-wait",
    since="0.1",
    reads=(Reads(TASKS, ("shuffle_fetch_wait_ms", "executor_run_time_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
