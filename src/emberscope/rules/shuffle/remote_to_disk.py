"""Shuffle blocks from other executors were too large for memory and went to disk first.

## What it means
A task keeps the blocks that it fetches in memory. A block larger than `spark.network.maxRemoteBlockSizeFetchToMem`
(200 MiB by default) is first written to the local disk of the reader and read from there: its bytes go to disk twice
before they are used once. Blocks get that large when few tasks write for few readers, or when one key holds most rows.

## What it costs
An estimate: these bytes written once and read once at 100 MB/s, a plain cloud volume, and never more than the tasks
ran, replayed through the application.

## What to do
Use more shuffle partitions, so that a block is smaller: the advice has the number. Where one key makes the block,
spread that key (see skewed-stage, B1). Where executors have memory to spare, the limit itself can be raised, up to
2047m.

## When to ignore it
When the disks are fast local flash and the saving is near zero: going by disk keeps executors from running out of
memory. Where all partitions are large or one key is, this finding is listed under partition-size (D3) or skewed-stage
(B1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.long_stages import long_stages, shortened
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.rules.settings import bytes_setting
from emberscope.rules.shuffle.partitions import TARGET_BYTES, in_whole_waves, more_partitions, most_cores
from emberscope.rules.spill_time import disk_wait_ms
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_LIMIT = "spark.network.maxRemoteBlockSizeFetchToMem"


class Limits(Struct, frozen=True):
    """No tool that we know of has a number for this; the floor is our proposal, that of a spill."""

    disk_bytes: int = 100_000_000  # fetched to disk in the stage


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    mask = figures.total("shuffle_read_remote_to_disk_bytes") >= limits.disk_bytes
    known, cores = places(run), most_cores(run)
    for index in np.flatnonzero(mask & long_stages(run, figures)).tolist():
        stage = figures.stages[index]
        place = place_of(known, stage.key)
        disk = stage.amounts("shuffle_read_remote_to_disk_bytes")
        cost_ms = np.minimum(disk_wait_ms(disk), stage.run_ms())
        price = priced(
            run,
            {stage.key: shortened(stage, cost_ms)},
            "Estimate: these bytes written once and read once at 100 MB/s.",
        )
        count = in_whole_waves(
            max(2 * len(stage), math.ceil(float(stage.shuffle_read_bytes().sum()) / TARGET_BYTES)), cores
        )
        yield Finding(
            title=f"{place.title} put {format_bytes(disk.sum())} of fetched shuffle blocks on disk",
            summary=f"{place.sentence}: {format_count((disk > 0).sum())} of {format_count(len(stage))} tasks fetched "
            "blocks that were too large for memory.",
            where=place.where,
            evidence=(
                Evidence(
                    f"{format_bytes(disk.sum())} went to disk before it was read",
                    "tasks.shuffle_read_remote_to_disk_bytes",
                    float(disk.sum()),
                    "bytes",
                ),
                Evidence(
                    f"blocks above {format_bytes(bytes_setting(run, _LIMIT, '200m'))} do so ({_LIMIT})",
                    "conf",
                    bytes_setting(run, _LIMIT, "200m"),
                    "bytes",
                ),
            ),
            advice=(
                *more_partitions(run, place, count, float(stage.shuffle_read_bytes().sum()) / count),
                Advice(
                    "check",
                    f"Where executors have memory to spare, raise {_LIMIT} (to 2047m at most) instead.",
                ),
            ),
            wasted_wall_ms=price.wall_ms,
            wasted_core_ms=round(float(cost_ms.sum())),
            saving_basis=price.basis,
            confidence=0.5,
        )


RULE = Rule(
    code="D7",
    name="remote-to-disk",
    since="0.1",
    reads=(Reads(TASKS, ("shuffle_read_remote_to_disk_bytes", "executor_run_time_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
