"""One job in an application keeps others waiting.

## What it means
By default jobs of one application get cores first come, first served; in a cluster one application may take them all.

## What it costs
Short jobs and other people wait for long ones, although a few cores would be enough for them.

## What to do
Fair pools within an application; limits and dynamic allocation between applications.

## When to ignore it
When the order is wanted, as in a batch whose jobs build upon one another, or when all of them end together anyway.
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


TOLD_SHARED_APPLICATION: Final = Signature(
    name="told-shared-application",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"(one|long|big|large|heavy|other) (\w+ )?(job|query|application|app|user)s?.{0,60}(block|"
            r"starv|hog|tak(es|ing) (all|every)|monopol|wait|occup|us(es|ing) all)",
            r"job|quer|application|app|users?|notebook",
        ),
        (
            r"fair ?schedul|scheduler ?pools?|spark\.scheduler\.(mode|pool)",
            r"how|not|work|use|set|wait|share",
        ),
        (
            r"(second|next|other|another) (application|app|job|notebook).{0,40}(wait|queue|no resources|"
            r"not start|stuck)",
            r"first|one|all (the )?(cores|resources|executors)",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_SHARED_APPLICATION.name)
    if rows:
        yield answer(
            rows,
            title="One job takes all cores while others wait: FAIR pools, and limits between applications",
            summary="Within an application jobs get cores in the order in which they came (FIFO); between "
            "applications the first takes what it may. A standalone application takes every core "
            "unless it is limited.",
            advice=(
                set_conf(
                    "spark.scheduler.mode",
                    "FAIR",
                    "Within one application, with a pool for each thread: "
                    "sc.setLocalProperty('spark.scheduler.pool', name), weights and minShare in "
                    "fairscheduler.xml.",
                ),
                set_conf(
                    "spark.dynamicAllocation.maxExecutors",
                    "20",
                    "Between applications: a share that leaves room for others; standalone: spark.cores.max.",
                ),
                Advice(
                    "cluster",
                    "YARN queues with limits and preemption; Kubernetes namespaces with quotas, a batch "
                    "scheduler (Volcano, YuniKorn).",
                ),
            ),
            confirm="The event log tells which jobs waited for cores, and for how long.",
        )


RULE = Rule(
    code="W42",
    name="told-shared-application",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_SHARED_APPLICATION,),
)
