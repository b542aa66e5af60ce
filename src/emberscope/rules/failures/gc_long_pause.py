"""One collection stopped a process so long that the others could take it for dead.

## What it means
While the collector stops a JVM, it sends no heartbeat and serves no shuffle block. An executor sends one every 10 s
(`spark.executor.heartbeatInterval`); the driver gives it up after 120 s without (`spark.network.timeout`), and readers
of its shuffle output fail or wait before that. A pause of that length is either a collection of a large heap that is
nearly full, or an ordinary one on a machine that gave the process no processor or had put its memory on disk (swap):
the processor time of the pause tells the two apart.

## What it costs
The pause for every task of the executor; where it is given up, also the work that is done again.

## What to do
Where the heap was full: room in it, or less in it. Where the collector is the old parallel one on a large heap: G1
(`-XX:+UseG1GC`). Where the pause had little of the processor: no swapping on the machine, and fewer processes on it.
Longer timeouts only hide it.

## When to ignore it
When it was one pause at the start or the end of the process, no executor was lost by it, and nobody waited for what
it was to send.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.gc_log import LONG_PAUSE
from emberscope.rules.base import Advice, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.failures.processes import by_side, named, of_driver, only_one
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes, format_ms, parse_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run

NO_PRICE: Final = (
    "The log of the collector has the pause, not the tasks that waited: an event log of the same run does."
)
_MIB: Final = 1 << 20


class Limits(Struct, frozen=True):
    """What counts as long is decided where the log is read (`logs/gc_log.py`)."""

    full: float = 0.85  # of the heap in use after the pause: it was full (proposal)
    cpu: float = 0.3  # of the pause on the processor; less, and the machine was the trouble (proposal)
    timeout_ms: float = 120_000  # spark.network.timeout, where it is not set (Spark)
    more: float = 1.5  # times the heap that was full (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for rows in by_side([row for row in said(run, LONG_PAUSE.name) if row.fields]):
        yield _finding(run, rows, limits)


def _finding(run: Run, rows: list[Said], limits: Limits) -> Finding:
    row = max(rows, key=lambda one: int(one.fields["ms"]))
    ms, what = int(row.fields["ms"]), row.fields.get("what", "")
    after, heap = int(row.fields["after"]), int(row.fields["heap"])
    cpu_ms = int(row.fields["cpu_ms"]) if row.fields.get("cpu_ms") else None
    starved = cpu_ms is not None and cpu_ms < limits.cpu * ms
    driver, who = of_driver(row), named(rows)
    longest = "up to " if len(rows) > 1 else ""
    timeout_ms = _timeout_ms(run, limits)
    beyond = (
        f"longer than the {format_ms(timeout_ms)} after which the driver gives an executor up (spark.network.timeout)"
        if ms >= timeout_ms
        else "longer than the time between two heartbeats (spark.executor.heartbeatInterval)"
    )
    why = (
        f"The processor was only busy for {format_ms(cpu_ms or 0)} of it: the machine was swapping, or gave it "
        "no time, and the heap is not to blame."
        if starved
        else f"Afterwards {format_bytes(after)} of {format_bytes(heap)} were in use."
    )
    return Finding(
        title=f"{who[0].upper()}{who[1:]} stood still for {longest}{format_ms(ms)} to collect garbage",
        summary=f"One garbage collection pause ({what}) lasted {format_ms(ms)}, {beyond}. {why}",
        where=Where(executor=only_one(rows), host=row.host if len(rows) == 1 else None),
        evidence=tuple(one.evidence() for one in [row, *(one for one in rows if one is not row)][:3]),
        advice=tuple(_advice(limits, what, after, heap, starved, driver)),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis=NO_PRICE,
        confidence=0.85,
        consequence="lost" if ms >= timeout_ms else "risk",
    )


def _timeout_ms(run: Run, limits: Limits) -> float:
    text = run.setting("spark.network.timeout")
    try:
        return parse_ms(text, default_unit="s") if text else limits.timeout_ms
    except Exception:  # a value that Spark would not take either
        return limits.timeout_ms


def _advice(limits: Limits, what: str, after: int, heap: int, starved: bool, driver: bool) -> Iterator[Advice]:
    if starved:
        yield Advice(
            "cluster", "Turn swapping off on the nodes (`swapoff -a`, vm.swappiness=1), or run fewer processes there."
        )
        return
    if after >= limits.full * heap:
        key = "spark.driver.memory" if driver else "spark.executor.memory"
        yield set_conf(
            key, f"{int(-(-heap * limits.more // _MIB))}m", f"Half more than the {format_bytes(heap)} that were full."
        )
    if "Ergonomics" in what or "PS" in what or "CMS" in what:
        side = "driver" if driver else "executor"
        yield set_conf(
            f"spark.{side}.extraJavaOptions", "-XX:+UseG1GC", "G1 collects a large heap in parts, with short pauses."
        )
    yield Advice(
        "code", "Smaller partitions, fewer cores per executor and less cached data leave the collector less to copy."
    )


RULE = Rule(
    code="K83",
    name="gc-long-pause",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(LONG_PAUSE,),
)
