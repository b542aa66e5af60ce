"""Tasks asked the file system again and again what is there.

## What it means
Each listing, exists or getFileStatus is a request, on an object store tens of milliseconds, on a busy name node as
well. Inside of a function that runs for each row, or for thousands of small files, these requests are the work.

## What it costs
CPU time and time in native code of these stacks taken off each task of the stage. Waits for the network are in it
only as far as samples of threads in native code or of the wall clock show them.

## What to do
List once on the driver and hand the result on as a column or a broadcast. Open files and handle their absence in
place of asking first. Read directories through Spark's sources, with partition columns, and from tables with a
manifest or a metastore (Delta, Iceberg, Hive). Put small files together.

## When to ignore it
When it is the listing itself that Spark spreads over tasks for a table of very many directories; then fewer, larger
partitions help.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import FILE_LISTING

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "asking the file system for listings and states",
        0.7,
        "the task time of these stacks taken off, as if the work were free.",
        _advice,
    )
    return findings(run, FILE_LISTING.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    yield Advice(
        "code",
        f"Ask once, on the driver, and broadcast the answer; {asker(spots)} asks from inside of tasks. Open a file and "
        "handle its absence in place of exists.",
    )
    yield Advice("check", "Count the files and directories that the stage reads: put small files together.")


RULE = Rule(
    code=FILE_LISTING.code, name="files-listed-in-tasks", since="0.1", reads=READS, limits=Limits(), check=check
)
