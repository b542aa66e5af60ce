"""A table of a database was read through one connection by one task.

## What it means
`spark.read.jdbc` without bounds opens one connection and reads all rows with one task, whatever the size of the
cluster. All other cores wait, and the rows lie in one partition for the steps after it.

## What it costs
The application replayed with the work of that task spread over as many connections as the cluster has cores, eight at
most: few databases stand more. It takes longer where the database itself is the limit.

## What to do
Give the reader a numeric, date or timestamp column with its bounds and a number of partitions, so that each task reads
its own range; rows outside the bounds are read too, by the first and the last task. Let the database filter and
aggregate (a subquery as `dbtable`: the option `query` does not go with a partition column), and fetch more rows in one
round trip (`fetchsize`; some drivers fetch ten by default).

## When to ignore it
When the table is small, or when the database must not be asked over more than one connection at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.places import place_of, places
from emberscope.rules.plans import plans
from emberscope.rules.price import priced
from emberscope.rules.shuffle.partitions import most_cores
from emberscope.rules.storage.files import stages_at
from emberscope.tables.jobs import JOBS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_ONE: Final = re.compile(r"JDBCRelation\((.*)\) \[numPartitions=1\]")


class Limits(Struct, frozen=True):
    """No tool that we know of has numbers for this; all values are our proposal."""

    floor_ms: int = 10_000  # run time of the only task
    most: int = 8  # connections that the price and the advice reckon with


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    known = places(run)
    for plan in plans(run).values():
        for node in plan.named("Scan"):
            found = _ONE.search(node.detail) or _ONE.search(node.title)
            if found is None:
                continue
            for whole in stages_at(run, node.stage_ids, long=False):
                stage = whole.succeeded()
                if len(stage) != 1 or stage.run_ms()[0] < limits.floor_ms:
                    continue
                place, run_ms = place_of(known, stage.key), float(stage.run_ms()[0])
                count = max(2, min(limits.most, most_cores(run) or limits.most))
                price = priced(
                    run, {stage.key: np.full(count, run_ms / count)}, f"The work of the task spread over {count} tasks."
                )
                rows = node.rows
                yield Finding(
                    title=f"{place.title} read {found[1]} through one database connection",
                    summary=f"{place.sentence}: one task of {format_ms(run_ms)} read the whole table"
                    + (f", {format_count(rows)} rows." if rows is not None else "."),
                    where=place.where,
                    evidence=(
                        Evidence("the plan has JDBCRelation with numPartitions=1", "plan_nodes.detail"),
                        Evidence(
                            f"its only task ran {format_ms(run_ms)}",
                            "tasks.executor_run_time_ms",
                            round(run_ms),
                            "ms",
                        ),
                    ),
                    advice=(
                        Advice(
                            "code",
                            f'Read {found[1]} in ranges: `.option("partitionColumn", "id").option("lowerBound", '
                            f'min).option("upperBound", max).option("numPartitions", {count})` with an indexed '
                            "numeric, date or timestamp column.",
                        ),
                        Advice("code", 'Fetch more rows in one round trip: `.option("fetchsize", 10000)`.'),
                    ),
                    wasted_wall_ms=price.wall_ms,
                    wasted_core_ms=None,
                    saving_basis=price.basis,
                    confidence=0.6,
                )


RULE = Rule(
    code="E8",
    name="jdbc-single-partition",
    since="0.1",
    reads=(Reads(TASKS, ("executor_run_time_ms",)), Reads(STAGES), Reads(JOBS), Reads(PLAN_NODES)),
    limits=Limits(),
    check=check,
)
