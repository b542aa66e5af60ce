"""A stage wrote more than 50 GB for one shuffle.

## What it means
The rows that a join, an aggregation or a sort has to bring together are written to the disks of the executors that have
them, and read over the network by those that need them. Here that is so much that the shuffle itself is the work of the
stage. Nothing went wrong: the question is whether so much has to travel.

## What it costs
A lower bound: the time that the tasks spent writing the shuffle, replayed through the application. The time to read it
again in the next stage is not counted.

## What to do
Send fewer bytes: filter and select columns before the shuffle, aggregate before joining. Broadcast the smaller side if
it fits into memory. Store tables that are joined by the same key again and again bucketed by that key, so that the join
need not shuffle them. Compression by zstd makes the same rows smaller.

## When to ignore it
When the shuffle is small beside the rest of the job's work, or when the data have to be sorted once as a whole. Where
the stage wrote several times what it read, data-explosion (D4) reports it instead; where the disk is slow, this finding
is listed under shuffle-write-time (D2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, set_conf
from emberscope.rules.long_stages import long_stages, shortened
from emberscope.rules.places import SHUFFLED_JOINS, place_of, places
from emberscope.rules.price import priced
from emberscope.rules.settings import version
from emberscope.rules.shuffle.data_explosion import RULE as DATA_EXPLOSION
from emberscope.rules.shuffle.data_explosion import exploded
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ms

if TYPE_CHECKING:
    from emberscope.rules.places import Place
    from emberscope.tables.run import Run

_CODEC = "spark.io.compression.codec"
_FIRST_WITH_ZSTD = (2, 3)


class Limits(Struct, frozen=True):
    """spark-advisor reports a stage that writes more than 50 GB."""

    written_bytes: int = 50_000_000_000  # shuffle output of one stage (spark-advisor)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    written = figures.total("shuffle_write_bytes")
    mask = (written >= limits.written_bytes) & long_stages(run, figures)
    mask &= ~exploded(run, figures, DATA_EXPLOSION.limits)
    known = places(run)
    for index in np.flatnonzero(mask).tolist():
        stage, size = figures.stages[index], float(written[index])
        place = place_of(known, stage.key)
        write_ms = np.minimum(stage.amounts("shuffle_write_time_ns") * 1e-6, stage.run_ms())
        price = priced(
            run, {stage.key: shortened(stage, write_ms)}, "Lower bound: the time of the shuffle writes taken off."
        )
        yield Finding(
            title=f"{place.title} wrote {format_bytes(size)} for a shuffle",
            summary=f"{place.sentence}: {format_count(len(stage))} tasks wrote {format_bytes(size)} of shuffle data, "
            f"which took them {format_ms(write_ms.sum())}.",
            where=place.where,
            evidence=(
                Evidence(f"{format_bytes(size)} of shuffle output", "tasks.shuffle_write_bytes", size, "bytes"),
                Evidence(
                    f"{format_count(stage.amounts('shuffle_write_records').sum())} rows",
                    "tasks.shuffle_write_records",
                    float(stage.amounts("shuffle_write_records").sum()),
                    "rows",
                ),
            ),
            advice=tuple(_advice(run, place)),
            wasted_wall_ms=price.wall_ms,
            wasted_core_ms=round(float(write_ms.sum())),
            saving_basis=price.basis,
            confidence=0.4,
        )


def _advice(run: Run, place: Place) -> Iterator[Advice]:
    join = place.operator(SHUFFLED_JOINS)
    if join is not None:
        yield Advice(
            "code",
            f"If one side of the join by {join.keys or 'its keys'} fits into memory, broadcast it; if the tables are "
            "joined by these keys often, store them bucketed by them.",
        )
    yield Advice("code", "Filter rows, select columns and aggregate before the shuffle, so that less has to travel.")
    if version(run) >= _FIRST_WITH_ZSTD and (run.setting(_CODEC) or "lz4").lower() in ("lz4", "snappy", "lzf"):
        yield set_conf(_CODEC, "zstd", "Makes the same rows smaller than lz4 does, for some more CPU time.")


RULE = Rule(
    code="D5",
    name="huge-shuffle",
    since="0.1",
    reads=(Reads(TASKS, ("shuffle_write_bytes", "executor_run_time_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
