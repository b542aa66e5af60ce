"""Two writers changed one table at the same time, and the second one's commit was refused.

## What it means
Delta, Iceberg and Hudi commit by optimistic concurrency: a writer reads a version of the table, works, and commits if
nobody changed in between what it read or replaces. Otherwise the commit fails, so that no change is lost. Which files
collide decides: writers of different partitions do not disturb each other if their conditions say so.

## What it costs
The work of the writer that came second: it has to be done again from the version that won.

## What to do
Run what changes the same rows one after the other, and try again on a conflict. Put the partition columns into the
conditions of MERGE, UPDATE and DELETE, so that disjoint writers are seen as such. Do not compact partitions that are
written. Hudi needs a lock provider for several writers, Delta on S3 a log store that can lock.

## When to ignore it
When the program tries again by itself and succeeds, and that happens now and then only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, by, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TABLE_CONFLICT: Final = Signature(
    name="table-conflict",
    pattern=r"(?P<delta>Concurrent(?:Append|DeleteRead|DeleteDelete|Write|Transaction)Exception|"
    r"(?:MetadataChanged|ProtocolChanged)Exception|DELTA_(?:CONCURRENT|METADATA_CHANGED|PROTOCOL_CHANGED)\w*)|"
    r"(?P<iceberg>iceberg\.exceptions\.(?:CommitFailedException|ValidationException|CommitStateUnknownException)|"
    r"Cannot commit:? [^\n]{0,300}(?:stale|has been updated|has changed|modified)|Found conflicting files|"
    r"[Rr]equirement failed: branch main (?:has changed|was created concurrently))|"
    r"(?P<hudi>HoodieWriteConflictException|HoodieLockException|Cannot resolve conflicts for overlapping writes|"
    r"ConcurrentModificationException: Cannot resolve)|"
    r"(?P<hive>LockException|Unable to acquire (?:IMPLICIT|EXPLICIT)[^\n]{0,100}lock|Lock acquisition timed out)",
    literals=(
        "ConcurrentAppendException",
        "ConcurrentDeleteReadException",
        "ConcurrentDeleteDeleteException",
        "ConcurrentWriteException",
        "ConcurrentTransactionException",
        "MetadataChangedException",
        "ProtocolChangedException",
        "DELTA_CONCURRENT",
        "DELTA_METADATA_CHANGED",
        "DELTA_PROTOCOL_CHANGED",
        "iceberg.exceptions.",
        "Cannot commit",
        "Found conflicting files",
        "equirement failed: branch main",
        "HoodieWriteConflictException",
        "HoodieLockException",
        "Cannot resolve conflicts for overlapping writes",
        "LockException",
        "Unable to acquire IMPLICIT",
        "Unable to acquire EXPLICIT",
        "Lock acquisition timed out",
    ),
    words=(
        (r"delta|iceberg|hudi", r"concurrent|conflict|commit ?(failed|fails)|two (jobs|writers)|at the same time"),
        (r"Concurrent(Append|Write|Delete\w+|Transaction)|MetadataChanged",),
    ),
)
_WHAT: Final = {
    "ConcurrentAppendException": "another writer added files to what this one had read",
    "ConcurrentDeleteReadException": "another writer removed files that this one had read",
    "ConcurrentDeleteDeleteException": "another writer removed the same files",
    "MetadataChangedException": "another writer changed the table's schema or properties",
    "ProtocolChangedException": "another writer changed the table's protocol version at the same time",
    "ConcurrentTransactionException": "two streams use one checkpoint",
    "ConcurrentWriteException": "another writer made the table at the same time",
}
_PARTITION: Final = re.compile(r"(?:partition|PARTITION) \[([^\]\n]+)\]|in (?:the )?partition ([^\s.]+)")


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for kind, rows in by(said(run, TABLE_CONFLICT.name), _kind):
        yield _conflict(run, kind, rows)


def _kind(row: Said) -> str:
    found = groups_of(row, TABLE_CONFLICT)
    if found:
        return next(kind for kind in ("delta", "iceberg", "hudi", "hive") if kind in found)
    return next((kind for kind in ("delta", "iceberg", "hudi") if kind in row.text.lower()), "delta")


def _conflict(run: Run, kind: str, rows: list[Said]) -> Finding:
    text = "\n".join(row.text for row in rows[:20])
    name = {"delta": "Delta", "iceberg": "Iceberg", "hudi": "Hudi", "hive": "Hive"}[kind]
    partition = _PARTITION.search(text)
    where = f" in partition {partition[1] or partition[2]}" if partition else ""
    reason = next((what for sign, what in _WHAT.items() if sign in text), "another writer changed the table meanwhile")
    if kind == "hive":
        title = "A lock of a Hive table could not be had"
        summary = "Another statement holds a lock on the table, or one that died left it behind, until its time-out."
    elif "CommitStateUnknown" in text:
        title = "It is not known whether the commit to the Iceberg table succeeded"
        summary = (
            "The catalog did not answer while it committed. The files may belong to the table: do not remove them."
        )
    else:
        title = f"Concurrent writers: the commit to the {name} table was refused{where}"
        summary = (
            f"Optimistic concurrency: {reason}. The commit that came second is refused, so that no change is lost; its "
            "work has to be done again."
        )
    return failure(run, rows, title=title, summary=summary, advice=_advice(kind, text), confidence=0.9)


def _advice(kind: str, text: str) -> Iterator[Advice]:
    if "CommitStateUnknown" in text:
        yield Advice(
            "check",
            "Look in the table's snapshots for this commit before anything is run again; look at the catalog's log.",
        )
        return
    if "ConcurrentTransactionException" in text:
        yield Advice(
            "code", "Give each stream a checkpointLocation of its own, and end the older copy before a restart."
        )
        return
    if kind == "hive":
        yield Advice("check", "SHOW LOCKS names the holder; end that statement, or let its lock time out.")
        return
    yield Advice(
        "code",
        "Name the partition columns in the condition of MERGE, UPDATE or DELETE, so that writers of different "
        "partitions do not collide, or run writers of the same one after the other; on a conflict, try the whole "
        "operation again.",
    )
    yield Advice(
        "check", "See what else commits to the table: compaction (OPTIMIZE, rewrite_data_files) of partitions in use?"
    )
    if kind == "hudi":
        yield Advice(
            "cluster",
            "For several writers Hudi needs hoodie.write.concurrency.mode=optimistic_concurrency_control and a lock "
            "provider.",
        )
    if kind == "delta":
        yield Advice("cluster", "On S3 several clusters need a log store that locks (the one with DynamoDB).")
    if kind == "iceberg":
        yield Advice(
            "cluster",
            "Raise commit.retry.num-retries of the table where appends collide; set write isolation to snapshot.",
        )


RULE = Rule(
    code="K24",
    name="table-conflict",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TABLE_CONFLICT,),
)
