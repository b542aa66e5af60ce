"""A broadcast join failed: its table is too large, or did not come in time.

## What it means
A broadcast join collects one side in the driver, makes a hash table of it and sends that to every executor. Spark gives
up where that takes longer than `spark.sql.broadcastTimeout` (300 s), where the table has more than 8 GiB or 512 million
rows, which no setting changes, or where a heap has no room for it. Mostly Spark believed the table smaller than it is
(statistics of files are compressed sizes), or a `broadcast` hint said so.

## What it costs
The query fails after the table was made, often after minutes in which only the driver worked.

## What to do
Take the hint away, or set `spark.sql.autoBroadcastJoinThreshold` to -1 so that the join shuffles. Where the table is
small and only its computation is slow, a longer timeout is right, or computing it first. Adaptive execution chooses by
the size that was measured.

## When to ignore it
When the query was run again and passed since the cluster was less busy: then a longer timeout is all it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.aborted import followed
from emberscope.rules.failures.ending import Limits, failure, groups_of, is_question
from emberscope.rules.said import Said, said
from emberscope.rules.settings import version
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

BROADCAST: Final = Signature(
    name="broadcast-failed",
    pattern=r"Could not execute broadcast in (?P<seconds>-?\d{1,12}) secs|"
    r"Cannot broadcast the table that is larger than (?P<bytes_limit>[\d.]+ ?\w*?B?): ?(?P<bytes>[\d.]+ ?[KMGT]i?B)|"
    r"Cannot broadcast the table over (?P<rows_limit>\d+) rows: ?(?P<rows>\d{1,18})|"
    r"(?P<driver>Not enough memory to build and broadcast(?: the table)?)|"
    r"(?P<map>[Nn]ot enough memory to build (?:the )?hash map|"
    r"Can'?t acquire \d+ bytes (?:of )?memory to build hash relation)|"
    r"(?P<timeout>\[?BROADCAST_TIMEOUT)|"
    r"Futures timed out after \[(?P<waited>\d{1,9}) seconds\](?=[\s\S]{0,4000}?"
    r"(?:BroadcastHashJoin|BroadcastExchange|BroadcastNestedLoopJoin|executeBroadcast))",
    literals=(
        "Could not execute broadcast in ",
        "Cannot broadcast the table ",
        "Not enough memory to build and broadcast",
        "ot enough memory to build the hash map",
        "ot enough memory to build hash map",
        "memory to build hash relation",
        "BROADCAST_TIMEOUT",
        "Futures timed out after",
    ),
    words=(
        (r"broadcast", r"time(d)? ?-?out|300 ?s"),
        (r"broadcast", r"larger than|too (large|big)|8 ?gi?b|out of memory|\boom\b|not enough memory"),
    ),
)
_THRESHOLD: Final = "spark.sql.autoBroadcastJoinThreshold"
_TIMEOUT: Final = "spark.sql.broadcastTimeout"
_TIMED: Final = re.compile(r"time(d)? ?-?out|300 ?s", re.IGNORECASE)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    groups: dict[str, list[Said]] = {}
    for row in said(run, BROADCAST.name):
        groups.setdefault(_kind(row), []).append(row)
    for kind, rows in groups.items():
        yield failure(
            run,
            rows,
            title=_title(kind, groups_of(rows[0], BROADCAST)),
            summary=_SUMMARIES[kind],
            advice=_advice(run, kind, rows),
            confidence=0.9,
            consequence=followed(run, rows),
        )


def _kind(row: Said) -> str:
    found = groups_of(row, BROADCAST)
    if is_question(row) and not found:
        return "timeout" if _TIMED.search(row.text) else "large"
    for name, kind in (
        ("seconds", "timeout"),
        ("timeout", "timeout"),
        ("waited", "timeout"),
        ("bytes", "large"),
        ("rows", "rows"),
        ("driver", "driver"),
        ("map", "map"),
    ):
        if name in found:
            return kind
    return "large"


def _title(kind: str, found: dict[str, str]) -> str:
    if kind == "timeout":
        seconds = found.get("seconds") or found.get("waited")
        after = f" after {seconds} s" if seconds else ""
        return f"A broadcast join gave up waiting for its table{after} ({_TIMEOUT})"
    if kind == "large":
        size = f": it has {found['bytes']}" if "bytes" in found else ""
        return f"A broadcast join was given a table beyond the hard limit of 8 GB{size}"
    if kind == "rows":
        size = f": it has {int(found['rows']):,}" if "rows" in found else ""
        return f"A broadcast join was given a table of more rows than it can take{size}"
    if kind == "driver":
        return "The driver had no memory for the table of a broadcast join"
    return "An executor had no memory for the hash map of a join whose side was to be small"


_LARGE: Final = (
    "No setting lifts that limit: the table is larger than Spark believed (estimates are compressed sizes and stale "
    "statistics) or a broadcast hint forces it. The join must shuffle."
)
_SUMMARIES: Final = {
    "timeout": f"The side that is broadcast was not collected and built within {_TIMEOUT} (300 s by default): its "
    "query is slow or the cluster busy, or the table is far larger than the join believed.",
    "large": _LARGE,
    "rows": _LARGE,
    "driver": "The driver collects the table, builds the hash relation and keeps both: a table that was thought "
    "small, or that a broadcast hint forces, fills its heap.",
    "map": "A broadcast hash map is built whole in memory: a hint on a large DataFrame (or an estimate that is too "
    "small) makes Spark do that where a shuffle with a sort would spill to disk.",
}


def _advice(run: Run, kind: str, rows: Sequence[Said]) -> Iterator[Advice]:
    if kind == "timeout":
        yield Advice(
            "check",
            "Look how large the broadcast side is (“data size” in the SQL plan): for a large one switch the "
            "broadcast off, "
            "for a small one that is slow to compute wait longer or write it out first.",
        )
        yield set_conf(_THRESHOLD, "-1", "For a large side: the join shuffles. A broadcast hint must go too.")
        groups = groups_of(rows[0], BROADCAST)
        found = groups.get("seconds") or groups.get("waited", "300")
        yield set_conf(_TIMEOUT, 4 * max(300, int(found)), "For a small side alone, in seconds.")
        return
    yield Advice(
        "code",
        "Remove the broadcast hint from this DataFrame, and let adaptive query execution (AQE) choose the join by the "
        "size that it measures.",
    )
    yield set_conf(_THRESHOLD, "-1", "Or a size below that table's: Spark then joins by shuffle.")
    if (0, 0) < version(run) < (3, 2):
        yield set_conf("spark.sql.adaptive.enabled", "true", "It is off by itself before Spark 3.2.")
    if kind == "driver":
        yield Advice("cluster", "Or give the driver more memory (spark.driver.memory), where the table must be sent.")


RULE = Rule(
    code="K7",
    name="broadcast-failed",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(BROADCAST,),
)
