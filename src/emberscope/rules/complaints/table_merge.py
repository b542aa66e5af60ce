"""MERGE, upsert or delete on a lake table takes long.

## What it means
A merge first looks for the files that hold matching rows, then writes every one of these files anew. Without a
condition on partition columns it looks through the whole table.

## What it costs
The whole table is read for matches, and every touched file is written again, however few of its rows change.

## What to do
Put the partition columns with literal bounds into the condition, compact and cluster the table, and write few rows
per file only where tables can keep deletes apart.

## When to ignore it
When most files of the table do change: then overwriting it, or its partitions, costs no more than the merge does.
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


TOLD_MERGE: Final = Signature(
    name="told-merge",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\bmerge (into|operation|statement|job|query|command|on|takes|is)|\bupserts?\b|\bmerging\b|"
            r"delta merge|\bmerge\b.{0,40}\b(delta|iceberg|hudi|table)|(delta|iceberg|"
            r"hudi).{0,60}\b(merge|update|delete)\b",
            SLOW + r"|memory|rewrit|scan|shuffl|spill|oom|files",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_MERGE.name)
    if rows:
        yield answer(
            rows,
            title="The merge looks through the whole table and rewrites every file that it touches: prune "
            "it by partition",
            summary="A merge joins the source with all files that its condition cannot exclude, then rewrites"
            " whole files for single rows. What helps is a condition on the partition (or clustering)"
            " columns with literal bounds, small touched files, and a source without duplicate keys. "
            "Taken for granted: a Delta, Iceberg or Hudi table, of which few rows change.",
            advice=(
                Advice(
                    "code",
                    "Add the partition predicate to ON: t.day >= '2024-01-01' AND t.day = s.day AND t.id "
                    "= s.id, with the bounds taken from the source first, so that files are pruned.",
                ),
                Advice(
                    "code",
                    "Cluster by the key (OPTIMIZE ... ZORDER BY or CLUSTER BY; Iceberg rewrite_data_files"
                    " with sort; Hudi record index), compact small files, and broadcast a small source.",
                ),
                Advice(
                    "code",
                    "Rewrite less: delta.enableDeletionVectors=true, Iceberg "
                    "write.merge.mode=merge-on-read with format version 2, Hudi MERGE_ON_READ; only "
                    "insert: WHEN NOT MATCHED alone, or append.",
                ),
            ),
            confirm="The event log of the merge tells files read, rows rewritten and which of its two joins "
            "takes the time.",
        )


RULE = Rule(
    code="W27",
    name="told-merge",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_MERGE,),
)
