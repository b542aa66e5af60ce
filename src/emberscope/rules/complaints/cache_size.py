"""What is cached does not fit, or is not worth its place.

## What it means
Blocks that do not fit are thrown out and computed again (MEMORY_ONLY), or written to disk; cached rows take several
times the size of their files, and take memory from joins and sorts.

## What it costs
What was evicted is computed again at each use; sorts and joins spill in the memory that is left, and the heap is
collected more often.

## What to do
Cache only what is used again, after filters and with few columns; let go of it afterwards.

## When to ignore it
When what is evicted takes a few seconds to compute again, or when it is used only once more and never after.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.rules.complaints.vocabulary import SLOW
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


TOLD_CACHE_SIZE: Final = Signature(
    name="told-cache-size",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\b(cach(e|ed|ing)|persist(ed|ing)?)\b",
            SLOW + r"|memory|evict|oom|fit|bigger|larger than|disk|no (effect|difference|improvement)|not (help|"
            r"work|fully)|fraction cached|too (big|large)|worse|when (should|to)",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_CACHE_SIZE.name)
    if rows:
        yield answer(
            rows,
            title="What is cached does not fit into memory, or costs more than computing it again",
            summary="Cached rows take several times the size of their Parquet files; what does not fit is "
            "evicted and computed again, or goes to disk, and joins and sorts are left with less "
            "memory. cache() itself does nothing until an action runs, and it keeps the optimizer "
            "from pushing filters below it.",
            advice=(
                Advice(
                    "code",
                    "Cache after filters and with the columns needed only, what is used at least twice; "
                    "unpersist() it when it is done. Else leave cache out: reading Parquet again is often"
                    " faster.",
                ),
                Advice(
                    "code",
                    "persist(StorageLevel.MEMORY_AND_DISK) (RDD.cache() keeps memory only), or "
                    "MEMORY_AND_DISK_SER; a large one used by several jobs: write it as a table once.",
                ),
                Advice(
                    "code",
                    "See the Storage page: Fraction Cached below 100 % means that the rest is computed "
                    "again at each use.",
                ),
            ),
            confirm="The event log tells what was cached, how much was evicted and what was computed again.",
        )


RULE = Rule(
    code="W34",
    name="told-cache-size",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_CACHE_SIZE,),
)
