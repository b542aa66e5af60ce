"""There are far more shuffle partitions than the data needs: tasks of milliseconds.

## What it means
Each partition of a shuffle is a task. Starting one, sending it and noting its end takes some milliseconds and the
driver's attention, however few rows it has. Below a few megabytes the overhead is more than the work.

## What it costs
Overhead for every task, many small blocks for each reader to fetch, and small files where they are written.

## What to do
Let adaptive execution join small partitions together, or set the number for the data: its size over 128 MiB, and no
less than one for each core.

## When to ignore it
When the same setting serves larger inputs too and adaptive execution is on: it joins partitions by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer, cores, shuffle_partitions, sizes
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TOLD_SMALL_PARTITIONS: Final = Signature(
    name="told-small-partitions",
    pattern=r"(?P<said>[Tt]oo many (?:shuffle |small )?partitions)",
    literals=("oo many partitions", "oo many shuffle partitions", "oo many small partitions"),
    words=(
        (r"shuffle[._ ]?partitions?", r"tiny|small|\bms\b|milliseconds|too (many|high)|empty|\d+ ?kb|overhead"),
        (r"(thousands|many|lots|hundreds) of (tiny|small|short|empty) (tasks|partitions)",),
        (r"too many (shuffle )?(partitions|tasks)",),
        (
            r"\b(thousands|many|lots|hundreds|millions|\d{4,}k?|\d+,\d{3})\b (of )?(\w+ ){0,2}(tasks|partitions)\b",
            r"\b(each|per task|every|task|they|that|which)\b.{0,30}\b(\d+ ?(ms|milli\w+)|under a second"
            r"|less than (a|1|one) second|short|tiny|small)|scheduler delay|task overhead",
        ),
        (
            r"\b\d{3,} (\w+ )?(tasks|partitions)\b",
            r"\b(a few|few|\d{1,3}) (records|rows|messages|events)\b|(less than|under) a? ?(kb|mb)\b",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, TOLD_SMALL_PARTITIONS.name)
    if rows:
        yield _small(rows, limits)


def _small(rows: tuple[Said, ...], limits: Limits) -> Finding:
    text = rows[0].text
    named = sizes(text)
    data = max(named) if named else None
    now, slots = shuffle_partitions(text), cores(text)
    figures = f" for {format_bytes(data)}" if data else ""
    each = f": {format_bytes(data / now)} each" if data and now else ""
    many = f"{now:,} shuffle partitions are" if now else "Shuffle partitions are"
    return answer(
        rows,
        title=f"{many} too many{figures}{each}",
        summary="Partitions this small make tasks of milliseconds, whose start and bookkeeping cost more than their "
        "work. About one for each core, or one for 128 MiB of shuffled data where that is more, is plenty.",
        advice=_advice(text, limits, data, now, slots),
        confirm="An event log of the run gives the bytes and the time of each task, and what fewer would save.",
        confidence=0.7,
    )


def _advice(text: str, limits: Limits, data: int | None, now: int | None, slots: int | None) -> Iterator[Advice]:
    yield set_conf(
        "spark.sql.adaptive.coalescePartitions.enabled", "true", "AQE joins small partitions by itself (Spark 3)."
    )
    if "hudi" in text.lower() or "hoodie" in text.lower():
        yield Advice(
            "code",
            "For Hudi lower hoodie.upsert.shuffle.parallelism (and insert, bulkinsert): 1500 before Hudi 0.13.",
        )
    fewer = max(slots or 1, -(-(data or 0) // limits.aim_bytes))
    if (data or slots) and (now is None or fewer < now):
        yield set_conf(
            "spark.sql.shuffle.partitions", fewer, "From the numbers given: one for each core or for 128 MiB."
        )


RULE = Rule(
    code="W2",
    name="told-small-partitions",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_SMALL_PARTITIONS,),
)
