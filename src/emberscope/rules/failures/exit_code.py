"""A process ended with an exit code that says why, or at least where to look.

## What it means
An exit code is all that the driver or YARN learns of a process that ended. Codes over 128 are signals (128 + number):
134 is an abort of the JVM, 139 a crash of native code. 50 to 58 are those of Spark's executors, 10 to 17 those of its
ApplicationMaster, negative ones YARN's. 137 and 143, which several things cause, have rules of their own (K2, K3).

## What it costs
The work of that process: an executor's tasks run again elsewhere, and with the driver the application ends.

## What to do
Read the log of the process that ended, at its end: the code names the kind, the log the reason.

## When to ignore it
When the exception itself is among the findings: the code is its echo. When the process ended after its work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.aborted import followed
from emberscope.rules.failures.ending import Limits, failure, groups_of, named
from emberscope.rules.failures.exit_codes import MASTER, PROCESS, YARN, Code
from emberscope.rules.failures.room import is_driver
from emberscope.rules.failures.terminated import TERMINATED
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

EXIT_CODE: Final = Signature(
    name="exit-code",
    pattern=r"(?:[Ee]xit(?:ed)?(?: with)?(?: exit)?(?: a non-zero exit)? (?:code|status)|Command exited with code|"
    r"non-zero exit code|exitCode)(?: is|:)? ?\(?(?P<code>-?\d{1,9})\b",
    literals=(
        "xited with exit code ",
        "ommand exited with code ",
        "non-zero exit code ",
        "xit status: ",
        "xit status ",
        "xit code is ",
        "xited with code ",
        "exitCode: ",
    ),
    words=(
        (r"exit(s|ed)?( with)?( a)?( (code|status))?(:| is| of| with)? ?(134|139|52|56|50|53|127)\b",),
        (r"segmentation fault|sigsegv|sigabrt|hs_err", r"executor|jvm|spark|driver|java"),
    ),
)
# Told by rules of their own, or no fault at all.
_ELSEWHERE: Final = frozenset({0, 13, 137, 143, -100, -102, -103, -104, -1})
_ENDED_EARLY: Final = 16
_IN_WORDS: Final = re.compile(r"exit(?:s|ed)?(?: with)?(?: a)?(?: (?:code|status))?(?::| is| of| with)? ?(\d{2,3})\b")
_WORDS: Final = (("134", "sigabrt"), ("139", "segmentation fault"), ("139", "sigsegv"), ("134", "hs_err"))


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    groups: dict[tuple[bool, int], list[Said]] = {}
    for row in said(run, EXIT_CODE.name):
        number = _code(row)
        if number is not None and number not in _ELSEWHERE:
            groups.setdefault((_is_drivers(row), number), []).append(row)
    for (driver, number), rows in groups.items():
        code = _meaning(number, driver)
        asked = number == _ENDED_EARLY and said(run, TERMINATED.name)  # told by K3
        # What ended the program stands elsewhere, and its wrapper says no more than that it did.
        plain = driver and number == 1
        if code is not None and not asked and not plain:
            yield _ended(run, rows, driver, number, code)


def _is_drivers(row: Said) -> bool:
    """Whether a line is about the driver or the application master."""
    return is_driver(row) or row.role == "client" or "Final app status" in row.text


def _code(row: Said) -> int | None:
    found = groups_of(row, EXIT_CODE).get("code")
    if found is not None:
        return int(found)
    lower = row.text.lower()
    worded = _IN_WORDS.search(lower)
    if worded is not None:
        return int(worded[1])
    return next((int(code) for code, word in _WORDS if word in lower), None)


def _meaning(number: int, driver: bool) -> Code | None:
    first, second = (MASTER, PROCESS) if driver or (number < 20 and number != 1) else (PROCESS, MASTER)
    return first.get(number) or second.get(number) or YARN.get(number)


def _ended(run: Run, rows: Sequence[Said], driver: bool, number: int, code: Code) -> Finding:
    name = "The driver" if driver else named(rows) or "A process"
    after = followed(run, rows)
    return failure(
        run,
        rows,
        title=f"{name} ended with exit code {number}: {code.short}",
        summary=code.means,
        advice=(Advice("check", code.look),),
        confidence=0.5 if number in (1, 255) else 0.85,
        consequence="lost" if after == "hint" else after,
    )


RULE = Rule(
    code="K70",
    name="exit-code",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(EXIT_CODE,),
)
