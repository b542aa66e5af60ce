"""The small side of a join is shuffled instead of broadcast.

## What it means
Spark sends the small side of a join to every executor where it believes that it is small enough, by statistics of the
files or by what AQE measured. Where it does not, both sides are shuffled and sorted, the large one too.

## What it costs
A shuffle of the large side: all of it is written to disk, sent over the network and sorted.

## What to do
Hint the small side with broadcast(), or raise spark.sql.autoBroadcastJoinThreshold above its size in memory.

## When to ignore it
When the small side does not fit into the memory of the driver and of every executor (a few hundred MB, at most 8 GB).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.rules.complaints.vocabulary import SLOW
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


TOLD_BROADCAST_JOIN: Final = Signature(
    name="told-broadcast-join",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\bjoin",
            r"\b(small|tiny|little|dimension|lookup|reference)(er)?\b.{0,30}\b(table|side|df|data ?frame|"
            r"data ?set|dimension|one)|\bdimension\b|\b\d+ ?(kb|mb|rows|records)\b",
            r"sort.?merge|broadcast|shuffl|" + SLOW,
        ),
        (
            r"broadcast(ing|ed)? (hash )?join|autoBroadcastJoin|broadcast hint|hint.{0,20}broadcast",
            r"not|n't|never|ignor|instead|why|how|still|force|when|should|threshold",
        ),
        (
            r"sort.?merge.?join",
            r"instead|avoid|why|small|prefer|how|" + SLOW,
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_BROADCAST_JOIN.name)
    if rows:
        yield answer(
            rows,
            title="The small side of the join can be broadcast, so that the large one need not be shuffled",
            summary="A join whose one side fits into memory goes without a shuffle: that side is sent to "
            "every executor. Spark does so by itself only below spark.sql.autoBroadcastJoinThreshold "
            "(10 MB, by its estimate of the size in memory), and not for the outer side of an outer "
            "join. Taken for granted: one side is a few hundred MB at most.",
            advice=(
                Advice(
                    "code",
                    "Say broadcast(small_df) in the join, or /*+ BROADCAST(t) */ in SQL.",
                ),
                set_conf(
                    "spark.sql.autoBroadcastJoinThreshold",
                    "100m",
                    "Above the small side's size in memory, several times that of its compressed files; "
                    "-1 switches it off.",
                ),
                Advice(
                    "code",
                    "ANALYZE TABLE t COMPUTE STATISTICS, where the estimate of a table is wrong; both "
                    "sides large: bucket them by the key, or shuffle_hash.",
                ),
            ),
            confirm="The event log of the run tells the plan of the join and the size of each side.",
        )


RULE = Rule(
    code="W23",
    name="told-broadcast-join",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_BROADCAST_JOIN,),
)
