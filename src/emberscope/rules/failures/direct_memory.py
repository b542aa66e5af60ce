"""Executors do not start: Netty's direct memory is smaller than the blocks that they may fetch into it.

## What it means
From Spark 3.2 on an executor checks at its start that Netty may use at least as much direct memory as
`spark.network.maxRemoteBlockSizeFetchToMem` lets one remote block take. Direct memory lies outside the heap; its bound
is `-XX:MaxDirectMemorySize` or `-Dio.netty.maxDirectMemory`, and where neither is set about the size of the heap.

## What it costs
All of it: no executor starts, so the application waits with nothing done until it is given up.

## What to do
Lower `spark.network.maxRemoteBlockSizeFetchToMem` (200m is its default), or raise the bound of direct memory above it,
and the memory of the container beside the heap by as much.

## When to ignore it
Never: as long as the two settings disagree, each executor ends itself at its start and no task runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, failure, groups_of
from emberscope.rules.said import said
from emberscope.rules.settings import MIB, memory_words
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

DIRECT_MEMORY: Final = Signature(
    name="direct-memory-limit",
    pattern=r"Netty direct memory should at least be bigger than '?(?P<key>[\w.]+)'?, but got (?P<got>\d+) bytes < "
    r"(?P<need>\d+)",
    literals=("Netty direct memory should at least be bigger",),
    words=((r"netty", r"direct memory", r"maxRemoteBlockSizeFetchToMem"),),
)
_KEY: Final = "spark.network.maxRemoteBlockSizeFetchToMem"


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, DIRECT_MEMORY.name)
    if not rows:
        return
    found = groups_of(rows[0], DIRECT_MEMORY)
    got, need = int(found.get("got", 0)), int(found.get("need", 0))
    of = f" ({format_bytes(got)} of direct memory, {format_bytes(need)} wanted)" if need else ""
    yield failure(
        run,
        rows,
        title=f"Executors do not start: direct memory is below {_KEY}{of}",
        summary="Since Spark 3.2 an executor ends itself at its start where Netty's direct memory "
        "(-XX:MaxDirectMemorySize or -Dio.netty.maxDirectMemory, else about the heap) is smaller than the largest "
        "remote block that it may fetch to memory.",
        advice=_advice(got, need),
        confidence=0.98,
        consequence="ended",
    )


def _advice(got: int, need: int) -> Iterator[Advice]:
    most = max(1, min(200, got // (2 * MIB))) if got else 200
    yield set_conf(_KEY, f"{most}m", "Larger blocks are streamed to disk; 200m is the default.")
    room = memory_words((need // MIB // 256 + 1) * 256 * MIB) if need else "more"
    yield Advice(
        "cluster",
        f"Or -XX:MaxDirectMemorySize={room} in spark.executor.extraJavaOptions, with as much more of "
        "spark.executor.memoryOverhead; or a larger heap.",
    )


RULE = Rule(
    code="K64",
    name="direct-memory-limit",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(DIRECT_MEMORY,),
)
