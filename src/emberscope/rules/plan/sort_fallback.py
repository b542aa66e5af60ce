"""An aggregation ran out of room for its hash table and went on by sorting.

## What it means
A hash aggregation keeps one entry for each group in memory. When a task has no room for another group, it sorts what it
has, writes it to disk, starts again, and merges all parts at the end: much slower than the hash table alone. An
aggregation with collect_list, collect_set or similar functions (ObjectHashAggregate) gives up its hash table after a
fixed number of groups in a task, 128 by default, however much memory there is.

## What it costs
The log does not tell how long the sorting took, so no price is given. What these stages wrote to disk has a price in
the finding on spills (C3), if it is large.

## What to do
For ObjectHashAggregate raise spark.sql.objectHashAggregate.sortBased.fallbackThreshold to the value below, computed
from this run. Else give each task fewer groups or more memory: more shuffle partitions, or more memory for each core.
Aggregate numbers rather than lists, and filter before you group.

## When to ignore it
When only a few of many tasks fell back, or when the stage is short. The result is right in either case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Rule, set_conf
from emberscope.rules.plan.work import READS, Work, at, work_of
from emberscope.rules.plans import Node, Plan, plans
from emberscope.rules.settings import number_setting
from emberscope.units import format_bytes, format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_METRIC: Final = "number of sort fallback tasks"
_GROUPS: Final = "spark.sql.objectHashAggregate.sortBased.fallbackThreshold"


class Limits(Struct, frozen=True):
    """The catalogue asks for one task that fell back; the floors are the catalogue's and our proposal."""

    least_ratio: float = 0.1  # of the tasks of its stage (proposal)
    floor_ms: int = 10_000  # wall time of the stage, or ... (catalogue)
    least_app_ratio: float = 0.01  # ... its share of the application (catalogue)
    floor_task_ms: int = 5_000  # task time of the stage (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for plan in plans(run).values():
        for node in plan.nodes:
            tasks = node.metrics.get(_METRIC, 0.0)
            if tasks <= 0 or node.cached:
                continue
            work = work_of(run, node.stage_ids)
            of_all = sum(len(stage.tasks) for stage in work.stages)
            if not of_all or tasks < limits.least_ratio * of_all or work.run_ms < limits.floor_task_ms:
                continue
            if work.is_worth_a_word(run, limits.floor_ms, limits.least_app_ratio):
                yield _finding(run, plan, node, work, round(tasks), of_all)


def _finding(run: Run, plan: Plan, node: Node, work: Work, tasks: int, of_all: int) -> Finding:
    spilled = node.metrics.get("spill size", 0.0)
    wrote = f" and wrote {format_bytes(spilled)} to disk" if spilled else ""
    return Finding(
        title=f"{node.name} went on by sorting in {tasks} of {of_all} tasks",
        summary=f"{plan.words}: {node.name} had no room for its groups in {tasks} of {of_all} tasks, sorted them"
        f"{wrote}.",
        where=at(plan, work),
        evidence=(
            Evidence(f"{tasks} tasks fell back to sorting", f"plan_metrics: {_METRIC}", tasks, "tasks"),
            Evidence(
                f"the tasks of its stages ran {format_ms(work.run_ms)}",
                "tasks.executor_run_time_ms",
                round(work.run_ms),
                "ms",
            ),
        ),
        advice=tuple(_advice(run, plan, node, of_all)),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="How long the sorting took is not in the log, so it has no price.",
        confidence=0.8,
        consequence="hint",
    )


def _advice(run: Run, plan: Plan, node: Node, tasks: int) -> Iterator[Advice]:
    if node.name == "ObjectHashAggregate" and node.rows:
        groups = max(1.0, node.rows / tasks)
        wanted = 1 << int(groups * 2).bit_length()
        if wanted > number_setting(run, _GROUPS, 128):
            yield set_conf(
                _GROUPS,
                wanted,
                f"A task of this aggregation has {format_count(round(groups))} groups; they have to fit into memory.",
            )
            return
    site = f" ({plan.call_site})" if plan.call_site else ""
    yield Advice(
        "code",
        f"Give each task of the aggregation{site} fewer groups: more shuffle partitions, fewer columns in GROUP BY, or "
        "a filter before it.",
    )


RULE = Rule(code="F8", name="sort-fallback", since="0.1", reads=READS, limits=Limits(), check=check)
