"""A few tasks run far longer than all others: the data is skewed.

## What it means
All but a few tasks of a stage end soon, and the rest of the cluster waits for those few. After a shuffle that is mostly
one key with most of the rows (a default, a null, one large customer): all rows of a key go to one task.

## What it costs
The stage takes as long as its longest task, whatever the number of executors that wait for it.

## What to do
Let adaptive execution split the skewed partitions of joins, broadcast the small side, handle the hot key by itself, or
salt it: add a random part to the key and aggregate twice.

## When to ignore it
When the long task was on a slow machine: then it is long on that machine only, with the same rows as others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_FEW: Final = r"\b(one|single|a few|few|last|slowest|[1-9])\b( \w+){0,2} (tasks?|partitions?|reducers?)\b"
_LONG: Final = r"(runs?|running|takes?|taking|hangs?|stuck|slow|long|never|forever|minutes|hours)"
_REST: Final = (
    r"\b(rest|others?|most|remaining|majority|all but|\d+ tasks)\b.{0,50}(seconds|quick|fast|finish|done|idle|complete)"
)
TOLD_SKEW: Final = Signature(
    name="told-skew",
    pattern=r"(?P<said>\b[Ss]kewed (?:data|key|partition|join)s?\b)",
    literals=("kewed data", "kewed key", "kewed partition", "kewed join"),
    words=(
        (r"\b(data|key|join|partition)?\s?skew",),
        (_FEW + ".{0,60}" + _LONG, _REST),
        (r"stragglers?",),
        (r"stuck (at|on) .{0,20}(99 ?%|last|1\d\d/\d+|\d+/\d+)",),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, TOLD_SKEW.name)
    if rows:
        yield answer(
            rows,
            title="Skew: one partition holds a hot key, and all wait for its task",
            summary="A task that runs far longer than those beside it has far more rows: all rows of one key go to one "
            "task of a join, a group or a window, so that more executors do not help. Taken for granted: the long task "
            "reads more than the others.",
            advice=(
                set_conf(
                    "spark.sql.adaptive.skewJoin.enabled", "true", "Splits such partitions of joins (Spark 3, AQE on)."
                ),
                Advice(
                    "code",
                    "Broadcast the small side of the join, filter the hot key out (nulls, defaults) and add it by "
                    "itself, or salt it: a random suffix on the key, aggregated in two steps.",
                ),
            ),
            confirm="An event log of the run tells the rows of each task and the stage: that confirms or excludes it.",
            confidence=0.7,
        )


RULE = Rule(
    code="W1",
    name="told-skew",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_SKEW,),
)
