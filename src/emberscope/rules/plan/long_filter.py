"""A filter with a very long condition was evaluated for every row.

## What it means
A condition of thousands of characters is mostly a list written by a program: x = 1 OR x = 2 OR ..., a long IN (...), or
one LIKE after the other. Each row is compared with one term after the other until one holds (only an IN of more than
ten literals is looked up in a hash set); data sources can skip little by it; and the generated code can become too long
for Java to compile.

## What it costs
How much of the stage's time the filter took is not in the log, so no price is given. The stage's task time is the most
that can be at stake.

## What to do
Put the values into a small DataFrame and join with it: df.join(broadcast(values), "x", "left_semi") instead of the
list, "left_anti" instead of NOT IN (it keeps rows whose x is null, NOT IN does not). For patterns, use one regular
expression with alternatives (rlike), or cut the part to compare out of the text first and join by that.

## When to ignore it
When the condition is one IN of literals, or long but made of few, different tests, or when the filter sees few rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Rule
from emberscope.rules.plan.work import READS, Work, at, work_of
from emberscope.rules.plans import Node, Plan, plans
from emberscope.units import format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """DataFlint warns of conditions of more than 1,000 characters. The floors are the catalogue's and our proposal."""

    characters: int = 1_000  # of the condition (DataFlint)
    least_rows: float = 100_000  # that the filter saw, where that is known (proposal)
    floor_ms: int = 10_000  # wall time of the stage, or ... (catalogue)
    least_app_ratio: float = 0.01  # ... its share of the application (catalogue)
    floor_task_ms: int = 5_000  # task time of the stage (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for plan in plans(run).values():
        for node in plan.nodes:
            if node.cached or not node.name.endswith("Filter") or len(node.plain_detail) < limits.characters:
                continue
            seen = node.children[0].rows_below if len(node.children) == 1 else None
            work = work_of(run, node.stage_ids)
            if (seen is not None and seen < limits.least_rows) or work.run_ms < limits.floor_task_ms:
                continue
            if work.is_worth_a_word(run, limits.floor_ms, limits.least_app_ratio):
                yield _finding(plan, node, seen, work)


def _finding(plan: Plan, node: Node, seen: float | None, work: Work) -> Finding:
    detail = node.plain_detail
    tests = detail.count(" OR ") + detail.count(" AND ") + detail.count(",") + 1
    rows = f" for each of {format_count(seen)} rows" if seen is not None else ""
    site = f" ({plan.call_site})" if plan.call_site else ""
    return Finding(
        title=f"A filter of {format_count(len(detail))} characters",
        summary=f"{plan.words}: a condition of {format_count(len(detail))} characters, about {tests} tests, was worked "
        f"out{rows}.",
        where=at(plan, work),
        evidence=(
            Evidence(f"it begins: {detail[:160]}…", "plan_nodes.detail", len(detail), "characters"),
            Evidence(
                f"the tasks of its stage ran {format_ms(work.run_ms)}",
                "tasks.executor_run_time_ms",
                round(work.run_ms),
                "ms",
            ),
        ),
        advice=(
            Advice(
                "code",
                f"Put the values of the condition{site} into a small DataFrame and join with it: "
                'df.join(broadcast(values), key, "left_semi"), or "left_anti" for NOT IN.',
            ),
        ),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="How much of its stage the filter took is not in the log, so it has no price.",
        confidence=0.6,
        consequence="hint",
    )


RULE = Rule(code="F4", name="long-filter", since="0.1", reads=READS, limits=Limits(), check=check)
