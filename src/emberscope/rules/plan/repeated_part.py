"""One query reads or computes the same rows more than once.

## What it means
The plan of one SQL execution has the same part twice or more: the same source with the same filters, and the same steps
on top. Spark shares such a part only if it ends in a shuffle or a broadcast and is the same to the letter, columns
included (ReusedExchange in the plan). Parts that differ in the columns that they need, or that lie before the first
shuffle, are read and computed each time: a table joined with itself, a common table expression (WITH) used in several
places, a union of several aggregations of one table.

## What it costs
The schedule replayed without the stages of all these parts but the first; each part counts for no more than the
cheapest of them took. An upper bound, since keeping the rows takes time as well.

## What to do
Make the shared part a DataFrame of its own, keep it (.cache(), or write it as a table) and use that in all places; in
SQL, CACHE TABLE before the query. Several aggregations of one table can be one: sum(case when ... end) for each in one
pass, or GROUPING SETS. If spark.sql.exchange.reuse was switched off, switch it on.

## When to ignore it
When the part is small, or when keeping its rows would take longer than reading them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.base import Advice, Finding, Rule, set_conf
from emberscope.rules.cache.missing_cache import evidence_of, words_of_sources
from emberscope.rules.plan.same_work import SameWork, same_work_within
from emberscope.rules.plan.work import READS, Work, at
from emberscope.rules.price import priced
from emberscope.rules.settings import is_on
from emberscope.units import counted

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_REUSE: Final = "spark.sql.exchange.reuse"


class Limits(Struct, frozen=True):
    """No tool that was read has this rule; the floors are those of the catalogue and our proposal."""

    floor_ms: int = 10_000  # wall time of the repeated stages, or ... (catalogue)
    least_app_ratio: float = 0.01  # ... their share of the application (catalogue)
    floor_task_ms: int = 5_000  # task time of the repeated stages (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    told: set[int] = set()
    for same in same_work_within(run):
        work = same.repeated_work(run, told)
        if work.run_ms < limits.floor_task_ms:
            continue
        if not work.is_worth_a_word(run, limits.floor_ms, limits.least_app_ratio):
            continue
        told |= {stage for occurrence in same.occurrences for stage in occurrence.stage_ids}
        yield _finding(run, same, work)


def _finding(run: Run, same: SameWork, work: Work) -> Finding:
    first = same.occurrences[0]
    plan, times, source = first.plan, len(same.occurrences), words_of_sources(same)
    price = priced(run, work.without(), f"Upper bound: {times - 1} of {times} equal parts of the plan left out.")
    return Finding(
        title=f"SQL execution {plan.sql} worked out the same rows of {source} {times} times",
        summary=f"{plan.words}: {times} parts of its plan, of {counted(same.operators, 'operator')} each, do the same "
        f"with {source}, and each of them ran.",
        where=at(plan, work),
        evidence=tuple(evidence_of(same, work)),
        advice=tuple(_advice(run, plan.call_site, source)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(work.run_ms),
        saving_basis=price.basis,
        confidence=0.3 if same.only_reads_columns else 0.6,
    )


def _advice(run: Run, site: str, source: str) -> Iterator[Advice]:
    if not is_on(run, _REUSE, default=True):
        yield set_conf(_REUSE, "true", "It was switched off; with it, equal shuffles and broadcasts are made once.")
    yield Advice(
        "code",
        f"Work out the shared rows of {source} once{f' for {site}' if site else ''}: give that part a DataFrame of its "
        "own with all columns that its places need and .cache() it, or take one pass over it "
        "(sum(case when … end), GROUPING SETS).",
    )


RULE = Rule(code="F6", name="repeated-part", since="0.1", reads=READS, limits=Limits(), check=check)
