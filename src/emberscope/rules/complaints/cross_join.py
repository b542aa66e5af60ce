"""A join without an equality compares every row with every other: a cartesian product or a nested loop.

## What it means
Spark can hash or sort by an equality only. With a range, an OR, a function or no condition at all it compares each row
of one side with each of the other (CartesianProduct, BroadcastNestedLoopJoin).

## What it costs
Comparisons grow with the product of both sides' rows: a thousand times a million is a billion.

## What to do
Give the join an equality: a bucket of the range, the parts of an OR as a union, a key instead of NOT IN.

## When to ignore it
When one side has a handful of rows: comparing each row with ten others costs hardly more than a hash.
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

TOLD_CROSS_JOIN: Final = Signature(
    name="told-cross-join",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (r"nested[ -]?loops?[ -]?join|cartesian|cross ?join", SLOW + r"|explod|blow|huge|avoid|too"),
        (r"\bjoin", r"\b(between|range|like|levenshtein|fuzzy|non-?equi|inequality|not in|contains)\b", SLOW),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_CROSS_JOIN.name)
    if not rows:
        return
    yield answer(
        rows,
        title="The join has no equality: a nested loop or cartesian product compares all rows with all",
        summary="Only an equality lets Spark hash or sort for a join. With a range, an OR, a NOT IN or "
        "no condition it makes "
        "BroadcastNestedLoopJoin or CartesianProduct, whose work is the product of both sides' rows.",
        advice=(
            Advice(
                "code",
                "Add an equality: join on a bucket of the range (floor(x / width)) and filter after; write an OR "
                "as a union of two joins; NOT EXISTS with a key for NOT IN.",
            ),
            Advice("code", "Broadcast the side that is small (broadcast(df)), and filter both before."),
        ),
        confirm="The plan (df.explain(), an event log) shows which join lacks an equality and how many rows it makes.",
    )


RULE = Rule(
    code="W14",
    name="told-cross-join",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_CROSS_JOIN,),
)
