"""So many tasks that their bare results fill the driver's limit, though nothing is collected.

## What it means
Each task sends a few kilobytes to the driver when it ends, even one that only writes files: its metrics and the names
of what it wrote. The limit `spark.driver.maxResultSize` is on the sum over a stage. With 100,000 tasks and more that
sum passes 1 GiB, and the job is aborted as if it had collected data. There are so many tasks where Spark cuts files
small: the size of a split is the size of all files over the parallelism, and the parallelism is the number of virtual
cores, of which a cluster that counts only memory may give away far more than it has.

## What it costs
The job is aborted and all of the stage is done for nothing, most often near its end, when nearly all tasks have run.

## What to do
Have fewer tasks: set the parallelism that splits follow from, so that they have their full size
(`emberscope calc split` computes it). A higher limit, with the driver memory for it, gets the job through until then.

## When to ignore it
When the program does collect data: then each task's result is large, and result-size (K8) is the finding to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
from msgspec import Struct

from emberscope.errors import UsageError
from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, set_conf
from emberscope.rules.emr.told import told
from emberscope.rules.said import Said, said
from emberscope.rules.settings import memory_words, version
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes, format_count, parse_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

RESULT_LIMIT: Final = "emr_result_limit"
TASK_RESULT: Final = "emr_task_result"


class Limits(Struct, frozen=True):
    """The guide's example has 5,982 bytes a task; a result with data in it is far larger (our proposals)."""

    least_tasks: int = 2_000
    most_bytes: int = 64 << 10  # of one task's result


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    asked = [row for row in said(run, RESULT_LIMIT) if row.level is None and not row.fields]
    if asked:
        yield _asked(run, asked)
    rows = [row for row in said(run, RESULT_LIMIT) if row.fields.get("tasks")]
    for row in rows[:1]:
        tasks, size = int(row.fields["tasks"]), _size(row.fields.get("size"))
        if tasks < limits.least_tasks or size is None or size / tasks > limits.most_bytes:
            return
        limit = _size(row.fields.get("limit")) or size
        mean = size / tasks
        yield told(
            f"{format_count(tasks)} tasks fill spark.driver.maxResultSize with their bare results; nothing is "
            "collected",
            f"The number of tasks is the trouble: each sends about {format_count(mean)} bytes of its own end (metrics, "
            f"names of what it wrote), and {format_count(tasks)} of them reach {format_bytes(limit)}. So many come of "
            "splits that have shrunk: maxSplitBytes is the size of all files over the parallelism, which is the number "
            "of virtual cores where nothing is set.",
            rows,
            tuple(_advice(run, limit)),
            consequence="ended",
            confidence=0.9,
            more=tuple(_sizes(run, tasks, size)),
        )


def _asked(run: Run, rows: list[Said]) -> Finding:
    return told(
        "The bare results of very many tasks fill spark.driver.maxResultSize, though nothing is collected",
        "The number of tasks is the trouble: each sends some kilobytes of its own end to the driver, also where it "
        "only writes files, and 100,000 of them and more come to 1 GiB. maxSplitBytes shrinks with the parallelism, "
        "which is the number of virtual cores where nothing is set.",
        rows,
        tuple(_advice(run, 1 << 30)),
        consequence="ended",
        confidence=0.6,
    )


def _advice(run: Run, limit: int) -> Iterator[Advice]:
    old = (0, 0) < version(run) < (3, 1)
    setting = "spark.default.parallelism" if old else "spark.sql.files.minPartitionNum"
    before = "" if old else " (spark.default.parallelism before Spark 3.1)"
    yield Advice(
        "code",
        f"Have fewer tasks: set {setting}{before} to no more than the size of all files over "
        "spark.sql.files.maxPartitionBytes (128 MiB), each file with 4 MiB more; `emberscope calc split` computes it.",
    )
    yield Advice(
        "cluster",
        "Let YARN count cores too (DominantResourceCalculator), or use executors that suit every node type: "
        "over-subscribed virtual cores raise the parallelism. `emberscope calc packing` shows it.",
    )
    yield set_conf(
        "spark.driver.maxResultSize",
        memory_words(2 * limit),
        "Gets the job through, if the driver's memory has room for it; the tasks stay too many.",
    )


def _sizes(run: Run, tasks: int, size: int) -> Iterator[Evidence]:
    """What results were measured, in a log of an executor or in the event log, beside the mean of the message."""
    mean = size / tasks
    measured: list[tuple[float, str, Said | None]] = [
        (float(row.fields["bytes"]), "the log", row) for row in said(run, TASK_RESULT)[:1] if row.fields.get("bytes")
    ]
    table = run.tables.get("tasks")
    if table is not None:
        known = pc.drop_null(table["result_size_bytes"])
        if len(known):
            measured.append((float(pc.approximate_median(known).as_py()), "tasks.result_size_bytes", None))
    for each, source, row in measured:
        yield Evidence(
            f"one task sent {format_count(each)} bytes, × {format_count(tasks)} = {format_bytes(each * tasks)}; the "
            f"message says {format_bytes(size)}, which is {format_count(mean)} bytes for each task",
            (row.file if row else None) or source,
            each,
            "bytes",
            line=row.line if row else None,
        )


def _size(text: str | None) -> int | None:
    try:
        return parse_bytes(text) if text else None
    except UsageError:
        return None


RULE = Rule(
    code="L2",
    name="many-task-results",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            RESULT_LIMIT,
            r"Total size of serialized results of (?P<tasks>\d{1,9}) tasks \((?P<size>[\d.]+ ?[KMGT]?i?B)\) is bigger "
            r"than (?:spark\.driver\.maxResultSize|local maxResultSize limit)?\s*\(?(?P<limit>[\d.]+ ?[KMGT]?i?B)?",
            ("Total size of serialized results of ",),
            ((r"maxResultSize|size of serialized results", r"(?:\bnot|n't|without|never|no)\b[\w' ]{0,20} collect"),),
        ),
        # One task of a stage is enough to know the size, and such lines of all tasks are half of an executor's log.
        Signature(
            TASK_RESULT,
            r"Finished task 0\.0 in stage [\d.]+ \(TID \d+\)\. (?P<bytes>\d{1,12}) bytes result sent to driver",
            ("Finished task 0.0 in stage ",),
        ),
    ),
)
