"""Kryo's buffer was too small for one object.

## What it means
Kryo writes an object into a buffer that grows up to `spark.kryoserializer.buffer.max` (64 MiB by default). One object
that needs more, a large array, a map, a whole partition that is collected as one, or a broadcast value, overflows it.
The limit is on a single object, not on all of them.

## What it costs
The task fails on each attempt, since the same object is too large each time, and the job after the fourth.

## What to do
Raise `spark.kryoserializer.buffer.max`; Spark refuses 2048m and more, since a Java array cannot be larger. An object
near that has to be made smaller: more partitions, fewer rows in one collection.

## When to ignore it
When the job was run again with a larger buffer and passed, and its objects do not grow with its input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.aborted import followed
from emberscope.rules.failures.ending import Limits, failure, groups_of
from emberscope.rules.said import said
from emberscope.rules.settings import MIB, bytes_setting
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

KRYO: Final = Signature(
    name="kryo-buffer",
    pattern=r"Kryo serialization failed: Buffer overflow|KRYO_BUFFER_OVERFLOW|KryoException: Buffer overflow|"
    r"(?P<refused>spark\.kryoserializer\.buffer\.max must be less than 2048)",
    literals=(
        "Kryo serialization failed: Buffer overflow",
        "KRYO_BUFFER_OVERFLOW",
        "KryoException: Buffer overflow",
        "kryoserializer.buffer.max must be less than",
    ),
    words=((r"kryo", r"overflow|too small|buffer"),),
)
_REQUIRED: Final = re.compile(r"[Aa]vailable: (\d+), required: (\d{1,18})")
_KEY: Final = "spark.kryoserializer.buffer.max"
_DEFAULT_MIB, _MOST_MIB, _USUAL_MIB = 64, 2047, 512
_TAKEN: Final = re.compile(r"broadcast|Broadcast")


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, KRYO.name)
    if not rows:
        return
    refused = "refused" in groups_of(rows[0], KRYO)
    now = bytes_setting(run, _KEY, f"{_DEFAULT_MIB}m", unit="m") // MIB
    required = max((int(found[2]) for row in rows for found in _REQUIRED.finditer(row.text)), default=0)
    value = min(_MOST_MIB, max(_USUAL_MIB, 2 * now, -(-2 * required // MIB)))
    known = run.setting(_KEY) is not None
    title = (
        f"{_KEY} is refused: it must be below 2048m"
        if refused
        else f"Kryo's buffer overflowed: one object did not fit into {_KEY}" + (f" ({now}m)" if known else "")
    )
    asked = f" The last piece alone asked for {format_bytes(required)} more." if required >= MIB else ""
    what = " It was being broadcast." if any(_TAKEN.search(row.text) for row in rows) else ""
    yield failure(
        run,
        rows,
        title=title,
        summary=f"Kryo serializes each object into one buffer that grows up to {_KEY} (64m by default, below 2048m, "
        "the largest Java array); this object is larger, so every attempt fails "
        f"alike.{asked}{what}",
        advice=_advice(now, value, refused),
        confidence=0.95,
        consequence="ended" if refused else followed(run, rows),
    )


def _advice(now: int, value: int, refused: bool) -> Iterator[Advice]:
    if refused or now < _MOST_MIB:
        yield set_conf(_KEY, f"{_MOST_MIB if refused else value}m", "Memory is only taken where an object needs it.")
    yield Advice(
        "code",
        "Make the object smaller where that is not enough: more partitions, fewer rows in one array or map, a "
        "broadcast or a collected result that is less than the whole table.",
    )


RULE = Rule(
    code="K9",
    name="kryo-buffer",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(KRYO,),
)
