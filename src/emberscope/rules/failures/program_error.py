"""The program's own code threw the exception that ended the job.

## What it means
The innermost cause of the failure is an exception that no other rule explains: it comes from the program, from a
function that tasks run, or from a library that it calls. Spark tries the task again with the same rows, so that an
error of the code comes back four times (`spark.task.maxFailures`) before the job is given up.

## What it costs
All that the job had done, and the time of the attempts that failed in the same way.

## What to do
Read the innermost cause and the first line of your own code under it: that is the place. The message often names the
value; a null, an empty text or a field that is not there are the usual ones.

## When to ignore it
When the job went on: then an attempt failed by chance, and another one succeeded with the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.executors.errors import exception_line, program_line
from emberscope.rules.failures.ending import by, failure, quoted, who
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

PROGRAM_ERROR: Final = Signature(
    name="program-error",
    pattern=r"(?P<end>Job aborted due to stage failure|User class threw exception|Exception in thread \"main\"|"
    r"Traceback \(most recent call last\)|Exception in task [\d.]+ in stage|Lost task [\d.]+ in stage|"
    r"terminated with (?:error|exception))",
    literals=(
        "Job aborted due to stage failure",
        "User class threw exception",
        'Exception in thread "main"',
        "Traceback (most recent call last)",
        "Exception in task ",
        "Lost task ",
        "terminated with error",
        "terminated with exception",
    ),
)
# What is no exception of the program: losses, kills, and frames around another exception.
_NOT_ITS_OWN: Final = re.compile(
    r"ExecutorLostFailure|FetchFailed|TaskKilled|TaskCommitDenied|Resubmitted|another attempt succeeded|"
    r"SparkContext was (?:stopped|shut down)|cancelled|InterruptedException|OutOfMemoryError|killed intentionally"
)
_FRAME: Final = re.compile(
    r"^(?:org\.apache\.spark\.)?SparkException: (?:Job aborted|Task failed while writing|Writing job "
    r"(?:aborted|failed)|"
    r"Failed to execute user defined)|Py4JJavaError|^Job aborted|PythonException: *$|^Exception in task"
)
_HINTS: Final = (
    (
        re.compile(r"NullPointerException|'NoneType'"),
        "A value is null where the code does not expect it: test for null first.",
    ),
    (
        re.compile(r"NumberFormatException|invalid literal for|could not convert"),
        "A text is no number: clean it, or read it as null.",
    ),
    (
        re.compile(r"IndexOutOfBounds|list index out of range|IndexError"),
        "A record has fewer fields than the code takes: count them before.",
    ),
    (
        re.compile(r"KeyError|NoSuchElementException|key not found"),
        "A key or an element is not there for some row: give a default.",
    ),
    (re.compile(r"ClassCastException"), "A value has another type than its schema or the code says: compare both."),
    (
        re.compile(r"ParseException|DateTimeParseException|does not match format"),
        "A date is not in the pattern of the code.",
    ),
    (
        re.compile(r"FileNotFound(?:Exception|Error)|NoSuchFileException|No such file or directory"),
        "A local file is looked for on a machine that does not have it: ship it with --files, or put it on shared "
        "storage.",
    ),
    (
        re.compile(r"UnknownHostException|Name or service not known"),
        "A host name is not known on that machine: look at its DNS.",
    ),
    (
        re.compile(r"SQLException|BatchUpdateException|PSQLException|constraint"),
        "The database refused a row or the statement: its own message says why.",
    ),
    (
        re.compile(r"UnicodeDecodeError|MalformedInputException"),
        "The text is in another encoding than the code reads it in.",
    ),
)


class Limits(Struct, frozen=True):
    """One line is enough; of very many errors the first ones are told."""

    most: int = 3  # errors told of: the first is the cause, the rest mostly follow from it


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    alone = _unexplained(run)
    rows = [row for row in said(run, PROGRAM_ERROR.name) if row.event_id in alone]
    for error, some in by(rows, _error)[: limits.most]:
        yield _failed(run, error, some)


def _unexplained(run: Run) -> frozenset[int]:
    """Records that no other rule knows the words of, and whose cause none of the known ones has either."""
    table = run.tables.get("log_events")
    if table is None:
        return frozenset()
    columns = (table[name].to_pylist() for name in ("event_id", "signatures", "causes"))
    known: set[str] = set()
    ours: list[tuple[int, str | None]] = []
    for event, signatures, causes in zip(*columns, strict=True):
        cause = causes[-1] if causes else None
        if signatures == [PROGRAM_ERROR.name]:
            ours.append((event, cause))
        elif signatures and cause:
            known.add(cause)
    return frozenset(event for event, cause in ours if cause is None or cause not in known)


def _error(row: Said) -> str | None:
    """The innermost exception in one line; None where the record tells of none of the program."""
    if _NOT_ITS_OWN.search(row.text):
        return None
    line = exception_line(None, row.text if "Traceback" in row.text else row.causes[-1] if row.causes else row.text)
    line = re.sub(r"^Aborting job \S+ ", "", line)
    line = re.sub(r"^.*?(?:User class threw exception|Exception in thread \"main\"):? ", "", line)
    if _FRAME.search(line) or not re.search(r"\w(?:Exception|Error|Failure|Exit)\b|^\w+(?:\.\w+)*: ", line):
        return None
    return line


def _failed(run: Run, error: str, rows: list[Said]) -> Finding:
    line = next((line for row in rows if (line := program_line(row.text))), None)
    simple = re.sub(r"^(?:[a-z_]\w*\.)+(?=[A-Z])", "", error)
    hint = next((text for pattern, text in _HINTS if pattern.search(error)), None)
    name = who(rows)
    tried = (
        " Spark tried the task again, and it failed in the same way."
        if any("failed 4 times" in row.text for row in rows)
        else ""
    )
    if re.match(r"SparkException|Job aborted", simple):
        return failure(
            run,
            rows,
            title=f"The job ended with an error that no rule knows: {quoted(simple, 120)}",
            summary="The message is Spark's own, and these lines do not tell what was before it: what comes first in "
            "the logs of the driver and of the executor that it names is the cause.",
            advice=(
                Advice(
                    "check",
                    "Look at the first ERROR or WARN above it in the driver's log, and at the end of that executor's.",
                ),
            ),
            confidence=0.4,
        )
    where = f"at {line}" if line else "in code that the job calls"
    return failure(
        run,
        rows,
        title=f"{quoted(simple, 140)}{f' at {line}' if line else ''}",
        summary=f"The program's own exception {where}{f' ({name})' if name else ''}: nothing around Spark failed "
        "first, as far as these lines "
        f"tell.{tried}",
        advice=(
            Advice("code", f"{hint or 'Handle the value that throws.'}{f' Look at {line}.' if line else ''}"),
            Advice("check", "Read the innermost “Caused by” and the first line of your own code under it."),
        ),
        confidence=0.7 if line else 0.5,
    )


RULE = Rule(
    code="K41",
    name="program-error",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(PROGRAM_ERROR,),
)
