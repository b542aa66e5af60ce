"""What to do about a straggler: settings with values of this run for a join, code for the rest."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.rules.base import Advice, set_conf
from emberscope.rules.places import AGGREGATES, GROUPS, SHUFFLED_JOINS, Place
from emberscope.rules.settings import MIB, bytes_setting, is_on, memory_words, number_setting, version
from emberscope.rules.skew.straggler import Straggler
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_ENABLED: Final = "spark.sql.adaptive.enabled"
_SPLITS: Final = "spark.sql.adaptive.skewJoin.enabled"
_THRESHOLD: Final = "spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes"
_FACTOR: Final = "spark.sql.adaptive.skewJoin.skewedPartitionFactor"
_FORCE: Final = "spark.sql.adaptive.forceOptimizeSkewedJoin"
_LEAST_FACTOR: Final = 1.5  # partitions that are hardly larger than the median are not worth splitting (our proposal)
_ADVISORY: Final = "spark.sql.adaptive.advisoryPartitionSizeInBytes"


def advice_for(run: Run, place: Place, found: Straggler) -> Iterator[Advice]:
    if found.kind == "host":
        yield Advice("check", f"Look at host {found.host}: disk, CPU steal, memory, other tenants.")
        yield set_conf(
            "spark.speculation",
            "true",
            "Let Spark start a second copy of a task that runs much longer than its siblings. Only where tasks may run "
            "twice (no side effects outside Spark).",
        )
        return
    if found.kind == "work":
        yield Advice(
            "check",
            "Compare the long task with its siblings in the flame graph of this stage: the frames that it alone has "
            "are what its rows cost.",
        )
        return
    join, aggregate, group = (place.operator(names) for names in (SHUFFLED_JOINS, AGGREGATES, GROUPS))
    if group is not None:
        key = place.shuffled_by or "its key"
        yield Advice(
            "code",
            f"{group.name} needs all rows of one {key} in one task, and adaptive execution cannot split them: "
            f"partition by more columns (such as {key} and day) where the result allows it, or by ranges that overlap "
            "by the window's length.",
        )
        yield Advice("code", f"Or take the hottest {key} out and handle it by itself, beside the others.")
    elif join is not None:
        yield from _split_by_adaptive_execution(run, found, join.detail)
        keys = f" ({join.keys})" if join.keys else ""
        yield Advice(
            "code",
            f"If one side of the join{keys} is small, broadcast it: `df.join(broadcast(small), …)` reads the "
            "large side without a shuffle, so no partition can be skewed.",
        )
    elif aggregate is not None:
        salts = max(2, min(1000, math.ceil(found.data_ratio)))
        keys = f" by {aggregate.keys}" if aggregate.keys else ""
        yield Advice(
            "code",
            f"Aggregate{keys} in two steps: first by the key and a random salt of {salts} values, then by the key "
            "alone. Adaptive execution splits skewed joins, not aggregations.",
        )
        yield Advice("code", "Or take the hot key (often null or a default value) out and handle it by itself.")
    elif place.where.sql is None:
        yield Advice(
            "code",
            "Combine values before the shuffle: reduceByKey or aggregateByKey in place of groupByKey, or salt the hot "
            "key, so that no single task has to take all of its records.",
        )
    else:
        yield Advice(
            "code",
            "Spread the rows before this step: `repartition` by a column with many values, or by the key and a salt. A "
            "file that cannot be split (gzip) has to be written anew in a splittable format.",
        )


def _split_by_adaptive_execution(run: Run, found: Straggler, join: str) -> Iterator[Advice]:
    """The settings that let adaptive execution split this very partition.

    It splits a partition that is larger than `skewedPartitionFactor` times the median and than
    `skewedPartitionThresholdInBytes`, into pieces of `advisoryPartitionSizeInBytes` (Spark's OptimizeSkewedJoin).
    """
    was_on = is_on(run, _ENABLED, default=version(run) >= (3, 2) or version(run) == (0, 0))
    was_on = was_on and is_on(run, _SPLITS, default=True)
    if not is_on(run, _ENABLED, default=version(run) >= (3, 2) or version(run) == (0, 0)):
        yield set_conf(_ENABLED, "true", "Adaptive execution was off; it splits skewed partitions of a join.")
    if not is_on(run, _SPLITS, default=True):
        yield set_conf(_SPLITS, "true", "The splitting of skewed joins was switched off.")
    size = float(found.tasks.shuffle_read_bytes()[found.longest])
    ratio = size / max(found.median_bytes, 1.0)
    whole = version(run) < (3, 4)  # until then the factor is a whole number
    least = math.ceil(_LEAST_FACTOR) if whole else _LEAST_FACTOR
    if ratio <= least:
        return  # it has no more bytes than the others: no limit would set it apart
    threshold = bytes_setting(run, _THRESHOLD, "256m")
    factor = number_setting(run, _FACTOR, 5.0)
    advisory = bytes_setting(run, _ADVISORY, "64m")
    if 2 * MIB <= size <= threshold:
        value = memory_words(math.floor(size / 2 / MIB) * MIB)
        yield set_conf(
            _THRESHOLD,
            value,
            f"The skewed partition has {format_bytes(size)}, below the threshold of {format_bytes(threshold)}, so it "
            "was left whole.",
        )
    if ratio <= factor:
        value = f"{max(least, math.floor(ratio / 2) if whole else math.floor(ratio * 5) / 10):g}"
        yield set_conf(
            _FACTOR,
            value,
            f"The skewed partition is {ratio:.1f}× the median partition, below the factor of {factor:g}.",
        )
    if was_on and size > threshold and ratio > factor:
        yield from _left_whole(run, join, size)
    elif 2 * MIB <= size < 2 * advisory:
        value = memory_words(max(MIB, math.floor(size / 8 / MIB) * MIB))
        yield set_conf(
            _ADVISORY,
            value,
            f"A skewed partition is split into pieces of this size; {format_bytes(advisory)} would leave "
            f"{format_bytes(size)} in one or two.",
        )


def _left_whole(run: Run, join: str, size: float) -> Iterator[Advice]:
    """Why adaptive execution left a partition whole that is above its limits (Spark's OptimizeSkewedJoin)."""
    if "FullOuter" in join:
        yield Advice(
            "code",
            f"Adaptive execution was on, and this partition of {format_bytes(size)} is above its limits, but it can "
            "split neither side of a full outer join: join the hot key by itself, and union the results.",
        )
    elif "Outer" in join or "Anti" in join or "Semi" in join:
        yield Advice(
            "check",
            f"Adaptive execution was on, and this partition of {format_bytes(size)} is above its limits: of an outer, "
            "semi or anti join it splits only the side whose rows are all kept. If the hot key is on the other side, "
            "take it out and join it by itself.",
        )
    elif version(run) >= (3, 3) and not is_on(run, _FORCE, default=False):
        yield set_conf(
            _FORCE,
            "true",
            f"Adaptive execution was on, and this partition of {format_bytes(size)} is above its limits, yet it was "
            "left whole: Spark does so where splitting costs one more shuffle later. This lets it split even then.",
        )
