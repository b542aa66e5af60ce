"""Findings of failures that logs tell: what ended with it, where it was, and the lines that say so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct

from emberscope.rules.base import Advice, Consequence, Finding, Where
from emberscope.rules.executors.errors import cut, program_line
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.logs.signature import Signature
    from emberscope.rules.said import Said
    from emberscope.tables.run import Run

NO_PRICE: Final = "Logs tell that it happened, not what it cost: an event log of the same run does."
_MOST_EVIDENCE: Final = 4
_MOST_NAMES: Final = 6

# Words of Spark and of the JVM by which a whole job, query or process ends.
_END: Final = re.compile(
    r"Job aborted|[Aa]borting job|Aborting task set|failed \d+ times|Exception in thread \"?main|"
    r"User class threw|User application exited|terminated with error|stopping SparkContext|"
    r"Error initializing SparkContext|uncaught (exception|error)|Uncaught exception|Final app status: FAILED|"
    r"SparkContext was shut down|Traceback \(most recent call last\)"
)
# Attempts that Spark makes again by itself.
_RETRIED: Final = re.compile(
    r"Lost task|Exception in task|Task \d+ in stage|FetchFailed|was lost|Retrying", re.IGNORECASE
)
_STAGE: Final = re.compile(r"in stage (\d+)\.(\d+)")
_DRIVERS: Final = re.compile(r"(TaskSetManager|DAGScheduler|TaskSchedulerImpl|SparkContext)$")

KeyT = TypeVar("KeyT")


class Limits(Struct, frozen=True):
    """One line is enough: what it says needs no threshold."""


def failure(
    run: Run,
    rows: Sequence[Said],
    *,
    title: str,
    summary: str,
    advice: Iterable[Advice],
    confidence: float = 0.9,
    consequence: Consequence | None = None,
) -> Finding:
    """The finding that these lines are about; the first of them is where it began."""
    return Finding(
        title=title,
        summary=summary,
        where=where_of(rows),
        evidence=tuple(row.evidence() for row in _telling(rows)),
        advice=tuple(advice),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis=NO_PRICE,
        confidence=confidence,
        consequence=consequence or consequence_of(run, rows),
    )


def consequence_of(run: Run, rows: Sequence[Said]) -> Consequence:
    """What followed, as far as these lines say.

    A line without a level is one that somebody pasted, or the last words of a process: nobody asks about a trace that
    did no harm. An error of an executor may have been mended by another attempt: that is only known where the driver's
    words are there too.
    """
    if any(row.level in (None, "FATAL") or _END.search(row.text) for row in rows):
        return "ended"
    if any(row.level == "ERROR" for row in rows) and not _driver_spoke(run):
        return "ended"
    if any(row.level == "ERROR" or _RETRIED.search(row.text) for row in rows):
        return "lost"
    return "hint"


@once
def _driver_spoke(run: Run) -> bool:
    table = run.tables.get("log_events")
    if table is None:
        return False
    return any(
        role == "driver" or (logger is not None and _DRIVERS.search(logger) is not None)
        for role, logger in zip(table["role"].to_pylist(), table["logger"].to_pylist(), strict=True)
    )


def where_of(rows: Sequence[Said]) -> Where:
    """Stage, executor, host and line of the program, each where all these lines agree or only one names it."""
    stages = {(int(found[1]), int(found[2])) for row in rows if (found := _STAGE.search(row.text))}
    executors = {row.executor_id for row in rows if row.executor_id}
    hosts = {row.host for row in rows if row.host}
    line = line_of(rows)
    stage = min(stages) if len(stages) == 1 else None
    return Where(
        stage=stage[0] if stage else None,
        stage_attempt=stage[1] if stage else None,
        executor=next(iter(executors)) if len(executors) == 1 else None,
        host=next(iter(hosts)) if len(hosts) == 1 else None,
        line=line.partition(" in ")[0] if line else None,
    )


def line_of(rows: Iterable[Said]) -> str | None:
    """`job.py:45 in flaky`: the line of the program that the first trace with one came from."""
    return next((line for row in rows if (line := program_line(row.text))), None)


def who(rows: Sequence[Said]) -> str:
    """`Executor 6`, `Executors 1, 4 and others`, or `The driver` where it wrote this and names no executor; empty where
    nobody is named. For what a process says of itself."""
    return named(rows) or ("The driver" if any(row.role == "driver" for row in rows) else "")


def named(rows: Sequence[Said]) -> str:
    """The same for what others say of a process: who wrote a line is not whom it is about."""
    executors = sorted({row.executor_id for row in rows if row.executor_id and row.executor_id != "driver"}, key=_order)
    if executors:
        shown = ", ".join(executors[:_MOST_NAMES])
        others = " and others" if len(executors) > _MOST_NAMES else ""
        return f"Executor{'' if len(executors) == 1 else 's'} {shown}{others}"
    return ""


def by(rows: Iterable[Said], key: Callable[[Said], KeyT | None]) -> list[tuple[KeyT, list[Said]]]:
    """The rows by what this says of them, in the order of their first; those of which it says None are left out."""
    groups: dict[KeyT, list[Said]] = {}
    for row in rows:
        if (value := key(row)) is not None:
            groups.setdefault(value, []).append(row)
    return list(groups.items())


def groups_of(row: Said, signature: Signature) -> dict[str, str]:
    """The named groups of a signature in this row: those of the reader, or found anew in a question's text."""
    if row.fields:
        return {name: text for name, text in row.fields.items() if text}
    found = re.search(signature.pattern, row.text, re.MULTILINE)
    return {name: text for name, text in found.groupdict().items() if text} if found else {}


def is_question(row: Said) -> bool:
    """Whether this is a trouble told in plain words, without a log."""
    return row.level is None and row.role is None and row.exception is None and not row.fields


def quoted(text: str, most: int = 160) -> str:
    """A text in one line."""
    return cut(text, most)


def _telling(rows: Sequence[Said]) -> list[Said]:
    """The first lines, and the one that ended the job."""
    first = list(rows[: _MOST_EVIDENCE - 1])
    end = next((row for row in rows[len(first) :] if _END.search(row.text)), None)
    return [*first, end] if end is not None else first


def _order(executor: str) -> tuple[int, str]:
    return (int(executor), "") if executor.isdecimal() else (1 << 31, executor)
