"""An operator took all rows into one task, or made many more rows than were needed.

## What it means
Three shapes of a plan do far more work than the result needs. A window without PARTITION BY moves all rows into one
task: one core sorts and walks through them while all others wait. Several COUNT(DISTINCT ...) in one aggregation (and
GROUPING SETS, CUBE, ROLLUP) copy each row once for each of them before the first shuffle (Expand in the plan). An
explode makes a row of each element of an array, and a filter right behind it throws nearly all of them away.

## What it costs
For the window: its stage, replayed as if its work were spread over all cores. For copies and exploded rows: the stage
that made them, replayed as if it had worked on as many rows as it needed. Upper bounds, all three.

## What to do
Window: add PARTITION BY with a column that the question allows. For a number that tells rows apart, use
monotonically_increasing_id(), which leaves gaps, or zipWithIndex of an RDD, which does not; for a running total, add up
each partition first. Distinct counts: approx_count_distinct where an error of a few percent will do, or one aggregation
for each, joined afterwards. Explode: filter the array before, with filter(column, x -> ...), or take the one element
that is needed (element_at).

## When to ignore it
When the question needs it: exact distinct counts over all columns, or a window that really has to see all rows in
order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Rule
from emberscope.rules.plan.work import READS, Work, at, work_of
from emberscope.rules.plans import Node, Plan, plans
from emberscope.rules.price import priced
from emberscope.simulate.cores import core_steps
from emberscope.units import format_count, format_ms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.simulate.stage_tasks import StageKey
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Compass calls a single task with more than 50 million rows a global sort; the catalogue has no numbers for the
    rest. All values are our proposal, set so that only true cases are told in the logs of our tests."""

    least_rows: float = 1_000_000  # rows that came out of the operator (proposal)
    copies: float = 2.5  # rows out over rows in of an Expand (proposal)
    dropped: float = 0.9  # share of the exploded rows that the filter behind throws away (proposal)
    floor_ms: int = 10_000  # wall time of the stage, or ... (catalogue)
    least_app_ratio: float = 0.01  # ... its share of the application (catalogue)
    floor_task_ms: int = 5_000  # task time of the stage (proposal)


class _Found(Struct, frozen=True):
    """What one operator did. `needed` is the share of the stage's work that would have been enough."""

    title: str
    what: str
    evidence: tuple[Evidence, ...]
    advice: tuple[Advice, ...]
    needed: float | None
    confidence: float


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for plan in plans(run).values():
        for node in plan.nodes:
            if node.cached:
                continue
            found = _window(plan, node, limits) or _copies(plan, node, limits) or _exploded(plan, node, limits)
            if found is None:
                continue
            work = work_of(run, node.stage_ids or (stage for child in node.children for stage in child.stage_ids))
            if work.run_ms < limits.floor_task_ms:
                continue
            if work.is_worth_a_word(run, limits.floor_ms, limits.least_app_ratio):
                yield _finding(run, plan, node, found, work)


def _finding(run: Run, plan: Plan, node: Node, found: _Found, work: Work) -> Finding:
    if found.needed is None:
        changed = _spread(run, work)
        price = priced(run, changed, "Upper bound: the work of its stage as if it were spread over all cores.")
        core_ms = None
    else:
        price = priced(run, work.times(found.needed), "Upper bound: its stage with only the rows that are needed.")
        core_ms = round(work.run_ms * (1 - found.needed))
    return Finding(
        title=found.title,
        summary=f"{plan.words}: {found.what}",
        where=at(plan, work),
        evidence=(
            *found.evidence,
            Evidence(
                f"the tasks of its stage ran {format_ms(work.run_ms)}",
                "tasks.executor_run_time_ms",
                round(work.run_ms),
                "ms",
            ),
        ),
        advice=found.advice,
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=core_ms,
        saving_basis=price.basis,
        confidence=found.confidence,
    )


def _spread(run: Run, work: Work) -> Mapping[StageKey, NDArray[np.float64]]:
    """The tasks of each stage cut into as many equal ones as there are cores."""
    steps = core_steps(run)
    cores = max(1, int(steps[1].max())) if steps is not None else 1
    found: dict[Any, NDArray[np.float64]] = {}
    for stage in work.stages:
        lengths = stage.tasks.durations_ms()
        found[stage.tasks.key] = np.full(cores, float(np.nansum(lengths)) / cores)
    return found


def _window(plan: Plan, node: Node, limits: Limits) -> _Found | None:
    """A window over rows that all came into one partition."""
    if not node.name.endswith("Window") and node.name != "WindowInPandas":
        return None
    exchange = next((below for below in _chain(node) if below.name.endswith("Exchange")), None)
    if exchange is None or "SinglePartition" not in exchange.detail:
        return None
    rows = exchange.rows
    if rows is None or rows < limits.least_rows:
        return None
    site = f" ({plan.call_site})" if plan.call_site else ""
    return _Found(
        f"A window without PARTITION BY took {format_count(rows)} rows into one task",
        f"{node.name} has no PARTITION BY, so that all {format_count(rows)} rows went into one partition.",
        (
            Evidence(_short(node), "plan_nodes.detail"),
            Evidence(
                f"{format_count(rows)} rows went into one partition",
                "plan_metrics: shuffle records written",
                rows,
                "rows",
            ),
        ),
        (
            Advice(
                "code",
                f"Add Window.partitionBy(...) to the window{site}, by a column within which the order matters. For a "
                "number for each row alone, use monotonically_increasing_id(): unique, with gaps.",
            ),
        ),
        None,
        0.85,
    )


def _copies(plan: Plan, node: Node, limits: Limits) -> _Found | None:
    """Rows copied for several distinct counts or grouping sets."""
    if not node.name.endswith("Expand") or len(node.children) != 1:
        return None
    rows, before = node.rows, node.children[0].rows_below
    if rows is None or not before or rows < limits.least_rows or rows < limits.copies * before:
        return None
    grouping = "grouping_id" in node.detail
    site = f" ({plan.call_site})" if plan.call_site else ""
    what = "grouping sets" if grouping else "distinct counts"
    advice = (
        "Ask only for the grouping sets that are used, or work out the finest one and add its rows up for the others"
        if grouping
        else "Use approx_count_distinct(column) where an error of a few percent will do, or one aggregation for each "
        "distinct count, joined by the group"
    )
    return _Found(
        f"{format_count(before)} rows became {format_count(rows)} for {what}",
        f"each row was copied {rows / before:.0f} times for {what} before it was aggregated.",
        (
            Evidence(_short(node), "plan_nodes.detail"),
            Evidence(
                f"{format_count(before)} rows in, {format_count(rows)} out",
                "plan_metrics: number of output rows",
                round(rows / before, 2),
                "ratio",
            ),
        ),
        (Advice("code", f"{advice}{site}."),),
        before / rows,
        0.6,
    )


def _exploded(plan: Plan, node: Node, limits: Limits) -> _Found | None:
    """Elements made into rows that the filter right behind throws away."""
    if not node.name.endswith("Generate"):
        return None
    above = node.parent
    while above is not None and above.name == "Project":
        above = above.parent
    rows = node.rows
    if above is None or not above.name.endswith("Filter") or rows is None or rows < limits.least_rows:
        return None
    kept = above.rows
    if kept is None or kept > (1 - limits.dropped) * rows:
        return None
    site = f" ({plan.call_site})" if plan.call_site else ""
    return _Found(
        f"{format_count(rows)} exploded rows, of which {format_count(kept)} were kept",
        f"an explode made {format_count(rows)} rows, and the filter behind it kept {format_count(kept)}.",
        (
            Evidence(_short(node), "plan_nodes.detail"),
            Evidence(
                f"the filter kept {format_count(kept)} of {format_count(rows)} rows: {_short(above)}",
                "plan_metrics: number of output rows",
                round(kept / rows, 4),
                "ratio",
            ),
        ),
        (
            Advice(
                "code",
                f"Filter the array before it is exploded{site}: F.explode(F.filter(column, lambda x: ...)), with the "
                "condition of the filter.",
            ),
        ),
        max(kept / rows, 0.05),
        0.6,
    )


def _chain(node: Node) -> Iterator[Node]:
    """The operators under one, as long as there is just one."""
    while len(node.children) == 1:
        node = node.children[0]
        yield node


def _short(node: Node, most: int = 160) -> str:
    detail = re.sub(r"\s+", " ", node.plain_detail or node.title)
    return detail if len(detail) <= most else detail[: most - 1] + "…"


RULE = Rule(code="F9", name="row-blow-up", since="0.1", reads=READS, limits=Limits(), check=check)
