"""What a job costs, and how to make it cheaper.

## What it means
Cost is machines times hours; most of it is cores that wait: for the last task, between jobs, at the start, for
storage.

## What it costs
All machines of the cluster for as long as it is there, whether their cores run tasks or wait for something.

## What to do
See first how many core hours do work; then fewer or shorter machines, spot for executors, and faster code.

## When to ignore it
When the time of the end, not the price, is what counts: then more machines for a shorter time may be right.
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


TOLD_CLUSTER_COST: Final = Signature(
    name="told-cluster-cost",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\bcosts?\b|\bbill\b|\bdbus?\b|\bdpus?\b|expensive|cheap|\$ ?\d|budget|saving",
            r"cluster|emr|glue|databricks|dataproc|instance|nodes?|workers?|job|spark|cloud",
            r"reduc|lower|optimi|high|too|how|cut|save|cheap|increase|expensive|right.?siz",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_CLUSTER_COST.name)
    if rows:
        yield answer(
            rows,
            title="Cost is idle cores: see how many of the paid core hours run tasks, then size to it",
            summary="A job that halves its machines and takes as long is half the price; that works wherever "
            "cores wait for the last task, for the driver, for storage, or between jobs. Taken for "
            "granted: the price is machines times hours.",
            advice=(
                set_conf(
                    "spark.dynamicAllocation.enabled",
                    "true",
                    "Gives idle executors back (with shuffleTracking or a shuffle service), executorIdleTimeout=60s.",
                ),
                Advice(
                    "code",
                    "Executors on spot machines, driver and a few on demand; decommissioning on "
                    "(spark.decommission.enabled=true, spark.storage.decommission.enabled=true); "
                    "auto-termination of idle clusters.",
                ),
                Advice(
                    "code",
                    "Machines by need: memory-optimised only where it spills, Graviton or AMD for CPU; "
                    "job clusters instead of all-purpose ones; Glue: Flex and auto scaling; fix skew and "
                    "small files first, they keep all machines waiting.",
                ),
            ),
            confirm="`emberscope diagnose EVENTLOG` prices each trouble in wall time and core hours, and "
            "simulates fewer cores; `emberscope calc sizing` shapes executors.",
        )


RULE = Rule(
    code="W37",
    name="told-cluster-cost",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_CLUSTER_COST,),
)
