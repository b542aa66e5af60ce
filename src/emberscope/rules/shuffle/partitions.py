"""How many partitions a shuffle should have, and the settings that give it them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.rules.base import Advice, set_conf
from emberscope.rules.settings import MIB, bytes_setting, is_on, memory_words, version
from emberscope.simulate.cores import core_steps
from emberscope.tables.run import once
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.rules.places import Place
    from emberscope.tables.run import Run

TARGET_BYTES: Final = 128 * MIB
"""What a shuffle partition should hold (RAPIDS tools and others aim at 128 MB)."""

PARTITIONS: Final = "spark.sql.shuffle.partitions"
MOST_PARTITIONS: Final = 200_000
"""So many partitions a shuffle may be advised to have: the driver keeps account of each (our proposal)."""

ADVISORY: Final = "spark.sql.adaptive.advisoryPartitionSizeInBytes"
# A shuffle into a number of partitions that the program gives.
_FIXED: Final = re.compile(r"REPARTITION_(BY|WITH)_NUM|RoundRobinPartitioning")
_PARALLEL: Final = "spark.sql.adaptive.coalescePartitions.parallelismFirst"


def most_cores(run: Run) -> int:
    """The most cores that the executors had at one time; 0 where no executor is known."""
    steps = core_steps(run)
    return 0 if steps is None else int(steps[1].max(initial=0))


def in_whole_waves(count: int, cores: int) -> int:
    """So many partitions or a few more, so that the last wave of tasks fills all cores."""
    return count if cores <= 0 or count <= cores else math.ceil(count / cores) * cores


def coalesces(run: Run) -> bool:
    """Whether adaptive execution merges small shuffle partitions in this run."""
    adaptive = is_on(run, "spark.sql.adaptive.enabled", default=version(run) >= (3, 2))
    return adaptive and is_on(run, "spark.sql.adaptive.coalescePartitions.enabled", default=True)


@once
def _row_shuffles(run: Run) -> frozenset[int]:
    """Stages that read a shuffle of Spark SQL, whether or not the log names their execution."""
    stages = run.tables.get("stages")
    if stages is None:
        return frozenset()
    pairs = zip(stages["stage_id"].to_pylist(), stages["rdd_names"].to_pylist(), strict=True)
    return frozenset(stage for stage, names in pairs if "ShuffledRowRDD" in (names or ()))


def _in_program(run: Run, place: Place) -> str | None:
    """The call of the program that gives the number of partitions; None where a setting gives it."""
    exchange = place.operator(("Exchange", "TungstenExchange", "ShuffleExchange"))
    if exchange is not None and _FIXED.search(exchange.detail):
        return "`.repartition({})` in the program"
    if place.where.sql is None and place.where.stage not in _row_shuffles(run):
        return "{} partitions for the shuffle (its numPartitions argument)"
    return None


def more_partitions(run: Run, place: Place, count: int, partition_bytes: float) -> Iterator[Advice]:
    """The change that cuts the shuffle into `count` partitions of so many bytes."""
    facts = f"{count} partitions hold {format_bytes(partition_bytes)} each."
    if count > MOST_PARTITIONS:
        yield Advice(
            "code",
            f"Send less through this shuffle: filter rows, select columns and aggregate before it. "
            f"{count:,} partitions would hold {format_bytes(partition_bytes)} each, more than a driver can look after.",
        )
        return
    call = _in_program(run, place)
    if call is not None:
        yield Advice("code", f"Ask for {call.format(count)}: no setting changes it. {facts}")
        return
    yield set_conf(PARTITIONS, count, facts)
    if coalesces(run):
        advisory = bytes_setting(run, ADVISORY, "64m")
        if advisory > partition_bytes:
            yield set_conf(
                ADVISORY,
                memory_words(max(MIB, math.ceil(partition_bytes / MIB) * MIB)),
                f"Else adaptive execution merges the smaller partitions again, up to {format_bytes(advisory)}.",
            )


def fewer_partitions(run: Run, place: Place, now: int, wanted: int) -> Iterator[Advice]:
    """The change that leaves `wanted` partitions of the `now` that there are, but enough for all cores."""
    count = in_whole_waves(max(wanted, most_cores(run), 1), most_cores(run))
    if count >= now:
        return
    call = _in_program(run, place)
    if call is not None:
        yield Advice("code", f"Ask for {call.format(count)}, in place of {now}: no setting changes it.")
        return
    yield set_conf(PARTITIONS, count, f"The stage had {now} partitions; {count} still keep every core busy.")
    if coalesces(run) and is_on(run, _PARALLEL, default=True) and version(run) >= (3, 2):
        yield set_conf(
            _PARALLEL,
            "false",
            "Adaptive execution keeps partitions small for the sake of parallelism, and does not heed its advisory "
            "size, unless this is off.",
        )
