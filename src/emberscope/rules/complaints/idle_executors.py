"""Dynamic allocation keeps executors that do nothing, because they hold shuffle files or cached blocks.

## What it means
An executor goes when it was idle for its timeout. With shuffle tracking it stays as long as its shuffle files may be
read; with cached blocks it stays for ever, as the timeout of those has no limit by default.

## What it costs
Cores and memory that are paid for, and that other applications of the queue wait for, while no task runs.

## What to do
Give both timeouts a limit, use a shuffle service or decommissioning with migration, unpersist what is not read again.

## When to ignore it
In sessions where somebody will ask again soon: starting executors costs time too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TOLD_IDLE_EXECUTORS: Final = Signature(
    name="told-idle-executors",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"dynamic ?(resource )?allocation|\bDRA\b|dynamicAllocation|auto-?scal|idle ?timeout",
            r"\b(not|never|n't|cannot|can ?not)\b.{0,40}\b(releas|remov|kill|scal\w+ down|delet|terminat|"
            r"shrink|freed|free)|"
            r"\b(stay|remain|still|keeps?|kept|hold)\b.{0,60}\b(idle|alive|running|executors)|wast|idle",
        ),
        (
            r"\bidle executors\b|executors? .{0,20}\b(sit|sits|sitting|stay|remain)\w* idle",
            r"releas|remov|kill|scale|wast|cost|paying|bill",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_IDLE_EXECUTORS.name)
    if not rows:
        return
    yield answer(
        rows,
        title="Dynamic allocation keeps idle executors: shuffle files or cached blocks hold them",
        summary="An executor is released after spark.dynamicAllocation.executorIdleTimeout only if it "
        "holds nothing: with shuffle "
        "tracking shuffle files keep it, and cached blocks keep it without limit.",
        advice=(
            set_conf("spark.dynamicAllocation.cachedExecutorIdleTimeout", "10min", "Infinite by default."),
            set_conf("spark.dynamicAllocation.shuffleTracking.timeout", "10min", "Infinite by default (Spark 3)."),
            Advice(
                "cluster",
                "Or an external shuffle service (spark.shuffle.service.enabled=true, on YARN), or "
                "spark.decommission.enabled with spark.storage.decommission.shuffleBlocks.enabled; and a low "
                "spark.dynamicAllocation.minExecutors.",
            ),
            Advice("code", "unpersist() what is not read again."),
        ),
        confirm="An event log gives when each executor came, worked and went, and what idle time cost.",
    )


RULE = Rule(
    code="W13",
    name="told-idle-executors",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_IDLE_EXECUTORS,),
)
