"""Executors have too many cores, too few, or YARN shows one core for each.

## What it means
Tasks of an executor share heap, collector and connections; many cores make them wait for one another. One core for each
shares nothing, and broadcasts are held once for each. YARN's default calculator counts memory only, and shows one core.

## What it costs
Time that tasks wait for the collector or for each other, or memory held many times.

## What to do
Four to five cores for each executor, and memory with its overhead divided by what a node has (`emberscope calc
sizing`).

## When to ignore it
YARN's count of cores is only a display where the calculator looks at memory alone: tasks run on all.
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

TOLD_EXECUTOR_SHAPE: Final = Signature(
    name="told-executor-shape",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"yarn|resource ?manager|container",
            r"v?cores?\b",
            r"(only|just|always|shows?|uses?|mere|single) .{0,20}\b(1|one|single)\b.{0,10}v?core",
        ),
        (
            r"executors?\b.{0,30}\bcores|executor[-._]?cores|\bcores .{0,20}\bexecutor",
            r"executor[-. _]?memory",
            SLOW + r"|optimal|best|how (many|to|much|should)|tun(e|ing)|fewer|larger",
        ),
        (r"(large|fat|big|huge|small|tiny|thin)\w* executors",),
        (
            r"executors?\b.{0,40}\bcores|\bcores .{0,20}\bexecutor|(size|shape|number) of (the |my |each )?executors?",
            r"\d ?gb?\b|memory|heap|\bgc\b|node|machine|instance",
            r"(what|which|how|best|optimal|ideal|right|recommend).{0,40}(size|shape|number|many|cores|executor|config|"
            r"set|split|memory)",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_EXECUTOR_SHAPE.name)
    if not rows:
        return
    yield answer(
        rows,
        title="The executors' shape: 4-5 cores each, the node's memory divided among them",
        summary="Tasks of one executor share its heap and its connections, so many cores make GC and "
        "HDFS the bottleneck, and one core "
        "holds each broadcast once more. YARN shows one vcore each where its calculator counts memory only.",
        advice=(
            set_conf("spark.executor.cores", 4, "4-5 is plenty for one heap."),
            Advice(
                "cluster",
                "spark.executor.memory: a node's memory for YARN over its executors, less 10 % "
                "(spark.executor.memoryOverhead).",
            ),
            Advice(
                "cluster",
                "YARN shows one core: set yarn.scheduler.capacity.resource-calculator to "
                "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator.",
            ),
        ),
        confirm="`emberscope calc packing` computes the split of a node; an event log tells how busy the cores were.",
    )


RULE = Rule(
    code="W19",
    name="told-executor-shape",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_EXECUTOR_SHAPE,),
)
