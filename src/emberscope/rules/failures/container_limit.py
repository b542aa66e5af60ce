"""YARN killed a container that used more memory than it had asked for.

## What it means
A container holds more than the heap: Python workers, network buffers, threads, memory of native libraries and of the
JVM itself. YARN's NodeManager adds up what the whole process tree uses and kills the container when that passes what
was asked for: heap plus `spark.executor.memoryOverhead` (a tenth of the heap and at least 384 MiB where it is not set).
The heap itself cannot grow past its limit, so it is what lies beside it that outgrew its share.

## What it costs
The executor, with its tasks, its cached data and often its shuffle output: all of that is done again, and after four
failures of one task the job is given up. A killed container of the driver ends the application.

## What to do
Give the container more memory beside the heap: `spark.executor.memoryOverhead` (`spark.yarn.executor.memoryOverhead`
before Spark 2.3), or take it from the heap where the container may not grow. Fewer cores of an executor share it among
fewer tasks; more partitions make each smaller. Where virtual memory was the limit, switch that check off
(`yarn.nodemanager.vmem-check-enabled`): addresses that are reserved cost nothing.

## When to ignore it
When one container of many was killed once, and its work was done again in little time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.aborted import followed
from emberscope.rules.failures.ending import Limits, failure, named
from emberscope.rules.failures.room import SIZE, figures_of, is_driver, key_of, more_overhead, size_of
from emberscope.rules.said import Said, said
from emberscope.rules.settings import number_setting
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

CONTAINER_LIMIT: Final = Signature(
    name="yarn-container-limit",
    pattern=rf"exceeding (?:(?P<kind>physical|virtual) )?memory limits\.?(?:\s+(?P<used>{SIZE}) of (?P<limit>{SIZE}) "
    r"(?P<of>physical|virtual) memory used)?|"
    r"is running (?:\d+B )?beyond (?:the )?'?(?P<beyond>(?i:physical|virtual))'? memory limits?"
    rf"(?:\.\s+Current usage: (?P<used_real>{SIZE}) of (?P<limit_real>{SIZE}) physical memory used; "
    rf"(?P<used_virtual>{SIZE}) of (?P<limit_virtual>{SIZE}) virtual memory used)?|"
    r"(?:[Ee]xit status|exitCode): -10(?P<status>[34])\b",
    literals=(
        "exceeding memory limits",
        "exceeding physical memory limits",
        "exceeding virtual memory limits",
        "is running beyond physical memory limit",
        "is running beyond virtual memory limit",
        "memory limit. Current usage: ",
        "xit status: -104",
        "xit status: -103",
        "exitCode: -104",
        "exitCode: -103",
    ),
    words=(
        (r"yarn", r"kill", r"memory limits?|physical memory|virtual memory|exceed"),
        (r"container", r"kill", r"(physical|virtual) memory|memory limits?"),
        (r"memory ?overhead", r"kill|exceed|137"),
    ),
)
_ECHO_MS: Final = 120_000


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, CONTAINER_LIMIT.name)
    for driver in (False, True):
        for virtual in (False, True):
            some = [row for row in rows if is_driver(row) is driver and _is_virtual(row) is virtual]
            if some:
                yield _killed(run, some, driver, virtual)


def _killed(run: Run, rows: Sequence[Said], driver: bool, virtual: bool) -> Finding:
    used, limit, words = _largest(rows)
    kind = "virtual" if virtual else "physical"
    name = "The driver" if driver else named(rows)
    one = name.startswith(("Executor ", "The driver"))
    whose = f"{name}'s container" if one else f"{name}: their containers" if name else "A container"
    took = f" used {words} of {kind} memory" if words else f" passed its limit of {kind} memory"
    plural = "were" if name and not one else "was"
    key = key_of(run, rows, driver)
    mechanism = (
        "The addresses that its processes had reserved passed yarn.nodemanager.vmem-pmem-ratio times the container: "
        "that is no memory in use, and the check is better off."
        if virtual
        else "YARN adds up heap, Python workers, network buffers and native memory of the whole container. The heap "
        "has a limit of its own, so what lies beside it outgrew the overhead "
        f"({key}): a larger heap alone grows the container by little and mends nothing."
    )
    return failure(
        run,
        rows,
        title=f"{whose}{took} and {plural} killed by YARN",
        summary=f"Container killed by YARN for exceeding {kind} memory limits. {mechanism}",
        advice=_advice(run, rows, used, limit, driver, virtual),
        confidence=0.95,
        consequence="ended" if driver else followed(run, rows),
    )


def _advice(
    run: Run, rows: Sequence[Said], used: int | None, limit: int | None, driver: bool, virtual: bool
) -> Iterator[Advice]:
    if virtual:
        yield Advice(
            "cluster", "Set yarn.nodemanager.vmem-check-enabled=false in yarn-site.xml of the nodes (YARN-4714)."
        )
        yield more_overhead(run, rows, driver=driver, limit=limit if limit and used and used <= limit else None)
        return
    yield more_overhead(run, rows, used=used, limit=limit, driver=driver)
    if driver:
        return
    cores = int(number_setting(run, "spark.executor.cores", 0))
    if cores > 1:
        yield set_conf("spark.executor.cores", cores - 1, f"Or fewer tasks at one time in a container (now {cores}).")
    yield Advice(
        "code",
        "Or make each task use less beside the heap: more partitions, smaller batches for Python, fewer cores for each "
        "executor. Where the container is the largest that the node gives, lower spark.executor.memory by as much.",
    )


def is_echo(row: Said, limit: Said) -> bool:
    """Whether this kill is that of a container whose limit YARN names (K1): of the same executor, or of one that either
    line does not name, at about the same time."""
    same = row.event_id == limit.event_id or row.executor_id is None or limit.executor_id in (None, row.executor_id)
    far = row.time_ms is not None and limit.time_ms is not None and abs(row.time_ms - limit.time_ms) > _ECHO_MS
    return same and not far


def _largest(rows: Sequence[Said]) -> tuple[int | None, int | None, str]:
    """What was used of how much, of the one that was furthest over, and in the words of the message."""
    best: tuple[int | None, int | None, str] = (None, None, "")
    for row in rows:
        found, virtual = figures_of(row, CONTAINER_LIMIT), _is_virtual(row)
        used = found.get("used") or found.get("used_virtual" if virtual else "used_real")
        limit = found.get("limit") or found.get("limit_virtual" if virtual else "limit_real")
        size, most = size_of(used), size_of(limit)
        if used and limit and size and most and size - most > (best[0] or 0) - (best[1] or 1):
            number, _, unit = used.partition(" ")
            best = (size, most, f"{number} of {limit}" if unit and limit.endswith(unit) else f"{used} of {limit}")
    return best


def _is_virtual(row: Said) -> bool:
    found = figures_of(row, CONTAINER_LIMIT)
    kind = (found.get("of") or found.get("kind") or found.get("beyond") or "").lower()
    return kind == "virtual" or (not kind and found.get("status") == "3")


RULE = Rule(
    code="K1",
    name="yarn-container-limit",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(CONTAINER_LIMIT,),
)
