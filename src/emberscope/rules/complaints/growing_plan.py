"""Each round of a loop takes longer than the one before.

## What it means
A DataFrame that is made of itself in a loop has a plan that grows with each round, and all of it is analysed,
optimized and computed again.

## What it costs
Time and memory of the driver grow with the square of the number of rounds, until it spends more on plans than tasks
do on rows.

## What to do
Cut the plan every few rounds: by a checkpoint, or by writing a table and reading it; and make unions of many frames
at once.

## When to ignore it
With a few rounds, where planning takes less than a second each time and nothing is computed more than twice.
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


TOLD_GROWING_PLAN: Final = Signature(
    name="told-growing-plan",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"iterat|\bloop|round|\bunion(s|ed)?\b.{0,40}\b(loop|many|hundreds?|each)|recursive",
            r"(slow|long)er (and|each|every|with)|each (iteration|round|time|loop).{0,40}(slow|long|more)|"
            r"(increas|grow|degrad)\w*|lineage|StackOverflow|exponential|checkpoint",
        ),
        (
            r"\blineage\b",
            r"long|grow|cut|break|truncate|" + SLOW,
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_GROWING_PLAN.name)
    if rows:
        yield answer(
            rows,
            title="The plan grows with each iteration: cut its lineage by a checkpoint",
            summary="A DataFrame built upon itself keeps the plan of all rounds before; analysis and codegen "
            "grow with it, and without a cached result every round is computed anew. cache() keeps "
            "the data but not the plan small.",
            advice=(
                Advice(
                    "code",
                    "df = df.checkpoint() (sc.setCheckpointDir first), localCheckpoint() "
                    "on a stable cluster, or write and read a table, every 5 to 20 rounds; unpersist what"
                    " came before.",
                ),
                Advice(
                    "code",
                    "Union many frames at once (reduce over a list in halves, or one read of all paths) "
                    "instead of one by one; loops over a graph: GraphFrames with checkpoints.",
                ),
            ),
            confirm="A recording of the driver tells analyzer and optimizer; the event log the growing gaps "
            "between jobs.",
        )


RULE = Rule(
    code="W40",
    name="told-growing-plan",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_GROWING_PLAN,),
)
