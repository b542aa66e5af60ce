"""Several queries read and computed the same rows, each from the start.

## What it means
Spark keeps nothing of a DataFrame from one action to the next: each count, write, show or collect reads the files again
and repeats every step. Here two or more SQL executions had the same part in their plans: the same source with the same
filters, and the same joins and aggregations on top where there were any. The source gave the same number of rows each
time, so the rule takes it for the same data.

## What it costs
The stages of that part in all executions but the first, replayed without them; for each execution no more is counted
than the cheapest of them took. An upper bound: reading kept rows takes a little time too, and keeping them takes some
in the first execution.

## What to do
Call .cache() (or .persist()) on the DataFrame that the queries share, before the first action and with only the columns
that they need; call .unpersist() after the last. What does not fit into the executors' memory, Spark puts on disk.
Where several programs need the rows, write them once as Parquet and read that. Or ask for all results in one query.

## When to ignore it
When the rows to keep are about as large as the source and reading it is cheap (Parquet without heavy work on top), when
the source changes between the queries, or when somebody tried the same query several times by hand.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Rule
from emberscope.rules.plan.same_work import SameWork, same_work_across
from emberscope.rules.plan.work import READS, Work, at
from emberscope.rules.price import priced
from emberscope.rules.settings import INTERACTIVE_CONFIDENCE, is_interactive
from emberscope.units import counted, format_bytes, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """No tool that we know of has numbers for this; all values are our proposal."""

    floor_ms: int = 10_000  # wall time of the repeated stages, or ... (catalogue)
    least_app_ratio: float = 0.01  # ... their share of the application (catalogue)
    floor_task_ms: int = 5_000  # task time of the repeated stages (proposal)
    columnar_times: int = 4  # fewer reads of a columnar format with no work on top are cheap (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    told: set[int] = set()
    for same in same_work_across(run):
        if same.only_reads_columns and len(same.occurrences) < limits.columnar_times:
            continue
        work = same.repeated_work(run, told)
        if work.run_ms < limits.floor_task_ms:
            continue
        if not work.is_worth_a_word(run, limits.floor_ms, limits.least_app_ratio):
            continue
        told |= {stage for occurrence in same.occurrences for stage in occurrence.stage_ids}
        yield _finding(run, same, work)


def _finding(run: Run, same: SameWork, work: Work) -> Finding:
    first = same.occurrences[0]
    source, times = words_of_sources(same), len(same.occurrences)
    top = first.node.name if first.node not in same.scans else "rows as they were read"
    price = priced(
        run, work.without(), f"Upper bound: {times - 1} of {times} executions as if the rows had been kept for them."
    )
    executions = ", ".join(str(occurrence.plan.sql) for occurrence in same.occurrences[:8])
    lines = list(dict.fromkeys(o.plan.call_site for o in same.occurrences if o.plan.call_site))
    return Finding(
        title=f"{times} queries read {source} and worked out the same rows",
        summary=f"SQL executions {executions}{' and others' if times > 8 else ''}"
        f"{' (' + ', '.join(lines[:4]) + ')' if lines else ''} share {counted(same.operators, 'operator')}, from "
        f"{source} to {top}, and each ran them anew.",
        where=at(same.occurrences[1].plan, work),
        evidence=tuple(evidence_of(same, work)),
        advice=tuple(_advice(run, same, source)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(work.run_ms),
        saving_basis=price.basis,
        confidence=INTERACTIVE_CONFIDENCE if is_interactive(run) else 0.3 if same.only_reads_columns else 0.7,
    )


def words_of_sources(same: SameWork) -> str:
    """`parquet file:/data/orders and csv file:/data/users`."""
    shown = [source if len(source) <= 80 else source[:79] + "…" for source in same.sources[:2]]
    return " and ".join(shown) + (f" and {len(same.sources) - 2} more" if len(same.sources) > 2 else "")


def evidence_of(same: SameWork, work: Work) -> Iterator[Evidence]:
    """What was shared, how many rows it had, and what the repeats took."""
    node = same.occurrences[0].node
    detail = node.plain_detail
    yield Evidence(
        f"the last operator that they share: {detail if len(detail) <= 160 else detail[:159] + '…'}",
        "plan_nodes.name, plan_nodes.detail, plan_nodes.parent_node_id",
    )
    if node.rows_below is not None:
        yield Evidence(
            f"{counted(round(node.rows_below), 'row')} came out of it each time",
            "plan_metrics: number of output rows",
            node.rows_below,
            "rows",
        )
    read = sum(scan.metrics.get("size of files read", 0.0) for scan in same.scans)
    if read:
        yield Evidence(
            f"each time {format_bytes(read)} of files were read", "plan_metrics: size of files read", read, "bytes"
        )
    stages = ", ".join(str(stage.tasks.key[0]) for stage in work.stages[:8])
    yield Evidence(
        f"the tasks of the repeated stages ({stages}{', …' if len(work.stages) > 8 else ''}) ran "
        f"{format_ms(work.run_ms)}",
        "tasks.executor_run_time_ms",
        round(work.run_ms),
        "ms",
    )


def _advice(run: Run, same: SameWork, source: str) -> Iterator[Advice]:
    first = same.occurrences[0]
    site = f" before {first.plan.call_site}" if first.plan.call_site else " before the first of these queries"
    rows = first.node.rows_below
    yield Advice(
        "code",
        f"Keep what the queries share of {source}: select the columns that they need and call .cache() on that "
        f"DataFrame{site}, and .unpersist() behind the last of them.",
    )
    memory = _storage_bytes(run)
    if rows and memory:
        yield Advice(
            "check",
            f"This keeps {counted(round(rows), 'row')}, and the executors offer {format_bytes(memory)} for that and "
            "for their work; Spark writes what does not fit to local disks.",
        )


def _storage_bytes(run: Run) -> float | None:
    """The unified memory of all executors but the driver; None where no executor tells it."""
    table = run.tables.get("executors")
    if table is None:
        return None
    pairs = zip(table["executor_id"].to_pylist(), table["max_storage_memory_bytes"].to_pylist(), strict=True)
    sizes = {executor: size for executor, size in pairs if size}
    if len(sizes) > 1:
        sizes.pop("driver", None)
    return float(sum(sizes.values())) or None


RULE = Rule(code="C11", name="missing-cache", since="0.1", reads=READS, limits=Limits(), check=check)
