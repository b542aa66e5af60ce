"""How a stage gets another number of tasks: by the setting or the code that decides it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.rules.base import Advice, set_conf
from emberscope.rules.call_sites import call_site, line_of
from emberscope.rules.places import Place
from emberscope.rules.settings import MIB, bytes_setting, is_on, memory_words, version
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.rules.time.stage_scope import Scope
    from emberscope.tables.run import Run

_ADAPTIVE: Final = "spark.sql.adaptive.enabled"
_COALESCES: Final = "spark.sql.adaptive.coalescePartitions.enabled"
_SHUFFLE: Final = "spark.sql.shuffle.partitions"
_ADVISORY: Final = "spark.sql.adaptive.advisoryPartitionSizeInBytes"
_SMALLEST: Final = "spark.sql.adaptive.coalescePartitions.minPartitionSize"
_FILES: Final = "spark.sql.files.maxPartitionBytes"
_FILES_DEFAULT: Final = "128m"
_READERS: Final = ("AQEShuffleRead", "CustomShuffleReader")


def is_adaptive(run: Run) -> bool:
    """Whether adaptive execution was on; Spark's default where nothing was set."""
    return is_on(run, _ADAPTIVE, default=version(run) >= (3, 2) or version(run) == (0, 0))


def users_line(place: Place) -> str:
    """`count at daily.py:23`, or nothing where the call site is none of the user's."""
    site = call_site((place.call_site,), None)
    return site if line_of(site) else ""


def was_coalesced(place: Place) -> bool:
    """Whether adaptive execution merged the shuffle partitions that the stage reads."""
    return any(operator.name in _READERS and "coalesced" in operator.detail for operator in place.operators)


def by_number(place: Place) -> bool:
    """Whether the program itself gave the number of partitions (`repartition(n)`)."""
    return any(
        operator.name == "Exchange" and re.search(r"REPARTITION(_BY)?_(WITH_)?NUM", operator.detail)
        for operator in place.operators
    )


def more_partitions(run: Run, scope: Scope, count: int) -> Iterator[Advice]:
    """Advice to cut the work of the stage into `count` tasks."""
    place, now = scope.place, f"It had {scope.task_count} task{'' if scope.task_count == 1 else 's'}"
    all_busy = f"{count} keep all of them busy" if count >= scope.slots else f"it has no more than {count} rows"
    why = f"{now} for {scope.slots} slots; {all_busy}."
    if scope.shuffle_read_bytes > 0 and place.where.sql is not None:
        if by_number(place):
            yield Advice("code", f"Ask for {count} partitions where the program says `repartition(n)`. {why}")
        elif was_coalesced(place):
            each: float = max(1024, math.floor(scope.shuffle_read_bytes / count))
            size = memory_words(each) if each >= MIB else f"{round(each) // 1024}k"
            yield set_conf(
                _ADVISORY,
                size,
                f"Adaptive execution merged small partitions although their rows take long; this size leaves {count} "
                f"of them ({format_bytes(scope.shuffle_read_bytes)} were read).",
            )
            if each < bytes_setting(run, _SMALLEST, "1m"):
                yield set_conf(_SMALLEST, size, "Else partitions are merged up to this size all the same.")
        else:
            yield set_conf(_SHUFFLE, count, why)
            if is_adaptive(run) and is_on(run, _COALESCES, default=True):
                yield Advice(
                    "check",
                    "See in the plan whether adaptive execution merges them again (AQEShuffleRead coalesced): it goes "
                    "by bytes and does not know what a row costs.",
                )
    elif scope.total("input_bytes") > 0 and place.where.sql is not None:
        each = max(MIB, scope.total("input_bytes") / count)
        if each < bytes_setting(run, _FILES, _FILES_DEFAULT):
            yield set_conf(
                _FILES, memory_words(each), f"{why} It read {format_bytes(scope.total('input_bytes'))} from files."
            )
        yield Advice(
            "code",
            f"If the files cannot be split (gzip, one JSON document): `repartition({count})` right after reading, or "
            "write them anew in a format that can be split (Parquet).",
        )
    elif place.where.sql is not None:
        yield Advice("code", f"Add `repartition({count})` before the costly step{_at(place)}. {why}")
    else:
        what = "numPartitions of the shuffle" if scope.shuffle_read_bytes > 0 else "numSlices or minPartitions"
        yield Advice("code", f"Ask for {count} partitions{_at(place)}: {what}, or `repartition({count})`. {why}")


def fewer_partitions(run: Run, scope: Scope, count: int) -> Iterator[Advice]:
    """Advice to let `count` tasks do what the stage's many did."""
    place, why = scope.place, f"It had {scope.task_count:,} tasks for {scope.slots} slots; {count} do the same work."
    if scope.shuffle_read_bytes > 0 and place.where.sql is not None:
        if by_number(place):
            yield Advice("code", f"Ask for {count} partitions where the program says `repartition(n)`. {why}")
            return
        if not is_adaptive(run):
            yield set_conf(_ADAPTIVE, "true", "Adaptive execution merges small partitions by itself; it was off.")
        elif not is_on(run, _COALESCES, default=True):
            yield set_conf(_COALESCES, "true", "The merging of small partitions was switched off.")
        yield set_conf(_SHUFFLE, count, why)
    elif scope.total("input_bytes") > 0 and place.where.sql is not None:
        each = max(4 * MIB, scope.total("input_bytes") / count)
        if each > bytes_setting(run, _FILES, _FILES_DEFAULT):
            yield set_conf(
                _FILES, memory_words(each), f"{why} It read {format_bytes(scope.total('input_bytes'))} from files."
            )
        yield Advice(
            "code",
            f"Where each task reads one small file, write the table anew in fewer and larger files, or add "
            f"`coalesce({count})` after reading.",
        )
    else:
        yield Advice(
            "code", f"Ask for {count} partitions{_at(place)}: where the rows are made, or by `coalesce({count})`. {why}"
        )


def _at(place: Place) -> str:
    return f" ({line})" if (line := users_line(place)) else ""
