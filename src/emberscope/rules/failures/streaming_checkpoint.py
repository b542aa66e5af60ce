"""A streaming query cannot go on from its checkpoint.

## What it means
The checkpoint holds the offsets, the commits and the state of one query. It fits only the query that made it: other
sources, other grouping columns, other numbers of shuffle partitions, another schema of the state, or a second query
that writes into the same folder make it useless. A checkpoint on a store that lists late, or that a cleaner thinned
out, lacks files that the query needs.

## What it costs
The query does not start, or ends with the next batch, until the checkpoint fits again.

## What to do
Give each query a checkpoint folder of its own, never shared and never cleaned by a rule of the store. After a change
that the checkpoint does not allow, start with a new folder and the offsets at which the old one ended.

## When to ignore it
When a second copy of the query was started by mistake and only that one failed: the first goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, by, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

STREAMING_CHECKPOINT: Final = Signature(
    name="streaming-checkpoint",
    pattern=r"(?P<two>Concurrent update to the (?:\w{1,20} ){0,3}log|Multiple streaming (?:jobs|queries) (?:are "
    r")?(?:concurrently )?(?:detected|using)|"
    r"CONCURRENT_STREAM_LOG_UPDATE|There is already a streaming query with (?:the same )?id)|"
    r"(?P<sources>There are \[?\d+\]? sources in the checkpoint offsets and now there are \[?\d+\]?|"
    r"(?:number|order|type) of (?:streaming )?sources? (?:has|have) changed)|"
    r"(?P<schema>[Pp]rovided schema doesn't match to the schema for existing state|"
    r"STATE_STORE_(?:KEY|VALUE)_SCHEMA_NOT_COMPATIBLE|STATE_STORE_INCOMPATIBLE|StateSchemaNotCompatible)|"
    r"(?P<state>Error reading (?:delta|snapshot|streaming state) file [^\n]*|CANNOT_LOAD_STATE_STORE[.\w]*|"
    r"Failed to read (?:delta|snapshot) file [^\n]*)|"
    r"(?P<batch>batch \d+ doesn't exist|[Ii]ncomplete log file|Unsupported log version|"
    r"malformed log file|BATCH_METADATA_NOT_FOUND)|"
    r"does not support recovering from checkpoint location: (?P<sink>[^\s]+)|"
    r"(?P<partitions>(?:number of )?(?:state|shuffle) partitions? in (?:the )?(?:offset log|checkpoint)[^\n]*)",
    literals=(
        "Concurrent update to the",
        "Multiple streaming ",
        "CONCURRENT_STREAM_LOG_UPDATE",
        "There is already a streaming query with",
        "sources in the checkpoint offsets",
        "sources has changed",
        "sources have changed",
        "source has changed",
        "schema for existing state",
        "STATE_STORE_",
        "StateSchemaNotCompatible",
        "CANNOT_LOAD_STATE_STORE",
        "Error reading delta file",
        "Error reading snapshot file",
        "Error reading streaming state file",
        "Failed to read delta file",
        "Failed to read snapshot file",
        " doesn't exist",
        "ncomplete log file",
        "Unsupported log version",
        "malformed log file",
        "BATCH_METADATA_NOT_FOUND",
        "does not support recovering from checkpoint",
        "partitions in offset log",
        "partitions in the offset log",
        "partitions in checkpoint",
        "partitions in the checkpoint",
    ),
    words=(
        (r"checkpoint", r"stream", r"(incompatib|mismatch|changed|corrupt|restart|recover|not (match|start|resume))"),
        (r"(two|multiple|same|shared?) .{0,30}checkpoint",),
        (r"\boffsets?\b", r"\b(commits?|batch)", r"stream", r"not exist|n't exist|missing|inconsistent|\bgap\b"),
    ),
)
_KINDS: Final = ("two", "sources", "schema", "state", "batch", "sink", "partitions")
_NEW: Final = Advice(
    "code",
    "For a change that the checkpoint does not allow, start with a new checkpointLocation and the source's starting "
    "offsets at those of the last batch in <checkpoint>/offsets: the state is built anew.",
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for kind, rows in by(said(run, STREAMING_CHECKPOINT.name), _kind):
        title, summary, advice = _told(kind, groups_of(rows[0], STREAMING_CHECKPOINT))
        yield failure(run, rows, title=title, summary=summary, advice=advice, confidence=0.9 if kind else 0.6)


def _kind(row: Said) -> str:
    found = groups_of(row, STREAMING_CHECKPOINT)
    return next((kind for kind in _KINDS if kind in found), "")


def _told(kind: str, found: dict[str, str]) -> tuple[str, str, list[Advice]]:
    if kind == "two":
        return (
            "Two streaming queries write into one checkpoint",
            "A batch's file in the checkpoint was already there: another query, or an older copy of this one that "
            "still runs, uses the same checkpointLocation.",
            [
                Advice(
                    "check",
                    "Look for a second driver with this query: a restart before the old one ended, or a copied job.",
                ),
                Advice("code", "Give each query, and each sink of a program, a checkpointLocation of its own."),
            ],
        )
    if kind == "sources":
        return (
            "The streaming query has other sources than its checkpoint",
            "A checkpoint holds offsets by the number and order of the sources: sources cannot be added or removed.",
            [_NEW],
        )
    if kind == "schema":
        return (
            "The state in the checkpoint has another schema than the streaming query",
            "Grouping columns, aggregates, join keys or the type of user state changed, or a version of Spark writes "
            "them in another way: rows of the old state cannot be read as the new ones.",
            [_NEW, Advice("check", "Compare the old and the new schema that the message prints.")],
        )
    if kind == "state":
        return (
            "A file of the streaming state is missing or damaged in the checkpoint",
            "Each version of the state is a snapshot and the deltas after it: one that is gone (a cleaner or "
            "lifecycle rule "
            "of the store, a full disk, a store that lists late) makes all later ones unreadable.",
            [
                Advice(
                    "check",
                    "Look which file the message names, and whether a lifecycle rule or a clean-up job removed it.",
                ),
                _NEW,
            ],
        )
    if kind == "batch":
        return (
            "The log of offsets or commits in the checkpoint is incomplete",
            "Each batch has one file in offsets/ and one in commits/: one is empty, missing or of a newer version of "
            "Spark, mostly because a driver died while it wrote to a store without atomic renames.",
            [
                Advice(
                    "check",
                    "Look at the newest files of offsets/ and commits/: an empty last one can be removed, after a "
                    "copy.",
                ),
                _NEW,
            ],
        )
    if kind == "sink":
        return (
            "This sink cannot go on from a checkpoint",
            f"Memory and console sinks keep nothing between runs, yet {found.get('sink', 'the checkpoint')} holds "
            "offsets.",
            [Advice("code", "Remove the checkpoint of the test, or write to a sink that keeps its data.")],
        )
    if kind == "partitions":
        return (
            "The number of partitions of the state cannot change with this checkpoint",
            "State lies by shuffle partition: spark.sql.shuffle.partitions is taken from the checkpoint and stays as "
            "it was.",
            [_NEW],
        )
    return (
        "A streaming query cannot go on from its checkpoint",
        "A checkpoint fits only the query that made it: other sources, keys, state schemas or a second query in the "
        "same folder make it unusable.",
        [
            _NEW,
            Advice(
                "check", "Send the lines of the driver's log around the first error: they say which of these it is."
            ),
        ],
    )


RULE = Rule(
    code="K48",
    name="streaming-checkpoint",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(STREAMING_CHECKPOINT,),
)
