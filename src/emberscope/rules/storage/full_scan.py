"""A scan read a large table as a whole, and a filter right above it threw nearly all rows away.

## What it means
Files can be skipped without being read where the table is partitioned by a column that the filter names, or where the
statistics in Parquet and ORC files show that no row can match. Here no filter chose partitions, and less than a tenth
of the rows that were read was kept.

## What it costs
An upper bound: the share of the scan's time that belongs to rows which were dropped, replayed through the application.
A better layout of the table still reads some rows for nothing.

## What to do
Where the table is partitioned, add a condition on a partition column to the query: Spark then reads the files of the
partitions that match, and no others. Where it is not, partition it by a column that queries filter by and that has few
values, or sort (cluster, z-order) its files by the columns in the advice, so that statistics let most of them be
skipped.

## When to ignore it
When this query runs once, or when the layout of the table serves other queries that matter more. Where Spark could not
push the filter into the scan at all, no-pushdown (E5) reports it instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.long_stages import shortened
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.rules.storage.files import figure, spread
from emberscope.rules.storage.kept_rows import Kept, kept_rows, listed, scanning_stages, useless_ms
from emberscope.rules.storage.no_pushdown import is_pushed
from emberscope.tables.jobs import JOBS
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Compass reports scans of more than 50 billion rows whatever becomes of them. We ask how many were kept, and take
    the price from there; these values are our proposal."""

    ratio: float = 0.1  # rows kept over rows read
    rows: int = 1_000_000  # rows read


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for kept in kept_rows(run):
        if kept.read_rows < limits.rows or kept.ratio > limits.ratio or not is_pushed(kept.scan):
            continue
        if listed(kept.scan, "PartitionFilters"):
            continue
        stages = scanning_stages(run, kept.scan)
        if not stages:
            continue
        useless = useless_ms(kept, stages)
        price = priced(
            run,
            {s.key: shortened(s, ms) for s, ms in zip(stages, spread(stages, useless), strict=True)},
            "Upper bound: the time of the rows that were dropped.",
        )
        worst = max(stages, key=lambda stage: (float(stage.run_ms().sum()), stage.key))
        place, scan = place_of(places(run), worst.key), kept.scan
        evidence = [
            Evidence(
                f"{format_count(kept.kept_rows)} of {format_count(kept.read_rows)} rows were kept",
                "plan_metrics: number of output rows of the scan and of the filter",
                round(kept.ratio, 6),
                "ratio",
            ),
            Evidence(
                f"{format_count(scan.files)} files of {format_bytes(scan.size_bytes)} in all were read",
                "plan_metrics: number of files read, size of files read",
                scan.size_bytes,
                "bytes",
            ),
        ]
        parts = figure(scan.node, "number of partitions read", "partitions read")
        if parts:
            evidence.append(
                Evidence(
                    f"{format_count(parts)} partitions were read, by no condition on them",
                    "plan_metrics: number of partitions read; plan_nodes.detail: PartitionFilters",
                    parts,
                    "partitions",
                )
            )
        yield Finding(
            title=f"{place.title} read all of {scan.table} to keep {format_ratio(kept.ratio)} of its rows",
            summary=f"{place.sentence}: about {format_ms(useless)} of task time went into rows that the filter above "
            "the scan dropped.",
            where=place.where,
            evidence=tuple(evidence),
            advice=tuple(_advice(kept, partitioned=bool(parts))),
            wasted_wall_ms=price.wall_ms,
            wasted_core_ms=round(useless),
            saving_basis=price.basis,
            confidence=0.5 if parts else 0.35,
        )


def _advice(kept: Kept, *, partitioned: bool) -> Iterator[Advice]:
    columns, mine = ", ".join(kept.filter_columns[:4]) or "the columns of the filter", kept.partition_columns
    if partitioned:
        by = f" ({', '.join(mine)})" if mine else ""
        yield Advice(
            "code",
            f"{kept.scan.table} is partitioned{by}, and no condition on that reached the scan. Add one, without a "
            "Python function around the column: Spark then reads only the partitions that match.",
        )
    else:
        yield Advice(
            "code",
            f"Partition {kept.scan.table} by a column with few values among {columns}, or write it sorted by them "
            "(`df.sortWithinPartitions(…)`, `OPTIMIZE … ZORDER BY`), so that whole files are skipped.",
        )


RULE = Rule(
    code="E4",
    name="full-scan",
    since="0.1",
    reads=(
        Reads(TASKS, ("executor_run_time_ms", "input_bytes")),
        Reads(STAGES),
        Reads(JOBS),
        Reads(PLAN_NODES),
        Reads(PLAN_METRICS),
    ),
    limits=Limits(),
    check=check,
)
