"""What is sent to executors cannot be serialised, or is too large to be sent.

## What it means
A task is its code with every object that the code refers to. An object that Java or Python cannot serialise (a
connection, a SparkContext, a lock, the object whose method is used) ends the job before its first task. A collection
that the code refers to goes with every task; more than `spark.rpc.message.maxSize` (128 MiB) is refused.

## What it costs
The job does not start. Large tasks below the limit cost the driver the time to write and to send each of them.

## What to do
Let the code refer only to what it needs: copy a field into a local value, make connections inside the task once for a
partition, keep DataFrames and the session on the driver. Send large values once for an executor by `broadcast`.

## When to ignore it
The warning about large tasks, where the stage has few of them: it is about the time to send them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, failure, groups_of, line_of, quoted
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

NOT_SERIALIZABLE: Final = Signature(
    name="not-serializable",
    pattern=r"NotSerializableException: (?P<class>[\w.$]+)|(?P<task>Task not serializable)|"
    r"(?P<context>attempting to reference SparkContext from a broadcast variable|CONTEXT_ONLY_VALID_ON_DRIVER|"
    r"RDD transformations and actions are (?:NOT invoked by the driver|can only be invoked by the driver)|SPARK-5063|"
    r"SPARK-28702)|"
    r"(?:PicklingError|Could not serialize object|TypeError: [Cc]an(?:no|')t pickle)(?P<pickle>[^\n]*)",
    literals=(
        "NotSerializableException",
        "Task not serializable",
        "attempting to reference SparkContext",
        "CONTEXT_ONLY_VALID_ON_DRIVER",
        "SPARK-5063",
        "SPARK-28702",
        "RDD transformations and actions",
        "PicklingError",
        "Could not serialize object",
        "annot pickle",
        "an't pickle",
    ),
    words=((r"not serializable",), (r"(can ?not|can't|unable to|could not) (be )?(pickle|serialize)",)),
)
LARGE_TASK: Final = Signature(
    name="large-task",
    pattern=r"Serialized task (?P<task>\d+:\d+) was (?P<bytes>\d+) bytes, which exceeds max allowed: "
    r"(?P<setting>spark\.[\w.]+) \((?P<limit>\d+) bytes\)|"
    r"Stage (?P<stage>\d+) contains a task of very large size \((?P<kib>\d+) Ki?B\)|"
    r"[Bb]roadcasting large task binary with size (?P<binary>[\d.]+ [KMGT]i?B)",
    literals=("which exceeds max allowed", "contains a task of very large size", "roadcasting large task binary"),
    words=((r"serialized task.{0,40}exceeds|rpc\.message\.maxSize|task of very large size|large task binary",),),
)
_CLASS: Final = re.compile(r"NotSerializableException: ([\w.$]+)")
_FIELD: Final = re.compile(
    r"- field \(class: (?P<owner>[\w.$]+), name: (?P<name>[\w$]+), type: (?:class |interface )?(?P<type>[\w.$]+)"
)
_MIB: Final = 1 << 20
_MOST_MIB: Final = 2047


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, NOT_SERIALIZABLE.name)
    if rows:
        yield _not_serializable(run, rows)
    large = said(run, LARGE_TASK.name)
    refused = [row for row in large if "bytes" in groups_of(row, LARGE_TASK) or row.level is None]
    if refused:
        yield _refused(run, refused)
    elif large:
        yield _warned(run, large)


def _not_serializable(run: Run, rows: tuple[Said, ...]) -> Finding:
    found: dict[str, str] = {}
    for row in rows:
        found = {**groups_of(row, NOT_SERIALIZABLE), **found}
    text = "\n".join(row.text for row in rows)
    if "context" in found:
        what = "the SparkContext, a DataFrame or an RDD"
        how = "It lives on the driver alone: code of tasks (a UDF, map, foreach) must not refer to it."
        fix = (
            "Collect or broadcast the values first, or write the inner query as a join; use the session outside of "
            "functions only."
        )
    elif "pickle" in found:
        what = quoted(found["pickle"].strip(" :'"), 80) or "a Python object"
        how = (
            "Python pickles a function with all that it refers to: locks, connections, clients and open files "
            "cannot be."
        )
        fix = (
            "Make the client inside the function, once for a partition (mapPartitions, foreachPartition), or in a "
            "lazily filled global."
        )
    else:
        named = _CLASS.search(text)
        what = named[1] if named else "an object that the code of a task refers to"
        how = "A task takes along every object that its code refers to: a method or a field means its whole object."
        fix = (
            "Copy the field into a local val and use that, make the object inside the task once for a partition "
            "(mapPartitions), mark it @transient lazy, or let its class be Serializable."
        )
    field = _FIELD.search(text)
    by_field = f" It is held by field `{field['name']}` of {field['owner']}." if field else ""
    line = line_of(rows)
    return failure(
        run,
        rows,
        title=f"Task not serializable: {what} cannot be sent to executors" + (f" ({line})" if line else ""),
        summary=f"{how}{by_field} The job ends before its first task.",
        advice=(Advice("code", fix),),
        confidence=0.95,
        consequence="ended",
    )


def _refused(run: Run, rows: list[Said]) -> Finding:
    found = groups_of(rows[0], LARGE_TASK)
    size, limit = int(found.get("bytes", 0)), int(found.get("limit", 0))
    figures = f" of {format_bytes(size)}" if size else ""
    at = f" (limit {format_bytes(limit)})" if limit else ""
    return failure(
        run,
        rows,
        title=f"A task{figures} is too large to be sent to an executor{at}",
        summary="The code of the task, or the partition of a local collection that it carries, is serialised into one "
        "message, and that message is larger than spark.rpc.message.maxSize allows.",
        advice=_smaller(found, size),
        confidence=0.95,
    )


def _smaller(found: dict[str, str], size: int) -> Iterator[Advice]:
    yield Advice(
        "code",
        "Send large values once by broadcast() instead of referring to them, and make DataFrames from files, not from "
        "a collection of the driver (or parallelize it into more partitions).",
    )
    if size:
        need = math.ceil(1.2 * size / _MIB)
        if need <= _MOST_MIB:
            yield set_conf(
                found.get("setting", "spark.rpc.message.maxSize"),
                need,
                "In MiB: enough for this task; every task of the stage costs the driver as much.",
            )
        else:
            yield Advice(
                "check", f"No setting helps: {format_bytes(size)} is above the largest limit there is, 2,047 MiB."
            )


def _warned(run: Run, rows: tuple[Said, ...]) -> Finding:
    sizes = [int(found["kib"]) for row in rows if "kib" in (found := groups_of(row, LARGE_TASK))]
    most = f" of up to {format_bytes(max(sizes) * 1024)}" if sizes else ""
    return failure(
        run,
        rows,
        title=f"Large tasks{most} are sent to executors",
        summary="Every task carries the objects that its code refers to, or its part of a collection made on the "
        "driver; above 1,000 KiB Spark warns that sending them takes the driver's time.",
        advice=(
            Advice("code", "Broadcast what is large, and read data from files rather than from a list on the driver."),
        ),
        confidence=0.8,
        consequence="hint",
    )


RULE = Rule(
    code="K21",
    name="task-serialization",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(NOT_SERIALIZABLE, LARGE_TASK),
)
