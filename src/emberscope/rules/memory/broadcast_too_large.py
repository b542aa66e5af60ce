"""A join broadcast a table that is too large to be sent to every executor.

## What it means
A broadcast join collects one side in the driver, builds a table of it there and sends that to every executor, which
keeps it in its memory. For a small table this is the fastest join. A large one holds up the query while the driver
works alone, takes memory of the driver and of all executors at once, and fails from 8 GiB on, or earlier where a heap
is small. Spark broadcasts a table because it believes it small (`spark.sql.autoBroadcastJoinThreshold`, 10 MiB by
default, against statistics that may be wrong) or because the program says so (a `broadcast` hint).

## What it costs
The time in which only the driver worked for it: collecting the rows after the tasks that made them were done, building
the table and sending it. An upper bound: the join by shuffle in its place costs something too.

## What to do
Take the hint away, or set the threshold below the size that Spark believes the table to have (-1 switches such
broadcasts off), so that Spark joins by shuffle. Or make the side small: filter it, and select only the columns that the
join needs, before it is sent.

## When to ignore it
When the other side is so large that its shuffle would cost far more than the wait, and driver and executors hold the
table with ease: then the broadcast is right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from emberscope.rules.base import Advice, Consequence, Evidence, Finding, Reads, Rule, set_conf
from emberscope.rules.memory.heap import driver_heap_bytes, heap_bytes
from emberscope.rules.places import JOINS
from emberscope.rules.plans import Node, Plan, plans
from emberscope.rules.price import driver_saving
from emberscope.rules.settings import bytes_setting
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.sql_executions import SQL_EXECUTIONS
from emberscope.units import format_bytes, format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_THRESHOLD: Final = "spark.sql.autoBroadcastJoinThreshold"
_DEFAULT_THRESHOLD: Final = 10 << 20
# What Spark says where a broadcast failed (BroadcastExchangeExec, from 2.x to 4.x).
_FAILED: Final = re.compile(
    r"Could not execute broadcast in \d+ secs|Not enough memory to build and broadcast|Cannot broadcast the table"
    r"|_LEGACY_ERROR_TEMP_225[012]|BROADCAST_(TIMEOUT|TABLE_TOO_LARGE)",
)


class Limits(Struct, frozen=True):
    """Sources: DataFlint warns of a broadcast over 1 GB; Compass of one over 40 % of the memory of the driver or an
    executor. The rest is our proposal."""

    data_bytes: int = 1_000_000_000  # size in memory (DataFlint)
    heap_ratio: float = 0.4  # size over the heap of the driver, or of an executor (Compass)
    least_bytes: int = 50_000_000  # a smaller one is no large table, whatever it takes (proposal)
    wait_ms: int = 5_000  # or so long only the driver worked for it (proposal),
    wait_ratio: float = 0.05  # and for this share of the application (proposal)


class Sent(Struct, frozen=True):
    """One broadcast that is large: its size, and how long only the driver worked for it."""

    plan: Plan
    node: Node
    size_bytes: float
    wait_ms: float


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    large, failures = [], _failures(run)
    for plan in plans(run).values():
        exchanges = [node for node in plan.named("BroadcastExchange") if not node.cached]
        if plan.sql in failures:
            yield _failed(run, plan, failures[plan.sql], exchanges)
            continue
        for node in exchanges:
            size = node.metrics.get("data size", 0.0)
            if size >= limits.least_bytes:
                large.append(Sent(plan, node, size, _wait_ms(run, node)))
    if not large:
        return
    largest, wait_ms = max(sent.size_bytes for sent in large), sum(sent.wait_ms for sent in large)
    risky = largest >= min(limits.data_bytes, limits.heap_ratio * min(heap_bytes(run), driver_heap_bytes(run)))
    if risky or wait_ms >= max(limits.wait_ms, limits.wait_ratio * (run.application.observed_ms or 0)):
        yield _finding(run, large, wait_ms, "risk" if risky else None)


def _wait_ms(run: Run, node: Node) -> float:
    """Time in which only the driver worked for a broadcast: what collecting took longer than the stages that made the
    rows (nothing of it where these are not known), building and handing out."""
    metrics, figures = node.metrics, stage_figures(run)
    stages = {stage for below in node.below() for stage in below.stage_ids}
    collected = 0.0
    if figures is not None and stages:
        walls = zip(figures.keys, figures.wall_ms.tolist(), strict=True)
        made_ms = max((wall for key, wall in walls if key[0] in stages and wall == wall), default=math.inf)
        collected = max(0.0, metrics.get("time to collect", 0.0) - made_ms)
    return collected + metrics.get("time to build", 0.0) + metrics.get("time to broadcast", 0.0)


def _finding(run: Run, large: list[Sent], wait_ms: float, consequence: Consequence | None) -> Finding:
    worst = max(large, key=lambda sent: (sent.wait_ms, sent.size_bytes, -sent.plan.sql))
    plan, size, many = worst.plan, format_bytes(worst.size_bytes), len(large) > 1
    most = format_bytes(max(sent.size_bytes for sent in large))
    price = driver_saving(
        run,
        wait_ms,
        f"Upper bound: {format_ms(wait_ms)} in which only the driver worked (collecting beyond the tasks, building, "
        "sending), all of it gone. The join by shuffle in its place costs something too.",
    )
    return Finding(
        title=f"{len(large)} broadcasts of up to {most} held up their queries"
        if many
        else f"A broadcast of {size} held up {_short(plan)}",
        summary=f"{plan.words}: the driver collected a table of {size}, built it and sent it to every "
        f"executor{_for(worst.node)}; for {format_ms(worst.wait_ms)} nothing else was done for the query."
        + (f" With {len(large) - 1} more like it that is {format_ms(wait_ms)}." if many else ""),
        where=replace(plan.where, executor="driver"),
        evidence=tuple(_evidence(run, worst.node)),
        advice=tuple(_advice(run, plan, worst.node)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=None,
        saving_basis=price.basis,
        confidence=0.6,
        consequence=consequence,
    )


def _failed(run: Run, plan: Plan, reason: str, exchanges: list[Node]) -> Finding:
    return Finding(
        title=f"A broadcast failed, and {_short(plan)} with it",
        summary=f"{plan.words} ended because a table could not be sent to the executors: {reason}",
        where=replace(plan.where, executor="driver"),
        evidence=(Evidence(reason, "sql_executions.error_message"),),
        advice=tuple(_advice(run, plan, exchanges[0] if len(exchanges) == 1 else None)),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="The query failed: what it is worth is not ours to say.",
        confidence=0.95,
        consequence="ended",
    )


def _failures(run: Run) -> dict[int, str]:
    """For each execution that failed of a broadcast the sentence in which Spark says so."""
    table = run.tables["sql_executions"]
    failed = {}
    for sql, message in zip(table["sql_execution_id"].to_pylist(), table["error_message"].to_pylist(), strict=True):
        found = _FAILED.search(message or "")
        if found is not None:
            line = str(message)[found.start() :].splitlines()[0]
            failed[sql] = line.partition(". ")[0][:200]
    return failed


def _short(plan: Plan) -> str:
    return f"SQL execution {plan.sql}" + (f" ({plan.call_site})" if plan.call_site else "")


def _for(node: Node) -> str:
    join = _join(node)
    return f" for {join.plain_detail[:120]}" if join is not None else ""


def _join(node: Node) -> Node | None:
    """The join that reads a broadcast."""
    above = node.parent
    while above is not None and above.name not in JOINS:
        above = above.parent
    return above


def _evidence(run: Run, node: Node) -> Iterator[Evidence]:
    size, rows = node.metrics["data size"], node.metrics.get("number of output rows")
    yield Evidence(
        f"{format_bytes(size)} in memory" + (f", {format_count(rows)} rows" if rows is not None else ""),
        "plan_metrics: data size",
        size,
        "bytes",
    )
    for name, what in (
        ("time to collect", "until its rows were in the driver"),
        ("time to build", "to make a table of them"),
        ("time to broadcast", "to hand it to the executors"),
    ):
        if name in node.metrics:
            value = node.metrics[name]
            yield Evidence(f"{format_ms(value)} {what}", f"plan_metrics: {name}", round(value), "ms")
    for what, heap in (("the driver's heap", driver_heap_bytes(run)), ("an executor's heap", heap_bytes(run))):
        if heap > 0:
            share = size / heap
            yield Evidence(
                f"{format_ratio(share)} of {what} ({format_bytes(heap)})",
                "conf, executors.max_on_heap_storage_bytes",
                round(share, 4),
                "ratio",
            )


def _advice(run: Run, plan: Plan, node: Node | None) -> Iterator[Advice]:
    threshold = bytes_setting(run, _THRESHOLD, str(_DEFAULT_THRESHOLD))
    below = "" if node is None else f" of {node.children[0].plain_detail[:120]}" if node.children else ""
    place = plan.call_site or f"SQL execution {plan.sql}"
    if run.setting(_THRESHOLD) is not None and threshold > _DEFAULT_THRESHOLD:
        yield set_conf(
            _THRESHOLD,
            _DEFAULT_THRESHOLD,
            f"It was raised to {format_bytes(threshold)}; Spark's own is {format_bytes(_DEFAULT_THRESHOLD)}. Sizes are "
            "guessed from files, and compressed columns grow several times in memory.",
        )
    else:
        yield Advice(
            "code",
            f"Take the `broadcast` hint away from the side{below} in {place}. Where there is none, Spark believes the "
            "table small: compute its statistics (ANALYZE TABLE … COMPUTE STATISTICS).",
        )
    yield Advice(
        "code", f"Or make the side small before it is sent, in {place}: filter it, and select only what the join needs."
    )


RULE = Rule(
    code="C8",
    name="broadcast-too-large",
    since="0.1",
    reads=(Reads(PLAN_NODES), Reads(PLAN_METRICS), Reads(SQL_EXECUTIONS)),
    limits=Limits(),
    check=check,
)
