"""What to do about a spill: partitions or memory, with values of this run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.rules.base import Advice, set_conf
from emberscope.rules.memory.heap import heap_setting, memory_fraction
from emberscope.rules.settings import MIB, bytes_setting, is_local, is_on, memory_words, number_setting, version
from emberscope.rules.shuffle.partitions import MOST_PARTITIONS
from emberscope.units import counted, format_bytes

if TYPE_CHECKING:
    from emberscope.rules.places import Place
    from emberscope.simulate.stage_tasks import StageTasks
    from emberscope.tables.run import Run

# What a shuffle partition should hold (RAPIDS tools and others aim at 128 MB).
_PARTITION_BYTES: Final = 128 * MIB
_FRACTION: Final = "spark.memory.fraction"
_USUAL_FRACTION: Final = 0.6
# Memory is raised by no more than this at once: beyond it, partitions are the better lever (proposal).
_MOST_MEMORY: Final = 4.0


def advice_for(run: Run, place: Place, stage: StageTasks, *, skewed: bool) -> Iterator[Advice]:
    shuffled = float(stage.shuffle_read_bytes().sum())
    if skewed:
        yield Advice(
            "code",
            "One partition is much larger than the others: spread its keys (see skewed-stage, B1). More partitions do "
            "not help, rows of one key stay together.",
        )
        return
    yield from _usual_fraction(run)
    if math.ceil(shuffled / _PARTITION_BYTES) <= len(stage):
        yield from _more_memory(run, place, stage, shuffled)
        return
    partitions = max(math.ceil(shuffled / _PARTITION_BYTES), math.ceil(len(stage) * _short_by(stage)))
    facts = (
        f"The stage read {format_bytes(shuffled)} of shuffle data in {counted(len(stage), 'partition')} of "
        f"{format_bytes(shuffled / len(stage))}; {partitions} hold {format_bytes(shuffled / partitions)} each, and "
        "what their tasks sort fits into the memory that they had."
    )
    if partitions > MOST_PARTITIONS:
        yield Advice(
            "code",
            f"Send less through the shuffle before it: filter rows, select columns and aggregate first. {facts} So "
            "many are more than a driver can look after.",
        )
    elif place.where.sql is not None:
        yield set_conf("spark.sql.shuffle.partitions", partitions, facts)
        yield from _let_them_stay_small(run, shuffled / partitions)
    else:
        yield Advice("code", f"Give the shuffle {partitions} partitions (its numPartitions argument). {facts}")


def _usual_fraction(run: Run) -> Iterator[Advice]:
    """A share for execution and storage that was set below Spark's own takes memory from tasks."""
    fraction = memory_fraction(run)
    if run.setting(_FRACTION) is not None and 0 < fraction < _USUAL_FRACTION:
        text = f"It was lowered to {fraction:g}: tasks and cache share only that part of the heap."
        yield set_conf(_FRACTION, f"{_USUAL_FRACTION:g}", text)


def _more_memory(run: Run, place: Place, stage: StageTasks, shuffled: float) -> Iterator[Advice]:
    """Partitions are below 128 MiB and still too large for the memory that a task gets."""
    factor = _short_by(stage)
    cores = int(number_setting(run, "spark.executor.cores", 1))
    if cores > 1 and not is_local(run):
        yield set_conf(
            "spark.executor.cores",
            max(1, int(cores / min(factor, cores))),
            f"Fewer tasks share the executor's memory at one time (now {cores}).",
        )
    key, now = heap_setting(run)
    value = memory_words(math.ceil(min(factor, _MOST_MEMORY) * now / (256 * MIB)) * 256 * MIB)
    yield set_conf(
        key,
        value,
        f"Tasks needed up to {factor:.1f}× the memory they were given; the heap has {format_bytes(now)} now.",
    )
    count = math.ceil(len(stage) * factor)
    if place.where.sql is not None and shuffled > 0 and count <= MOST_PARTITIONS:
        yield set_conf(
            "spark.sql.shuffle.partitions",
            count,
            f"Or, in place of more memory, {count} partitions in place of {len(stage)}: each needs less at one time.",
        )
        yield from _let_them_stay_small(run, shuffled / count)


def _let_them_stay_small(run: Run, partition_bytes: float) -> Iterator[Advice]:
    """Adaptive execution would merge the new partitions up to its advisory size again."""
    adaptive = is_on(run, "spark.sql.adaptive.enabled", default=version(run) >= (3, 2))
    if not adaptive or not is_on(run, "spark.sql.adaptive.coalescePartitions.enabled", default=True):
        return
    advisory = bytes_setting(run, "spark.sql.adaptive.advisoryPartitionSizeInBytes", "64m")
    if advisory > partition_bytes:
        yield set_conf(
            "spark.sql.adaptive.advisoryPartitionSizeInBytes",
            memory_words(max(MIB, partition_bytes)),
            f"Else adaptive execution merges the smaller partitions again, up to {format_bytes(advisory)}.",
        )


def _short_by(stage: StageTasks) -> float:
    """How many times the memory it had a task would have needed: (held + spilled) / held, of the worst task.

    2 where the log does not say how much tasks held.
    """
    held, spilled = stage.numbers("peak_execution_memory_bytes"), stage.amounts("memory_spilled_bytes")
    known = (held > 0) & (spilled > 0)
    return float(np.max((held[known] + spilled[known]) / held[known])) if known.any() else 2.0
