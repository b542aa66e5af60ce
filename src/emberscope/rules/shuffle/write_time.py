"""Tasks spent much of their time writing shuffle files to a slow disk.

## What it means
What a shuffle sends is first written to the local disks of the executors. Here tasks spent a large share of their time
in these writes, and the disks took less than 100 MB/s from each task: they are slow, full of other work, reached over
the network, or written to in pieces that are too small.

## What it costs
The time of the writes above what 100 MB/s, a plain cloud volume, would have needed for the same bytes, replayed through
the application.

## What to do
Put Spark's local directories (on YARN and Kubernetes those of the node) on local flash, on several disks if there are
several. Compress harder, so that fewer bytes are written, and write in larger pieces: the advice has the settings. Drop
columns and rows that nobody needs before the shuffle.

## When to ignore it
When the disks were busy with another application at that time, and the next run does not show it. A shuffle that is
huge but written fast is reported by huge-shuffle (D5).
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
from emberscope.rules.settings import MIB, bytes_setting, is_on, version
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_CODEC = "spark.io.compression.codec"
_FIRST_WITH_ZSTD = (2, 3)
_BUFFER = "spark.shuffle.file.buffer"
_COMPRESS = "spark.shuffle.compress"


class Limits(Struct, frozen=True):
    """No tool that we know of has numbers for this; all values are our proposal. 100 MB/s is what a plain cloud volume
    gives one task, as in the price of a spill."""

    ratio: float = 0.15  # shuffle write time over the run time of the stage's tasks
    floor_ms: int = 10_000  # write time above what the bytes need, of all its tasks
    bytes_per_ms: int = 100_000  # a disk that is faster is not to blame


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    write_ms, sizes = figures.total("shuffle_write_time_ns") * 1e-6, figures.total("shuffle_write_bytes")
    mask = (ratios(write_ms, figures.run_ms()) >= limits.ratio) & long_stages(run, figures)
    mask &= write_ms - sizes / limits.bytes_per_ms >= limits.floor_ms
    known = places(run)
    for index in np.flatnonzero(mask).tolist():
        stage = figures.stages[index]
        place = place_of(known, stage.key)
        written = stage.amounts("shuffle_write_bytes")
        excess = stage.amounts("shuffle_write_time_ns") * 1e-6 - written / limits.bytes_per_ms
        excess = np.minimum(np.maximum(0.0, excess), stage.run_ms())
        price = priced(
            run, {stage.key: shortened(stage, excess)}, "Time of the shuffle writes above what 100 MB/s would need."
        )
        total_ms, size = float(write_ms[index]), float(sizes[index])
        yield Finding(
            title=f"{place.title} wrote its shuffle at {format_bytes(1000 * size / total_ms)}/s per task",
            summary=f"{place.sentence}: tasks spent {format_ms(total_ms)} writing {format_bytes(size)} of shuffle "
            f"data, {format_ratio(total_ms / max(1.0, float(stage.run_ms().sum())))} of their time.",
            where=place.where,
            evidence=(
                Evidence(
                    f"{format_ms(total_ms)} of {format_ms(stage.run_ms().sum())} went into shuffle writes",
                    "tasks.shuffle_write_time_ns",
                    round(total_ms),
                    "ms",
                ),
                Evidence(f"they wrote {format_bytes(size)}", "tasks.shuffle_write_bytes", size, "bytes"),
            ),
            advice=tuple(_advice(run)),
            wasted_wall_ms=price.wall_ms,
            wasted_core_ms=round(float(excess.sum())),
            saving_basis=price.basis,
            confidence=0.65,
        )


def _advice(run: Run) -> Iterator[Advice]:
    yield Advice(
        "cluster",
        "Put the local directories of Spark (on YARN and Kubernetes those of the node) on local flash, spread over all "
        "disks that the node has.",
    )
    if not is_on(run, _COMPRESS, default=True):
        yield Advice("unset", "Shuffle data are written without compression.", _COMPRESS)
    elif version(run) >= _FIRST_WITH_ZSTD and (run.setting(_CODEC) or "lz4").lower() in ("lz4", "snappy", "lzf"):
        yield set_conf(_CODEC, "zstd", "Writes fewer bytes than lz4 for some more CPU time.")
    if bytes_setting(run, _BUFFER, "32k", unit="k") < MIB:
        yield set_conf(_BUFFER, "1m", "Writes in larger pieces; costs 1 MiB for each open shuffle file of a task.")


RULE = Rule(
    code="D2",
    name="shuffle-write-time",
    since="0.1",
    reads=(
        Reads(TASKS, ("shuffle_write_time_ns", "shuffle_write_bytes", "executor_run_time_ms")),
        Reads(STAGES),
        Reads(JOBS),
    ),
    limits=Limits(),
    check=check,
)
