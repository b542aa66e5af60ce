"""Files and folders are listed before the query can start.

## What it means
To plan a read, Spark lists the folders of a table that no catalog knows the files of. Up to 32 paths the driver does it
by itself; above `spark.sql.sources.parallelPartitionDiscovery.threshold` it runs a job that lists them on executors. On
object stores each folder is one or more requests.

## What it costs
The time of the listing before every query, and the slots of the job that lists: both grow with the folders.

## What to do
Give the root of a table or a table of a catalog instead of many single paths, use fewer partitions, or a table format
with a manifest of its files. The threshold decides only where the listing runs.

## When to ignore it
When the job takes seconds: it is Spark's normal way to plan a read of many paths, and nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import answer
from emberscope.rules.failures.ending import groups_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TOLD_FILE_LISTING: Final = Signature(
    name="told-file-listing",
    pattern=r"It took (?P<ms>\d+) ms to list leaf files(?: for (?P<listed>\d+) paths)?|"
    r"Listing leaf files and directories for (?P<paths>\d+) paths",
    literals=("ms to list leaf files", "Listing leaf files and directories for"),
    words=(
        (r"list(ing|s)? (of )?leaf files",),
        (
            r"\b(listing|list|discover(ing|y)?)\b.{0,40}\b(files|paths|partitions|director\w+|folders|s3|objects)\b",
            r"slow|long|minutes|hours|before|stuck|hang",
        ),
    ),
)
_THRESHOLD: Final = 32


class Limits(Struct, frozen=True):
    """Listing is told of where it took long, by itself or as somebody complains (our proposal)."""

    least_ms: int = 10_000


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = tuple(row for row in said(run, TOLD_FILE_LISTING.name) if _long(row, limits))
    if rows:
        yield _listing(rows)


def _long(row: Said, limits: Limits) -> bool:
    found = groups_of(row, TOLD_FILE_LISTING)
    return int(found["ms"]) >= limits.least_ms if "ms" in found else row.level is None


def _listing(rows: tuple[Said, ...]) -> Finding:
    found = groups_of(rows[0], TOLD_FILE_LISTING)
    took = f" for {format_ms(int(found['ms']))}" if "ms" in found else ""
    paths = int(found.get("paths") or found.get("listed") or 0)
    many = f" {paths:,} paths" if paths else " files and folders"
    advice = [
        Advice(
            "code",
            "Read one root path or a table of a catalog with partition filters instead of many single paths; fewer and "
            "larger partitions, or a format that keeps a manifest (Iceberg, Delta), need no listing.",
        )
    ]
    if paths > _THRESHOLD:
        advice.append(
            set_conf(
                "spark.sql.sources.parallelPartitionDiscovery.threshold",
                2 * paths,
                "Lists them on the driver instead of in a job: no slots are taken, but one machine asks for all.",
            )
        )
    return answer(
        rows,
        title=f"Spark lists{many}{took} before the query starts",
        summary=f"More paths than spark.sql.sources.parallelPartitionDiscovery.threshold ({_THRESHOLD}) are listed by "
        "a job of their own, which takes task slots: the number of paths and partitions is what makes it long.",
        advice=advice,
        confirm="An event log shows how long the job of the listing took and what waited for it.",
        confidence=0.7,
    )


RULE = Rule(
    code="W6",
    name="told-file-listing",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_FILE_LISTING,),
)
