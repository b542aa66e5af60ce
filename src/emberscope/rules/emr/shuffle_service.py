"""Shuffle data could not be fetched in time: the shuffle service of a node is overloaded or has gone.

## What it means
On YARN shuffle files are served by the NodeManager's JVM (the external shuffle service), also for executors that have
ended. When thousands of reducers ask one service at a time, its heap or its accept queue is too small: requests time
out, and the NodeManager collects garbage or ends with an OutOfMemoryError and is started anew. The same is seen where
the node itself has gone, by scaling in or as a spot instance.

## What it costs
The stages whose output could not be read run again, up to four times, and then the job is aborted.

## What to do
First see whether the node that served was still there. If it was, give its NodeManager more heap and ask less of it at
one time; if it was not, find out who took it.

## When to ignore it
When a single fetch was tried again and succeeded, and no stage had to run a second time because of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.emr.told import told
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

FETCH_TIMEOUT: Final = "emr_fetch_timeout"
SERVICE_MEMORY: Final = "emr_shuffle_service_memory"


class Limits(Struct, frozen=True):
    """The heap that EMR's guide proposes for the NodeManager."""

    heap_mib: int = 10_000


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    memory, fetches = said(run, SERVICE_MEMORY), said(run, FETCH_TIMEOUT)
    if memory:
        yield _memory(memory, fetches, limits)
    elif fetches:
        yield _timeout(fetches, limits)


def _memory(rows: tuple[Said, ...], fetches: tuple[Said, ...], limits: Limits) -> Finding:
    return told(
        "The NodeManager ran out of heap while it served shuffle files",
        "The external shuffle service runs in the NodeManager's JVM. Without heap it stops answering and is "
        "restarted, and "
        "all shuffle files of its node cannot be fetched in that time; encrypted local disks take more heap for each "
        "block.",
        rows,
        tuple(_advice(limits)),
        consequence="lost",
        more=tuple(row.evidence() for row in fetches[:2]),
        confidence=0.9,
    )


def _timeout(rows: tuple[Said, ...], limits: Limits) -> Finding:
    return told(
        "Shuffle files were not served in time: the shuffle service of a node is overloaded or gone",
        "The reader waited for a block and got no answer (FetchFailed by timeout). Either the serving node was lost "
        "(scaled in, spot instance, UNHEALTHY), or its NodeManager or executor was busy: garbage collection, too small "
        "a heap, too many requests at one time.",
        rows,
        (
            Advice(
                "check",
                "Whether the serving node was still there: YARN's ResourceManager log, and the timeline of managed "
                "scaling (was a node with shuffle data on the list of those to remove?). A lost node is the cause, "
                "then.",
            ),
            *_advice(limits),
        ),
        consequence="lost",
        confidence=0.6,
    )


def _advice(limits: Limits) -> Iterator[Advice]:
    yield Advice(
        "cluster",
        f"NodeManager heap: classification yarn-env, YARN_NODEMANAGER_HEAPSIZE={limits.heap_mib}; keep "
        "spark.shuffle.service.enabled=true.",
    )
    yield set_conf("spark.shuffle.io.maxRetries", 10, "Waits out a restart of the service (3 by default).")
    yield set_conf("spark.shuffle.io.retryWait", "30s", "The pause between two tries (5s by default).")
    yield set_conf(
        "spark.reducer.maxBlocksInFlightPerAddress",
        100,
        "Limits how much one task asks of one node (no limit by default).",
    )
    yield set_conf("spark.reducer.maxSizeInFlight", "24m", "Half of what a task fetches at one time by default.")
    yield Advice("cluster", "spark.shuffle.io.backLog=8192 in yarn-site of the nodes: the service's accept queue.")
    yield Advice("code", "Fewer partitions on both sides make fewer blocks: their number is maps × reduces.")


RULE = Rule(
    code="L14",
    name="shuffle-service",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            FETCH_TIMEOUT,
            r"TimeoutException: Timeout waiting for task"
            r"|Shuffle failed with too many fetch failures and insufficient progress",
            ("Timeout waiting for task", "too many fetch failures and insufficient progress"),
        ),
        Signature(
            SERVICE_MEMORY,
            r"OutOfMemoryError: (?P<kind>[^\n]+)[\s\S]*?(?:network\.yarn\.|network\.shuffle\.External\w+"
            r"|yarn\.server\.nodemanager\.)"
            r"|(?:NodeManager|YarnShuffleService)[^\n]*OutOfMemoryError",
            ("OutOfMemoryError",),
        ),
    ),
)
