"""The results of a job's tasks together were larger than the driver takes.

## What it means
Each task sends a result to the driver: the rows that it collected, and a few kilobytes of its own (metrics, names of
written files) even where nothing is collected. Spark adds them up for each set of tasks and aborts the job beyond
`spark.driver.maxResultSize` (1 GiB by default), before the driver's heap is full. How large one task's result is tells
the two cases apart: megabytes are collected rows (`collect`, `toPandas`, a broadcast), kilobytes are too many tasks.

## What it costs
The job is aborted, and all that its stage had done was in vain: the limit is met when most tasks have ended.

## What to do
Where rows are collected, collect fewer: write them out, aggregate or limit first. Where nothing is collected, have
fewer tasks. A higher limit needs that much more driver memory, and moves the wall without taking it away.

## When to ignore it
Never where the job was aborted. Where it was to fail early rather than fill the driver, the limit did its work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import failure, groups_of
from emberscope.rules.failures.room import SIZE, size_of
from emberscope.rules.said import Said, said
from emberscope.rules.settings import MIB, bytes_setting, memory_words
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes, format_count

if TYPE_CHECKING:
    from emberscope.tables.run import Run

RESULT_SIZE: Final = Signature(
    name="result-size",
    pattern=rf"Total size of serialized results of (?P<tasks>\d{{1,12}}) tasks \((?P<size>{SIZE})\) is bigger than "
    rf"(?:spark\.driver\.maxResultSize|local maxResultSize limit)\s*\(?(?P<limit>{SIZE})?|"
    rf"Result is larger than maxResultSize \((?P<one>{SIZE}) > (?P<most>{SIZE})\)",
    literals=("Total size of serialized results of ", "Result is larger than maxResultSize"),
    words=((r"max ?result ?size",), (r"serialized results", r"bigger|larger|exceed")),
)
_KEY: Final = "spark.driver.maxResultSize"
_BROADCAST: Final = re.compile(r"[Bb]roadcastExchange|broadcast-exchange|executeBroadcast|relationFuture")


class Limits(Struct, frozen=True):
    """A task that collects nothing sends some kilobytes (5,982 bytes in EMR's guide): our proposals."""

    most_bytes: int = 64 << 10  # of one task's result, where nothing is collected
    least_tasks: int = 2_000


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, RESULT_SIZE.name)
    if not rows:
        return
    groups = [groups_of(row, RESULT_SIZE) for row in rows]
    tasks = max((int(found["tasks"]) for found in groups if "tasks" in found), default=0)
    first = next((found for found in groups if "tasks" in found), groups[0])
    size = size_of(first.get("size") or first.get("one"))
    limit = size_of(first.get("limit") or first.get("most")) or bytes_setting(run, _KEY, "1g")
    mean = size / int(first["tasks"]) if size and "tasks" in first and int(first["tasks"]) else None
    many = mean is not None and mean <= limits.most_bytes and tasks >= limits.least_tasks
    yield failure(
        run,
        rows,
        title=_title(tasks, mean, many, limit),
        summary=_summary(rows, tasks, mean, many),
        advice=_advice(rows, limit, many, mean is not None),
        confidence=0.95,
        consequence="ended",
    )


def _title(tasks: int, mean: float | None, many: bool, limit: int) -> str:
    if many:
        return f"{format_count(tasks)} tasks are so many that their bare results passed {_KEY} ({format_bytes(limit)})"
    if mean is not None:
        return f"{format_count(tasks)} tasks sent {format_bytes(mean)} each: more than {_KEY} ({format_bytes(limit)})"
    return f"Results of tasks were larger than {_KEY} ({format_bytes(limit)})"


def _summary(rows: Sequence[Said], tasks: int, mean: float | None, many: bool) -> str:
    if many and mean is not None:
        return (
            f"A task that collects nothing still sends its metrics and file names, here {format_count(mean)} bytes; "
            "the number of tasks "
            f"({format_count(tasks)}) is the trouble, not a collect. So many come from input that is cut into small "
            "splits (spark.default.parallelism too high) or from many partitions. A larger limit only hides it."
        )
    if any(_BROADCAST.search(row.text) for row in rows):
        return (
            "The rows of a broadcast join pass the driver: the table that is sent is larger than the driver takes as "
            "one result. The limit protects the driver's heap."
        )
    return (
        "Spark adds up what the tasks of a job send to the driver and aborts it before the driver's heap is full. "
        "Results of this size are collected rows: collect, toPandas, take of many rows, or a broadcast. Without any of "
        "these, the number of tasks is what adds up."
    )


def _advice(rows: Sequence[Said], limit: int, many: bool, known: bool) -> Iterator[Advice]:
    if many:
        yield Advice(
            "code",
            "Have fewer tasks: lower spark.default.parallelism or set spark.sql.files.minPartitionNum (from Spark 3.1 "
            "on) so that splits reach spark.sql.files.maxPartitionBytes, or coalesce before the write.",
        )
    elif any(_BROADCAST.search(row.text) for row in rows):
        yield set_conf(
            "spark.sql.autoBroadcastJoinThreshold", "-1", "No broadcast join by itself; take hints away too."
        )
    else:
        yield Advice(
            "code",
            "Write the rows out, or aggregate, filter and limit them, instead of collecting them all in the driver"
            + ("." if known else "; where nothing is collected, have fewer tasks (fewer partitions)."),
        )
    value = memory_words(max(2 * limit, 2048 * MIB))
    yield set_conf(
        _KEY, value, "If it must be: with as much more spark.driver.memory. 0 is no limit, at the heap's risk."
    )


RULE = Rule(
    code="K8",
    name="result-size",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(RESULT_SIZE,),
)
