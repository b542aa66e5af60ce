"""Rows were cached and never read again, or fell out of the cache.

## What it means
cache() and persist() pay off at the second read: the first action computes the rows and stores them, later ones read
them. Here rows were stored and nobody read them afterwards. Often they were cached and counted to fill the cache, while
the later queries start from another DataFrame: Spark uses a cache only where a query contains exactly the DataFrame
that was cached, and a filter put before the cached steps makes it another one. The rule also reports rows kept in
memory alone that were pushed out of it while they were still in use, so that they had to be computed again.

## What it costs
Where an execution did nothing but count the cached rows, the whole of it: the application replayed without its stages.
Where the first read did other work too, storing cannot be told apart from computing, and there is no price; nor is
there one for rows that fell out. Besides time, a cache takes memory that shuffles and sorts could use.

## What to do
Take the cache() away, and the count() that fills it. Or make the later queries start from the cached DataFrame itself:
keep it in a variable, apply filters after it, and look for InMemoryTableScan in their plans. For rows that fell out,
use persist(StorageLevel.MEMORY_AND_DISK), keep fewer columns, or unpersist() what is no longer needed.

## When to ignore it
When the number of rows was wanted for its own sake: then keep the count and take the cache away. When the program
failed before it came to the second read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Rule, Where
from emberscope.rules.cache.cached import Cached, Read, cached_frames
from emberscope.rules.call_sites import call_site, line_of
from emberscope.rules.plan.work import READS, Work, at, work_of
from emberscope.rules.price import priced
from emberscope.rules.settings import INTERACTIVE_CONFIDENCE, is_interactive
from emberscope.simulate.cores import is_whole
from emberscope.units import format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """No tool that we know of has numbers for this; all values are our proposal."""

    floor_ms: int = 10_000  # wall time of the stages that filled the cache, or ... (catalogue)
    least_app_ratio: float = 0.01  # ... their share of the application (catalogue)
    floor_task_ms: int = 5_000  # task time of these stages (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    stored = _stored(run)
    whole = is_whole(run)  # else the second read may be where the log is not
    for cached in cached_frames(run):
        if len(cached.reads) != 1 or not whole:
            continue
        read = cached.reads[0]
        if _stages_of(cached, stored) > _planned_stages(run, read.plan.sql):
            continue  # code outside of SQL (df.rdd) read it as well
        work = work_of(run, read.plan.stage_ids if read.only_counts else read.scan.stage_ids)
        if not read.plan.failed and _is_worth_a_word(run, work, limits):
            yield _never_read(run, cached, read, work)
    for row in stored:
        work = work_of(run, [] if row["first_stage_id"] is None else [row["first_stage_id"]])
        if _fell_out(row) and _is_worth_a_word(run, work, limits):
            yield _lost(row, work)


def _is_worth_a_word(run: Run, work: Work, limits: Limits) -> bool:
    enough = work.run_ms >= limits.floor_task_ms
    return enough and work.is_worth_a_word(run, limits.floor_ms, limits.least_app_ratio)


def _stored(run: Run) -> list[dict[str, Any]]:
    table = run.tables.get("storage")
    return [] if table is None else table.to_pylist()


def _stages_of(cached: Cached, stored: list[dict[str, Any]]) -> int:
    """In how many stages the DataFrame's RDD was, by its name; 0 where no RDD has it."""
    start = (cached.root.detail or cached.root.title)[:60]
    return max((row["stage_count"] or 0 for row in stored if start in (row["name"] or "")), default=0)


def _planned_stages(run: Run, sql: int) -> int:
    """How many stages the jobs of an execution were to have: each may name the RDD of what it reads."""
    jobs = run.tables["jobs"]
    pairs = zip(jobs["sql_execution_id"].to_pylist(), jobs["stage_ids"].to_pylist(), strict=True)
    return len({stage for execution, stages in pairs if execution == sql for stage in stages or ()})


def _fell_out(row: dict[str, Any]) -> bool:
    """Whether rows that are kept in memory alone went away and more than one stage wanted them."""
    alone = "Disk" not in (row["storage_level"] or "Disk")
    return alone and (row["evictions"] or 0) > 0 and (row["stage_count"] or 0) > 1


def _never_read(run: Run, cached: Cached, read: Read, work: Work) -> Finding:
    rows = read.scan.rows
    told = f"{format_count(rows)} rows were" if rows is not None else "Rows were"
    if read.only_counts:
        price = priced(run, work.without(), "The execution that only filled the cache, left out.")
        wall_ms, core_ms, basis = price.wall_ms, round(work.run_ms), price.basis
        how = "cached and counted"
    else:
        wall_ms, core_ms, how = None, None, "cached while they were used for the first time"
        basis = "What storing took cannot be told apart from computing the rows, so it has no price."
    return Finding(
        title=f"{told} cached and never read again",
        summary=f"{read.plan.words}: {told[0].lower() + told[1:]} {how}, and no later execution read them from the "
        f"cache. They come out of {cached.name}.",
        where=at(read.plan, work),
        evidence=(
            Evidence("one InMemoryTableScan reads this cached plan in all executions", "plan_nodes.name"),
            Evidence(
                f"the tasks of the stages that filled it ran {format_ms(work.run_ms)}",
                "tasks.executor_run_time_ms",
                round(work.run_ms),
                "ms",
            ),
        ),
        advice=tuple(_advice(read)),
        wasted_wall_ms=wall_ms,
        wasted_core_ms=core_ms,
        saving_basis=basis,
        confidence=INTERACTIVE_CONFIDENCE if is_interactive(run) else 0.8,
        consequence="hint",
    )


def _advice(read: Read) -> Iterator[Advice]:
    if read.only_counts:
        yield Advice(
            "code",
            f"Take away the cache() whose rows {read.plan.words} counts, and that count: nothing reads them again.",
        )
    else:
        yield Advice("code", f"Take away the cache() of what {read.plan.words} reads: nothing reads it again.")
    yield Advice(
        "code",
        "If later queries were meant to read it, let them start from the cached DataFrame: keep it in a variable, put "
        "filters and columns behind it, and look for InMemoryTableScan in df.explain().",
    )


def _lost(row: dict[str, Any], work: Work) -> Finding:
    site = call_site((row["call_site"],), None)
    name = f"{row['name']} ({site})" if site else str(row["name"])
    stage, attempt = work.dearest or (None, None)
    return Finding(
        title=f"Cached rows fell out of memory {format_count(row['evictions'])} times",
        summary=f"{name}: {format_count(row['evictions'])} blocks of {format_count(row['partition_count'] or 0)} "
        "partitions left memory while they were kept; each is computed again when it is next read.",
        where=Where(stage=stage, stage_attempt=attempt, line=line_of(site)),
        evidence=(
            Evidence(f"{format_count(row['evictions'])} evictions", "storage.evictions", row["evictions"], "blocks"),
            Evidence(f"kept as {row['storage_level']}", "storage.storage_level"),
        ),
        advice=(
            Advice(
                "code",
                f"Keep {site or 'it'} with persist(StorageLevel.MEMORY_AND_DISK), keep fewer columns of it, or "
                "unpersist() what is done with before.",
            ),
        ),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="The log does not tell which tasks computed lost rows again, so it has no price.",
        confidence=0.8,
        consequence="lost",
    )


RULE = Rule(code="C10", name="cache-use", since="0.1", reads=READS, limits=Limits(), check=check, needs_whole=True)
