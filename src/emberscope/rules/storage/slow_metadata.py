"""Before a table was read, the driver spent long on finding its files.

## What it means
To plan a scan, the driver asks the metastore for partitions and lists their directories. With many partitions, many
files or a slow object store that takes seconds to minutes in which the query runs no task of its own. Spark counts it
as "metadata time" of the scan, and lists many directories by jobs of their own.

## What it costs
An upper bound: the time that the driver and the listing jobs took. Where the program has several threads, jobs that ran
at the same time make it less.

## What to do
Register the table in a catalog that knows its partitions, or use a table format (Iceberg, Delta), which keeps a list of
its files; then a condition on the partition columns lets Spark look up only the partitions that match. A bare path is
listed as a whole, whatever the query filters: give only the directories that you need (with the option `basePath`),
read it once, and keep the DataFrame, since each `spark.read` lists anew. Have fewer and larger partitions, and compact
small files.

## When to ignore it
When the table is listed once for a long computation, or when only the first, cold request was slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where
from emberscope.rules.price import driver_saving
from emberscope.rules.storage.files import FileScan, figure, file_scans
from emberscope.tables.jobs import JOBS
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.units import format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_METADATA: Final = ("metadata time", "metadata time (ms)", "driver time - list and filter partitions")
_LISTING: Final = "Listing leaf files and directories"


class Limits(Struct, frozen=True):
    """No tool that we know of has numbers for this; all values are our proposal."""

    floor_ms: int = 10_000  # metadata time of one scan, or listing jobs in all
    app_ratio: float = 0.02  # and its share of the application


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    least_ms = max(limits.floor_ms, limits.app_ratio * (run.application.observed_ms or 0))
    for scan in file_scans(run):
        spent = figure(scan.node, *_METADATA)
        if spent is not None and spent >= least_ms:
            yield _scan(run, scan, spent)
    yield from _listing(run, least_ms)


def _scan(run: Run, scan: FileScan, spent: float) -> Finding:
    price = driver_saving(run, spent, "Upper bound: all of the time in which the driver looked for files.")
    parts = figure(scan.node, "number of partitions read", "partitions read")
    found = f"{format_count(scan.files)} files" + (f" in {format_count(parts)} partitions" if parts else "")
    return Finding(
        title=f"The driver took {format_ms(spent)} to find the files of {scan.table}",
        summary=f"{scan.plan.words}: {format_ms(spent)} passed before the scan could start; it found {found}.",
        where=scan.plan.where,
        evidence=(
            Evidence(
                f"metadata time of the scan was {format_ms(spent)}",
                "plan_metrics: metadata time",
                round(spent),
                "ms",
            ),
            Evidence(f"it found {found}", "plan_metrics: number of files read", scan.files, "files"),
        ),
        advice=tuple(_advice()),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=None,
        saving_basis=price.basis,
        confidence=0.5,
    )


def _listing(run: Run, least_ms: float) -> Iterator[Finding]:
    columns = ["job_id", "submitted_ms", "completed_ms", "description"]
    jobs = [
        (row["job_id"], row["completed_ms"] - row["submitted_ms"])
        for row in run.tables["jobs"].select(columns).to_pylist()
        if (row["description"] or "").startswith(_LISTING)
        and row["submitted_ms"] is not None
        and row["completed_ms"] is not None
        and row["completed_ms"] > row["submitted_ms"]
    ]
    total = sum(length for _, length in jobs)
    if not jobs or total < least_ms:
        return
    price = driver_saving(run, total, "Upper bound: all of the time of the jobs that listed directories.")
    worst = max(jobs, key=lambda pair: (pair[1], -pair[0]))
    yield Finding(
        title=f"{format_count(len(jobs))} {'job' if len(jobs) == 1 else 'jobs'} listed directories for "
        f"{format_ms(total)}",
        summary=f"Spark ran {format_count(len(jobs))} jobs only to list directories, {format_ms(total)} in all; the "
        f"longest was job {worst[0]}.",
        where=Where(job=worst[0]),
        evidence=(
            Evidence(
                f"jobs “{_LISTING} …” ran {format_ms(total)}",
                "jobs.description, jobs.submitted_ms, jobs.completed_ms",
                round(total),
                "ms",
            ),
        ),
        advice=tuple(_advice()),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=None,
        saving_basis=price.basis,
        confidence=0.5,
    )


def _advice() -> Iterator[Advice]:
    yield Advice(
        "code",
        "Read only the partitions that are needed (of a table in a catalog by a condition on the partition columns, of "
        "a bare directory by their paths), and keep the DataFrame: each call of `spark.read` lists anew.",
    )
    yield Advice(
        "check",
        "Is the table in a catalog that knows its partitions, or in a table format (Iceberg, Delta) that keeps a list "
        "of its files? A bare directory is listed as a whole.",
    )


RULE = Rule(
    code="E7",
    name="slow-metadata",
    since="0.1",
    reads=(Reads(JOBS, ("submitted_ms",)), Reads(PLAN_NODES), Reads(PLAN_METRICS)),
    limits=Limits(),
    check=check,
)
