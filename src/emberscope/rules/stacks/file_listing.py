"""Tasks asked the file system again and again what files there are.

## What it means
Each listing, exists or getFileStatus is a request: on an object store, and on a busy name node as well, it takes tens
of milliseconds. Inside of a function that runs for each row, or for thousands of small files, these requests are most
of the work.

## What it costs
An upper bound: CPU time, time in native code and waits for locks of these stacks, taken off the tasks before the
schedule is replayed. Waits for the network are in it only as far as samples of threads in native code or of the wall
clock show them.

## What to do
List once on the driver and hand the result on as a column or a broadcast. Open a file and handle its absence in place
of asking first. Read directories through Spark's sources, with partition columns, or tables that know their files
(Delta, Iceberg). Merge small files.

## When to ignore it
When Spark itself lists a table of very many directories in tasks; then fewer, larger partitions help.
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
