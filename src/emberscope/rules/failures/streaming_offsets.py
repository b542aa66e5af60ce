"""A stream asked its source for data that is gone: offsets in the checkpoint are older than what Kafka still has.

## What it means
A streaming query goes on where its checkpoint says. Kafka deletes what is older than its retention, whether it was read
or not. Where the query stood still for longer, or the topic was deleted and made again, the next offset is not there
any more, and by default the query ends rather than skip data without a word.

## What it costs
The records between the last offset that was read and the first that Kafka still has are lost to this query, whatever is
set; every start fails again until that is acknowledged.

## What to do
Find out how long the query stood still and from where the data can be had again. Then let it skip, once, with
`failOnDataLoss` false, or start with a new checkpoint. Give the topic a retention longer than the longest outage.

## When to ignore it
When the topic was made anew on purpose, or a test truncated it, and nobody misses the records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

STREAMING_OFFSETS: Final = Signature(
    name="streaming-offsets",
    pattern=r"Cannot fetch (?:offset|record for offset|records? in \[)[ ]?(?P<offset>\d+)"
    r"(?:[\s\S]{0,200}?TopicPartition: (?P<partition>[^\s)]+))?|"
    r"Partition (?P<moved>\S+?)'s offset was changed from (?P<from>\d+) to (?P<to>\d+)|"
    r"(?P<lost>KAFKA_DATA_LOSS|not available in Kafka any ?more|data may have been (?:lost|missed))|"
    r"Offsets? out of range with no configured reset policy|(?P<range>OffsetOutOfRangeException)|"
    r"(?P<gone>Topic-?partitions? [^\n]{0,200}(?:gone|are gone))",
    literals=(
        "Cannot fetch offset",
        "Cannot fetch record",
        "offset was changed from",
        "KAFKA_DATA_LOSS",
        "not available in Kafka any",
        "data may have been",
        "out of range with no configured reset policy",
        "OffsetOutOfRangeException",
    ),
    words=(
        (r"failOnDataLoss",),
        (
            r"kafka",
            r"get rid of|gets rid|delete[sd]?|expire[sd]?|retention|purge[sd]?|aged out",
            r"missing data|not been (fetched|read|consumed|processed)|not (yet )?(fetched|read)|data loss|lost",
        ),
        (
            r"offset",
            r"out ?of ?range|no longer available|not available|aged out|retention|data (loss|may have been lost)",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, STREAMING_OFFSETS.name)
    if rows:
        yield _gone(run, rows)


def _gone(run: Run, rows: tuple[Said, ...]) -> Finding:
    found: dict[str, str] = {}
    for row in rows:
        found = {**groups_of(row, STREAMING_OFFSETS), **found}
    partition = found.get("partition") or found.get("moved")
    of = f" of {partition}" if partition else ""
    advice = [
        Advice(
            "check",
            "Find how long the query stood still against retention.ms of the topic, and where the records can be had "
            "again.",
        ),
        Advice(
            "code",
            "To go on without them, knowingly: option failOnDataLoss=false on the source (or a new checkpoint and "
            "startingOffsets); set it back afterwards.",
        ),
        Advice("cluster", "Give the topic a retention longer than the longest outage of the query, and watch its lag."),
    ]
    if "from" in found and "to" in found and int(found["to"]) < int(found["from"]):
        title = f"Kafka's offsets{of} went back from {found['from']} to {found['to']}: the topic was made anew"
        mechanism = "A topic that was deleted and made again begins at offset 0, before the offset in the checkpoint."
    elif "offset" in found:
        title = f"Kafka no longer has offset {found['offset']}{of}: data was deleted before the stream read it"
        mechanism = "The query stood still for longer than the topic's retention, so that records aged out unread."
    else:
        title = f"Kafka no longer has the data{of} at which the stream is to go on"
        mechanism = "Records aged out by retention, or were deleted with their topic, before the query read them."
    return failure(
        run,
        rows,
        title=title,
        summary=f"{mechanism} The source ends the query so that the loss is not silent (failOnDataLoss is true by "
        "default).",
        advice=advice,
        consequence="lost" if all(row.level in ("WARN", "INFO") for row in rows) else None,
    )


RULE = Rule(
    code="K47",
    name="streaming-offsets",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(STREAMING_OFFSETS,),
)
