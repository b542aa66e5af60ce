"""A shuffle is cut into so many tiny blocks that asking for them takes longer than reading them.

## What it means
A shuffle has one block for each pair of a task that wrote it and a task that reads it: 2,000 tasks that write and 2,000
that read make four million blocks. Here a block holds less than 16 KiB on average. Each one has to be asked for, found
in a file and sent, and a disk reads them from scattered places; the tasks waited for them.

## What it costs
An upper bound: the application replayed without the time that the tasks of the stage waited for blocks. With fewer and
larger blocks most of that wait goes away, not always all of it.

## What to do
Use fewer partitions on either side of the shuffle. For the side that reads, the advice computes a number from the bytes
of this shuffle. The side that writes has as many tasks as its input has splits: make the splits larger
(`spark.sql.files.maxPartitionBytes`), or `coalesce` before the shuffle. On YARN with an external shuffle service,
push-based shuffle (`spark.shuffle.push.enabled`, from Spark 3.2 on) merges the blocks of a reader.

## When to ignore it
When the stage needs many partitions for its memory, because rows grow after they are read (with fewer of them, spill
(C3) would follow), and when the saving is near zero. Where tasks wait for blocks that are not tiny, fetch-wait (D1)
reports it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.long_stages import long_stages, ratios, shortened
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.rules.shuffle.blocks import block_counts, blocks_are_tiny, fetched_bytes
from emberscope.rules.shuffle.partitions import TARGET_BYTES, fewer_partitions
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """No tool that we know of has numbers for this; all values are our proposal. What is tiny and how many are many (16
    KiB, 100,000 blocks) is said in `rules/shuffle/blocks.py`, because fetch-wait asks it too."""

    ratio: float = 0.05  # fetch wait over the run time of the stage's tasks
    floor_ms: int = 5_000  # fetch wait of all its tasks


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    wait_ms, counts, sizes = figures.total("shuffle_fetch_wait_ms"), block_counts(figures), fetched_bytes(figures)
    mask = blocks_are_tiny(figures) & (wait_ms >= limits.floor_ms) & long_stages(run, figures)
    mask &= ratios(wait_ms, figures.run_ms()) >= limits.ratio
    known = places(run)
    for index in np.flatnonzero(mask).tolist():
        stage, size, count = figures.stages[index], float(sizes[index]), float(counts[index])
        place = place_of(known, stage.key)
        wait = np.minimum(stage.amounts("shuffle_fetch_wait_ms"), stage.run_ms())
        price = priced(
            run, {stage.key: shortened(stage, wait)}, "Upper bound: the waits for shuffle blocks taken off the tasks."
        )
        yield Finding(
            title=f"{place.title} read its shuffle in blocks of {format_bytes(size / count)}",
            summary=f"{place.sentence}: {format_bytes(size)} came in {format_count(count)} blocks, and the tasks "
            f"waited {format_ms(wait.sum())} for them.",
            where=place.where,
            evidence=(
                Evidence(
                    f"{format_count(count)} blocks of {format_bytes(size / count)} on average, for "
                    f"{format_count(len(stage))} tasks",
                    "tasks.shuffle_read_local_blocks + shuffle_read_remote_blocks",
                    round(size / count),
                    "bytes",
                ),
                Evidence(
                    f"tasks waited {format_ms(wait.sum())} for blocks, of "
                    f"{format_ms(stage.run_ms().sum())} that they ran",
                    "tasks.shuffle_fetch_wait_ms",
                    round(float(wait.sum())),
                    "ms",
                ),
            ),
            advice=(
                *fewer_partitions(run, place, len(stage), max(1, math.ceil(size / TARGET_BYTES))),
                Advice(
                    "code",
                    f"Fewer tasks that write the shuffle: about {format_count(count / max(1, len(stage)))} of them "
                    "wrote a block for every reader. Larger input splits or a coalesce before it make fewer.",
                ),
            ),
            wasted_wall_ms=price.wall_ms,
            wasted_core_ms=round(float(wait.sum())),
            saving_basis=price.basis,
            confidence=0.6,
        )


RULE = Rule(
    code="D6",
    name="tiny-blocks",
    since="0.1",
    reads=(
        Reads(TASKS, ("shuffle_fetch_wait_ms", "shuffle_read_remote_blocks", "executor_run_time_ms")),
        Reads(STAGES),
        Reads(JOBS),
    ),
    limits=Limits(),
    check=check,
)
