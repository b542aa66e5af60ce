"""Connections or clients were made for each row or each small piece of work.

## What it means
A client of a service (a database, HTTP, S3, Kafka, Redis and so on) opens connections, starts threads, reads
credentials and agrees on encryption when it is made: that takes milliseconds to seconds. Made inside of a function that
runs for each row, it can be most of the job, and the service sees a storm of connections.

## What it costs
An upper bound: CPU time, time in native code and waits for locks of these stacks, taken off the tasks before the
schedule is replayed. Waits for the network are in it only as far as samples of threads in native code or of the wall
clock show them.

## What to do
Make one client for each executor (a lazy val in a Scala object, a static holder in Java), or one for each partition
(mapPartitions, foreachPartition) and close it at the partition's end. Use a pool where threads must not share a client,
and send rows in batches.

## When to ignore it
When it is made once for each partition already, partitions are few, and the service needs a connection for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import CLIENTS_PER_ROW

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "opening connections and clients",
        0.9,
        "the making taken off, as where each executor makes its client once.",
        _advice,
    )
    return findings(run, CLIENTS_PER_ROW.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Make the client once for each executor or partition, not in {asker(spots)}: a lazy val of an object, or "
        "mapPartitions and foreachPartition; send rows in batches.",
    )


RULE = Rule(
    code=CLIENTS_PER_ROW.code, name="clients-made-per-row", since="0.1", reads=READS, limits=Limits(), check=check
)
