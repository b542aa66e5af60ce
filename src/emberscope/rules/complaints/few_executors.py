"""The application runs on very few executors, though the cluster could give more.

## What it means
Without dynamic allocation YARN starts `spark.executor.instances` executors, 2 where nothing is set, each with one core;
a shell or notebook that is started without these settings works with two cores on a cluster of hundreds.

## What it costs
The work takes as many times longer as there are cores that were not asked for, while the rest of the cluster is idle.

## What to do
Ask for executors: `--num-executors` and `--executor-cores` with the memory for them, or dynamic allocation.

## When to ignore it
When the input has as few partitions as there are cores: then it is the partitions that have to be more.
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

TOLD_FEW_EXECUTORS: Final = Signature(
    name="told-few-executors",
    # No line of a log says it: it is asked in words.
    pattern=r"(?P<said>only 2 executors (?:are|were) used)",
    literals=("only 2 executors",),
    words=(
        (
            r"\b(on|with|only|just|uses?|using|has|have|got|gets?) (only |just )?(1|2|one|two) executors?\b",
            r"slow|hours|long|all (day|night)|minutes|under-?us|utili[sz]|idle|cluster|nodes",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, TOLD_FEW_EXECUTORS.name)
    # Where one task is all there is, more executors have nothing to do.
    if not rows or any(said(run, other) for other in ("told-few-partitions", "told-jdbc-read", "told-skew")):
        return
    yield answer(
        rows,
        title="The application runs on very few executors: YARN starts two unless it is asked for more",
        summary="spark.executor.instances is 2 and spark.executor.cores is 1 on YARN where nothing is set, so that two "
        "cores do all the work, whatever the cluster has. Taken for granted: the input has more partitions than that.",
        advice=(
            set_conf("spark.dynamicAllocation.enabled", "true", "Executors come and go with the tasks that wait."),
            Advice(
                "cluster",
                "Or ask for them: --num-executors (spark.executor.instances), --executor-cores 4 and the memory for "
                "it; `emberscope calc sizing` gives a shape that fills a node.",
            ),
        ),
        confirm="The Executors page, or an event log, tells how many executors and cores there were.",
    )


RULE = Rule(
    code="W10",
    name="told-few-executors",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_FEW_EXECUTORS,),
)
