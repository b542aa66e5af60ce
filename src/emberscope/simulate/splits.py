"""How Spark cuts files into tasks: the largest split, forwards and backwards, and the number of tasks.

The arithmetic is that of Spark's `FilePartition` (in Spark 2 of `FileSourceScanExec`) for files that can be split and
tables without buckets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

MIB: Final = 1 << 20
MAX_PARTITION_BYTES: Final = 128 * MIB
"""Default of `spark.sql.files.maxPartitionBytes`."""
OPEN_COST_BYTES: Final = 4 * MIB
"""Default of `spark.sql.files.openCostInBytes`."""

_MIN_PARTITIONS: Final = "spark.sql.files.minPartitionNum"
_LEAF_PARALLELISM: Final = "spark.sql.leafNodeDefaultParallelism"
_DEFAULT_PARALLELISM: Final = "spark.default.parallelism"


class Files(Struct, frozen=True):
    """So many files of one size."""

    count: int
    size_bytes: int


class Settings(Struct, frozen=True):
    """What the size of a split follows from. `cores` are those of all executors; None stands for what is not set."""

    spark: tuple[int, int]
    cores: int
    default_parallelism: int | None = None
    leaf_parallelism: int | None = None
    min_partitions: int | None = None
    max_partitions: int | None = None
    max_partition_bytes: int = MAX_PARTITION_BYTES
    open_cost_bytes: int = OPEN_COST_BYTES


class Splits(Struct, frozen=True):
    """The largest split and what led to it. `divisor_from` is the setting that the divisor comes from, None for the
    cores. `rescaled_from` is the number of tasks before `spark.sql.files.maxPartitionNum` made them fewer."""

    total_bytes: int
    divisor: int
    divisor_from: str | None
    bytes_per_core: int
    split_bytes: int
    tasks: int
    rescaled_from: int | None = None


def divisor(settings: Settings) -> tuple[int, str | None]:
    """What the size of all files is divided by, and the setting that says so (None: the cores).

    Spark 3.1 and later ask `spark.sql.files.minPartitionNum` first, 3.2 and later then
    `spark.sql.leafNodeDefaultParallelism`; all then take the default parallelism: as set, or all cores, at least 2.
    """
    if settings.spark >= (3, 1) and settings.min_partitions:
        return settings.min_partitions, _MIN_PARTITIONS
    if settings.spark >= (3, 2) and settings.leaf_parallelism:
        return settings.leaf_parallelism, _LEAF_PARALLELISM
    if settings.default_parallelism:
        return settings.default_parallelism, _DEFAULT_PARALLELISM
    return max(2, settings.cores), None


def splits(files: Sequence[Files], settings: Settings) -> Splits:
    """The largest split for these files, and how many tasks read them."""
    total = _total(files, settings.open_cost_bytes)
    by, source = divisor(settings)
    per_core = total // by
    size = max(1, min(settings.max_partition_bytes, max(settings.open_cost_bytes, per_core)))
    tasks = task_count(files, size, settings.open_cost_bytes)
    most = settings.max_partitions
    if settings.spark >= (3, 5) and most and tasks > most:
        rescaled = -(-total // most)
        fewer = task_count(files, rescaled, settings.open_cost_bytes)
        return Splits(total, by, source, per_core, rescaled, fewer, rescaled_from=tasks)
    return Splits(total, by, source, per_core, size, tasks)


def most_divisor(files: Sequence[Files], split_bytes: int, open_cost_bytes: int = OPEN_COST_BYTES) -> int:
    """The largest parallelism with which a split still has `split_bytes`: the inverse of `splits`."""
    return max(1, _total(files, open_cost_bytes) // max(1, split_bytes))


def task_count(files: Sequence[Files], split_bytes: int, open_cost_bytes: int = OPEN_COST_BYTES) -> int:
    """How many tasks read these files where no split is larger than `split_bytes`.

    As Spark does it: pieces are put into a task in the order of their size, the largest first, each with the cost of
    opening a file behind it, until the next one does not fit.
    """
    pieces: dict[int, int] = {}
    for group in files:
        whole, rest = divmod(group.size_bytes, split_bytes)
        for size, count in ((split_bytes, whole * group.count), (rest, group.count)):
            if size and count:
                pieces[size] = pieces.get(size, 0) + count
    closed, filled = 0, 0
    for size in sorted(pieces, reverse=True):
        count, step = pieces[size], size + open_cost_bytes
        fits = _how_many(split_bytes - filled, size, step) if filled else 0
        placed = min(count, fits)
        filled, count = filled + placed * step, count - placed
        if not count:
            continue
        closed += 1 if filled else 0
        each = max(1, _how_many(split_bytes, size, step))
        full, last = divmod(count - 1, each)
        closed += full
        filled = (last + 1) * step
    return closed + (1 if filled else 0)


def pieces_of(size_bytes: int, split_bytes: int) -> int:
    """Into how many pieces one file is cut."""
    return max(1, -(-size_bytes // split_bytes))


def _how_many(room: int, size: int, step: int) -> int:
    """How many pieces of `size` fit into `room` where each takes `step` of it but the last only its size."""
    return (room - size) // step + 1 if size <= room else 0


def _total(files: Sequence[Files], open_cost_bytes: int) -> int:
    return sum(group.count * (group.size_bytes + open_cost_bytes) for group in files)
