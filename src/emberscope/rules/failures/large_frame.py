"""A shuffle or cached block is larger than 2 GB, and a reader could not take it.

## What it means
A block that is read over the network in one piece may have 2^31 - 1 bytes: "Too large frame" gives the size that was
found. A shuffle block is what one map task wrote for one reducer, so one of that size means few partitions or one key
with most of the rows. Larger blocks are read in a stream to disk where `spark.network.maxRemoteBlockSizeFetchToMem` is
below 2 GB. A frame of an absurd size (5135603447292250188 is how an HTTP request reads as a length) is no block at all:
something else spoke to that port, or the two sides do not agree on encryption.

## What it costs
The reading stage fails as often as it is tried, each time after all of its waiting, and the job with it.

## What to do
Use more shuffle partitions, or mend the skew where one key has most of the rows; and let large blocks be read in a
stream to disk.

## When to ignore it
When it came once, from a scan of ports or a health check that spoke HTTP, and no task failed with it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, consequence_of, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.rules.settings import number_setting, version
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

LARGE_FRAME: Final = Signature(
    name="too-large-frame",
    pattern=r"Too large frame: (?P<size>-?\d+)|Size exceeds Integer\.MAX_VALUE|"
    r"(?P<rpc>Adjusted frame length exceeds (?P<most>\d+): (?P<adjusted>\d+))",
    literals=("Too large frame", "Size exceeds Integer.MAX_VALUE", "Adjusted frame length exceeds"),
    words=((r"too large frame",), (r"2 ?gi?b", r"shuffle block|block (size|limit)")),
)
_TARGET_BYTES: Final = 200 << 20  # of one partition's block (our proposal: Spark's own bound for reading to memory)
_ABSURD: Final = 1 << 40  # larger than any block: bytes of another protocol read as a length


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, LARGE_FRAME.name)
    blocks = tuple(row for row in rows if not _is_foreign(_size(row)))
    if blocks:
        yield _block(run, blocks)
    foreign = tuple(row for row in rows if _is_foreign(_size(row)))
    if foreign:
        yield _foreign(run, foreign)


def _size(row: Said) -> int | None:
    found = groups_of(row, LARGE_FRAME)
    size = found.get("size") or found.get("adjusted")
    return int(size) if size else None


def _is_foreign(size: int | None) -> bool:
    return size is not None and (size < 0 or size >= _ABSURD)


def _block(run: Run, rows: tuple[Said, ...]) -> Finding:
    size = max((size for row in rows if (size := _size(row)) is not None), default=None)
    of = f" of {format_bytes(size)} ({size:,} bytes)" if size else ""
    return failure(
        run,
        rows,
        title=f"A block{of} is above the 2 GB that can be read in one piece",
        summary="What one map task wrote for one reducer is too large to be fetched in memory: skew (one key has most "
        "of the rows) or too few shuffle partitions. It fails each time that it is tried.",
        advice=_advice(run, size),
        confidence=0.95,
        # The reader's warning is all that an executor's log has of a task that failed.
        consequence="ended" if consequence_of(run, rows) == "ended" else "lost",
    )


def _advice(run: Run, size: int | None) -> Iterator[Advice]:
    partitions = int(number_setting(run, "spark.sql.shuffle.partitions", 200))
    factor = math.ceil((size or 1 << 31) / _TARGET_BYTES)
    known = run.setting("spark.sql.shuffle.partitions") is not None
    yield set_conf(
        "spark.sql.shuffle.partitions",
        min(20_000, partitions * factor),
        f"{factor} times the {partitions} {'of now' if known else 'of default'}, so that such a block has about "
        f"{format_bytes(_TARGET_BYTES)}; for RDDs, repartition. One hot key needs salting or a skew join instead.",
    )
    now = version(run)
    key = (
        "spark.maxRemoteBlockSizeFetchToMem" if (2, 3) <= now < (3, 0) else "spark.network.maxRemoteBlockSizeFetchToMem"
    )
    if now == (0, 0) or now >= (2, 3):
        yield set_conf(key, "200m", "Blocks above it are streamed to disk (Spark 2.3+, where it was 2g or more).")


def _foreign(run: Run, rows: tuple[Said, ...]) -> Finding:
    return failure(
        run,
        rows,
        title="Something that is no Spark spoke to a port of Spark's, or both sides differ in encryption",
        summary="The length of the frame that was announced is no length but the first letters of another protocol "
        "(HTTP, TLS, a scan of ports), or encrypted bytes read as plain ones. No block is that large.",
        advice=(
            Advice(
                "check",
                "Look who connects to that port: a browser, health check or scanner; or whether spark.authenticate and "
                "encryption are alike for executors and the shuffle service.",
            ),
        ),
        confidence=0.8,
        consequence="hint",
    )


RULE = Rule(
    code="K63",
    name="too-large-frame",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(LARGE_FRAME,),
)
