"""A long stage was one single task: all other slots waited for it.

## What it means
All rows of the stage went through one task: one core worked and the rest of the cluster waited. Usual reasons are
`coalesce(1)` or `repartition(1)`, a window without a column to partition by, a `limit` of many rows, an aggregate over
all rows that cannot be computed in parts, a file that cannot be split (gzip, one JSON document), and a database table
that is read over one connection. A single task that writes files is reported by single-task-write (E10).

## What it costs
The time between the stage as it was and the same work in three even tasks per slot, replayed through the rest of the
application. It can be saved only where the result can be computed in parts.

## What to do
The finding names the operator. Give a window a column to partition by. Sort within partitions, or sort only the rows
that are wanted (`orderBy(…).limit(n)`). Leave out `coalesce(1)`, or use `repartition(1)`, which keeps the steps before
it parallel. Write the file anew in a format that can be split.

## When to ignore it
When the task is long for another reason than its rows (a model that it loads, a service that it calls), or when the
result needs all rows in one place, such as a running number over all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.places import AGGREGATES, GROUPS, Place
from emberscope.rules.price import priced
from emberscope.rules.time.partitions import more_partitions
from emberscope.rules.time.stage_scope import Scope, barriers, long_stages, most_parts
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Sources: Compass reports a single task of more than 20 minutes and 50 million records. We speak of shorter ones,
    since the price says how much it matters; that and the floors are our proposal."""

    floor_ms: int = 10_000  # shorter stages are never reported (proposal)
    least_app_ratio: float = 0.01  # wall time of the stage over that of the application (proposal)
    tasks_per_slot: int = 3  # what is advised (Spark's tuning guide)
    least_saving: float = 0.1  # saving over the stage's wall time; less is not worth a change (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    # A stage that writes by one task is told with its output: another rule names the write.
    no_write = (figures.total("output_bytes") == 0) & (figures.total("output_records") == 0)
    for scope in long_stages(run, least_ms=limits.floor_ms, least_ratio=limits.least_app_ratio, chosen=no_write):
        if scope.task_count != 1 or scope.slots < 2 or scope.stage.key in barriers(run):
            continue
        if not len(scope.stage.succeeded()):
            continue
        count = round(min(limits.tasks_per_slot * scope.slots, most_parts(run, scope)))
        if count < 2:
            continue
        found = _finding(run, scope, count)
        if (found.wasted_wall_ms or 0) >= limits.least_saving * scope.wall_ms or found.wasted_wall_ms is None:
            yield found


def _finding(run: Run, scope: Scope, count: int) -> Finding:
    place = scope.place
    price = priced(run, {scope.stage.key: scope.spread(count)}, f"Its work in {count} even tasks, if it can be cut.")
    why, advice, confidence = _reason(run, scope, count)
    read_bytes = scope.total("input_bytes") + scope.shuffle_read_bytes
    records = scope.total("input_records") + scope.total("shuffle_read_records")
    return Finding(
        title=f"{place.title} was one task: {why}",
        summary=f"{place.sentence} took {format_ms(scope.wall_ms)} in a single task, while the other "
        f"{scope.slots - 1} of {scope.slots} slots had nothing to do; {why}.",
        where=place.where,
        evidence=(
            Evidence("1 task", "stages.task_count", 1, "tasks"),
            Evidence(f"{scope.slots} slots", "executors.cores while the stage ran", scope.slots, "slots"),
            Evidence(
                f"it read {format_bytes(read_bytes)} and {format_count(records)} records",
                "tasks.input_bytes + shuffle_read_*_bytes, input_records + shuffle_read_records",
                round(read_bytes),
                "bytes",
            ),
        ),
        advice=tuple(advice),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round((scope.slots - 1) * scope.wall_ms) * scope.stage.cpus,
        saving_basis=price.basis,
        confidence=confidence,
    )


def _reason(run: Run, scope: Scope, count: int) -> tuple[str, list[Advice], float]:
    """Why the stage is one task, what to do about it, and how sure that is."""
    place = scope.place
    single = any(op.name == "Exchange" and "SinglePartition" in op.detail for op in place.operators)
    window, sort, aggregate = (place.operator(names) for names in (GROUPS, ("Sort",), AGGREGATES))
    coalesce = place.operator(("Coalesce",))
    if coalesce is not None or (place.where.sql is None and _coalesced(run, place)):
        advice = [
            Advice(
                "code",
                "Leave out `coalesce(1)`, or put `repartition(1)` in its place: that lets the steps before it run in "
                "parallel and moves only the result into one task.",
            )
        ]
        return "the program asked for one partition (coalesce)", advice, 0.8
    if single and window is not None:
        columns = f" ({window.detail[:200]})" if window.detail else ""
        advice = [Advice("code", f"Give the window a `partitionBy`, so that it falls into parts{columns}.")]
        return f"{window.name} has no column to partition by", advice, 0.8
    if single and sort is not None:
        keys = f" by {sort.keys}" if sort.keys else ""
        advice = [
            Advice(
                "code",
                f"Sort{keys} only what is wanted: `orderBy(…).limit(n)` keeps the first rows of each task, "
                "`sortWithinPartitions` needs no order over all rows.",
            )
        ]
        return f"all rows are sorted{keys} in one partition", advice, 0.7
    if single and aggregate is not None:
        advice = [
            Advice(
                "code",
                "An aggregate without keys ends in one task: let it take parts that are already small (aggregate by a "
                "key first; approx_count_distinct in place of count(distinct); no collect_list over all rows).",
            )
        ]
        return f"{aggregate.name} over all rows has no keys", advice, 0.5
    if scope.total("input_bytes") > 0:
        advice = list(more_partitions(run, scope, count))
        return "what it read was not split", advice, 0.7
    return "all of its rows are in one partition", list(more_partitions(run, scope, count)), 0.6


def _coalesced(run: Run, place: Place) -> bool:
    """Whether an RDD of the stage was made by `coalesce`."""
    stages = run.tables["stages"]
    columns = [stages[name].to_pylist() for name in ("stage_id", "stage_attempt", "rdd_names")]
    return any(
        any(re.search(r"CoalescedRDD|\bcoalesce\b", name) for name in names or ())
        for stage, attempt, names in zip(*columns, strict=True)
        if (stage, attempt) == (place.where.stage, place.where.stage_attempt)
    )


RULE = Rule(
    code="A6",
    name="single-task",
    since="0.1",
    reads=(Reads(TASKS, ("launch_ms", "finish_ms")), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
