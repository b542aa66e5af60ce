"""A join gave many times more rows than it got.

## What it means
Where a key has several rows on both sides, each row of one side is joined with each of the other: ten rows of a key on
the left and a thousand on the right make ten thousand. That happens where a column is missing from the join condition,
where one side holds duplicates, or where many rows have a key that stands for "not known" (0, -1, the empty text; null
only with <=>, since null equals nothing). A join without any equality (BroadcastNestedLoopJoin, CartesianProduct)
compares every row with every other, however few rows come out.

## What it costs
The stages that made and carried the rows, replayed as if the join had given no more rows than its larger side has. That
is an upper bound: if you need all these rows, nothing can be saved. Where a join without an equality gave no such
surplus, all the time of its stages is counted.

## What to do
Look for the missing column in the join condition and add it. If one side should be unique by the key, make it so
before the join (dropDuplicates, or an aggregation), and test that it is. Take out keys that mean "not known". If you
sum or count after the join, aggregate first and join the sums. A join by a range needs an equality too: join by the
day or by a bucket of the range, then filter.

## When to ignore it
When every pair is wanted: all-against-all comparisons, or a calendar joined to its intervals. (Where one side of a join
without an equality has a single row, as with a scalar subquery, nothing is told.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Rule
from emberscope.rules.plan.joins import Join, joins
from emberscope.rules.plan.work import READS, Work, at, work_of
from emberscope.rules.plans import Plan, plans
from emberscope.rules.price import priced
from emberscope.units import format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """The research catalogue asks for rows out over rows in of more than 10; DataFlint warns of nested loops that
    compare more than 10 billion pairs. All other values are our proposal, set so that only true cases are told in the
    logs of our tests."""

    ratio: float = 10.0  # rows out over rows of the larger side (catalogue)
    least_rows: float = 1_000_000  # rows that came out (proposal)
    least_pairs: float = 10_000_000  # pairs that a join without equality compared (proposal; DataFlint: 10 billion)
    floor_ms: int = 10_000  # wall time of the join's stages, or ... (catalogue)
    least_app_ratio: float = 0.01  # ... their share of the application (catalogue)
    floor_task_ms: int = 5_000  # task time of the join's stages (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for plan in plans(run).values():
        told: set[int] = set()
        for join in joins(plan):
            work = _work(run, plan, join)
            if work.run_ms < limits.floor_task_ms or told & {stage.tasks.key[0] for stage in work.stages}:
                continue
            if not work.is_worth_a_word(run, limits.floor_ms, limits.least_app_ratio):
                continue
            finding = _exploding(run, plan, join, work, limits) or _nested(run, plan, join, work, limits)
            if finding is not None:
                told |= set(join.node.stage_ids)
                yield finding


def _work(run: Run, plan: Plan, join: Join) -> Work:
    """The stages in which the join ran, and those that its rows went on to through a shuffle."""
    stages = set(join.node.stage_ids) or {stage for child in join.node.children for stage in child.stage_ids}
    node = join.node.parent
    while node is not None and join.out_rows:
        if node.name.endswith("Exchange") and (node.rows or 0) >= join.out_rows / 2:
            stages |= set(node.stage_ids)
        elif node.rows is not None and node.rows < join.out_rows / 2:
            break
        node = node.parent
    return work_of(run, stages)


def _exploding(run: Run, plan: Plan, join: Join, work: Work, limits: Limits) -> Finding | None:
    more, out = join.more_rows, join.out_rows
    if not more or out is None or out < limits.least_rows or out < limits.ratio * more:
        return None
    factor = more / out
    keys = f" by {join.keys}" if join.keys else ""
    price = priced(
        run,
        work.times(factor),
        f"Upper bound: the join as if it gave {format_count(more)} rows, as many as its larger side has.",
    )
    return Finding(
        title=f"A join{keys} made {format_count(out)} rows of {format_count(more)}",
        summary=f"{plan.words}: {join.node.name}{keys} got {format_count(join.left_rows or 0)} and "
        f"{format_count(join.right_rows or 0)} rows and gave {format_count(out)}, "
        f"{format_count(out / more)} for each row of its larger side.",
        where=at(plan, work),
        evidence=(*_evidence(join, work), _plan_evidence(join)),
        advice=(*_advice(join, plan),),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(work.run_ms * (1 - factor)),
        saving_basis=price.basis,
        confidence=0.8 if join.has_keys else 0.7,
    )


def _nested(run: Run, plan: Plan, join: Join, work: Work, limits: Limits) -> Finding | None:
    more, fewer = join.more_rows, join.fewer_rows
    if join.has_keys or more is None or fewer is None or fewer <= 1 or more * fewer < limits.least_pairs:
        return None
    price = priced(run, work.without(), "Upper bound: the stages of the join as if they took no time.")
    return Finding(
        title=f"A join without equality compared {format_count(more * fewer)} pairs of rows",
        summary=f"{plan.words}: {join.node.name} compared each of {format_count(more)} rows with each of "
        f"{format_count(fewer)}.",
        where=at(plan, work),
        evidence=(*_evidence(join, work), _plan_evidence(join)),
        advice=(*_advice(join, plan),),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(work.run_ms),
        saving_basis=price.basis,
        confidence=0.6,
    )


def _evidence(join: Join, work: Work) -> Iterator[Evidence]:
    sides = (
        f"{format_count(join.left_rows or 0)} rows from the left, {format_count(join.right_rows or 0)} from the right"
    )
    yield Evidence(f"{sides}", "plan_metrics: number of output rows", join.more_rows, "rows")
    if join.out_rows is not None:
        yield Evidence(
            f"{format_count(join.out_rows)} rows came out", "plan_metrics: number of output rows", join.out_rows, "rows"
        )
    yield Evidence(
        f"the tasks of its stages ran {format_ms(work.run_ms)}", "tasks.executor_run_time_ms", round(work.run_ms), "ms"
    )


def _plan_evidence(join: Join) -> Evidence:
    detail = join.node.plain_detail
    return Evidence(detail if len(detail) <= 200 else detail[:199] + "…", "plan_nodes.detail")


def _advice(join: Join, plan: Plan) -> Iterator[Advice]:
    site = f" ({plan.call_site})" if plan.call_site else ""
    if not join.has_keys:
        yield Advice(
            "code",
            f"Give the join{site} an equality: a column that must be equal on both sides, or a bucket of the range "
            "that it compares (day, floor(value / width)), with the exact condition as a filter behind it.",
        )
        return
    yield Advice(
        "code",
        f"Add to the join by {join.keys or 'its key'}{site} the column that tells the rows of a key apart, or make one "
        "side unique by the key first (dropDuplicates, or group and aggregate before the join).",
    )
    yield Advice(
        "check",
        f"Count the rows of each side by {join.keys or 'the key'} and look at the largest: "
        "df.groupBy(...).count().orderBy(desc('count')).show(). A 0 or an empty key that means “not known” has "
        "to go.",
    )


RULE = Rule(code="F2", name="exploding-join", since="0.1", reads=READS, limits=Limits(), check=check)
