"""Several outputs were written one after another although none depends on another, and cores were idle meanwhile.

## What it means
A program that writes one table and then the next waits for each. Here several queries in a row, each of which wrote
files and read none that another of them wrote, ran one by one while a large part of the cores was idle.

## What it costs
The time that these queries took, less what they would take side by side: as long as the longest of them, or as all of
their work on all cores, whichever is longer. An upper bound: queries that run at the same time slow one another down.

## What to do
Start the queries from several threads; the advice shows how. A later query then gets the cores that the earlier ones
leave idle. For equal shares set `spark.scheduler.mode` to `FAIR` and give each thread a pool of its own
(`spark.scheduler.pool`): within one pool, jobs are served in order.

## When to ignore it
When the order matters for a reason that no plan shows (a check between the writes, a database, files that are moved),
or when memory does not suffice for several queries at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.plans import Plan, plans
from emberscope.rules.settings import INTERACTIVE_CONFIDENCE, is_interactive
from emberscope.simulate.shares import Steps, steps
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.sql_executions import SQL_EXECUTIONS
from emberscope.tables.tasks import TASKS
from emberscope.units import format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_WRITES: Final = re.compile(r"InsertIntoHadoopFsRelationCommand\s+([^\s,\]]+)")
_CACHED: Final = ("InMemoryTableScan", "InMemoryRelation", "Scan In-memory")


class Limits(Struct, frozen=True):
    """No tool that we know of judges this; all values are our proposal."""

    ratio: float = 0.1  # saving over the application's time
    floor_ms: int = 10_000  # the same, in ms
    pause_ms: int = 5_000  # with a longer pause between two queries the program did something else there
    most_threads: int = 8  # so many at one time are advised at most


class Write(Struct, frozen=True):
    """A query that wrote files: when it ran (epoch ms) and where to."""

    plan: Plan
    start_ms: float
    end_ms: float
    path: str


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    pieces, length_ms = steps(run), run.application.observed_ms
    if pieces is None or pieces.cores is None or not length_ms:
        return
    work = np.concatenate(([0.0], np.cumsum(pieces.occupied * pieces.lengths_ms)))
    most = int(pieces.cores.max(initial=0))
    for row in _rows(_writes(run), limits.pause_ms):
        alone = [write.end_ms - write.start_ms for write in row]
        begin, end = row[0].start_ms, row[-1].end_ms
        core_ms = float(np.interp(end, pieces.edges, work) - np.interp(begin, pieces.edges, work))
        saved_ms = end - begin - max(max(alone), core_ms / max(1, most))
        if saved_ms >= max(limits.floor_ms, limits.ratio * length_ms):
            yield _finding(run, pieces, row, saved_ms, core_ms, limits)


def _writes(run: Run) -> list[Write]:
    """The queries that wrote files and are no part of another one, by start."""
    found = []
    for plan in plans(run).values():
        path = next((m[1] for node in plan.nodes if (m := _WRITES.search(node.detail))), None)
        if path is None or plan.failed or plan.root_sql != plan.sql:
            continue
        if plan.started_ms is None or plan.ended_ms is None or plan.ended_ms <= plan.started_ms:
            continue
        found.append(Write(plan, plan.started_ms, plan.ended_ms, path.rstrip("/")))
    return sorted(found, key=lambda write: (write.start_ms, write.plan.sql))


def _rows(writes: Sequence[Write], pause_ms: float) -> Iterator[list[Write]]:
    """Rows of two and more queries, each begun soon after the one before, of which none needs another one."""
    row: list[Write] = []
    for write in writes:
        if row and not _goes_on(row, write, pause_ms):
            if len(row) > 1:
                yield row
            row = []
        row.append(write)
    if len(row) > 1:
        yield row


def _goes_on(row: Sequence[Write], write: Write, pause_ms: float) -> bool:
    if not 0 <= write.start_ms - row[-1].end_ms <= pause_ms:
        return False
    # What is cached is made by the first query that reads it, and side by side by each.
    if any(node.name in _CACHED or node.title.startswith(_CACHED) for node in write.plan.nodes):
        return False
    text = "\n".join(node.detail for node in write.plan.nodes)
    return not any(other.path == write.path or other.path in text or write.path in other.path for other in row)


def _finding(run: Run, pieces: Steps, row: Sequence[Write], saved_ms: float, core_ms: float, limits: Limits) -> Finding:
    assert pieces.cores is not None
    span_ms = row[-1].end_ms - row[0].start_ms
    offered = np.concatenate(([0.0], np.cumsum(pieces.cores * pieces.lengths_ms)))
    begin, end = np.interp([row[0].start_ms, row[-1].end_ms], pieces.edges, offered)
    idle = max(0.0, 1 - core_ms / max(1.0, float(end - begin)))
    threads = min(len(row), limits.most_threads)
    names = ", ".join(write.plan.words for write in row[:3]) + (", …" if len(row) > 3 else "")
    return Finding(
        title=f"{len(row)} outputs were written one after another, and {format_ratio(idle)} of the cores were idle",
        summary=f"{names}: {len(row)} queries that write took {format_ms(span_ms)} one by one; none reads what another "
        "of them wrote.",
        where=Where(sql=row[0].plan.sql, line=row[0].plan.where.line),
        evidence=(
            Evidence(
                f"{len(row)} queries in {format_ms(span_ms)}, the longest "
                f"{format_ms(max(write.end_ms - write.start_ms for write in row))}",
                "sql_executions.started_ms, sql_executions.ended_ms",
                round(span_ms),
                "ms",
            ),
            Evidence(
                f"{format_ratio(idle)} of the core time was idle meanwhile",
                "tasks.launch_ms, tasks.finish_ms, executors.cores",
                round(idle, 4),
                "ratio",
            ),
            Evidence("no plan of them names a path that another one wrote", "plan_nodes.detail"),
        ),
        advice=(
            Advice(
                "code",
                f"Write them from several threads: `with ThreadPoolExecutor({threads}) as pool: list(pool.map(write, "
                "tables))`, where `write` is what the program now does for each table.",
            ),
            set_conf(
                "spark.scheduler.mode",
                "FAIR",
                "Jobs of several threads share the cores if each thread has a pool of its own: "
                '`spark.sparkContext.setLocalProperty("spark.scheduler.pool", name)`. In one pool they go in order.',
            ),
        ),
        wasted_wall_ms=round(saved_ms),
        wasted_core_ms=None,
        saving_basis="The row as it ran, less its longest query or all of its work on all cores: an upper bound.",
        confidence=INTERACTIVE_CONFIDENCE if is_interactive(run) else 0.5,
    )


RULE = Rule(
    code="A11",
    name="serial-writes",
    since="0.1",
    reads=(
        Reads(SQL_EXECUTIONS, ("started_ms", "ended_ms")),
        Reads(PLAN_NODES),
        Reads(TASKS, ("launch_ms", "finish_ms")),
        Reads(EXECUTORS, ("cores",)),
    ),
    limits=Limits(),
    check=check,
    needs_times=True,
)
