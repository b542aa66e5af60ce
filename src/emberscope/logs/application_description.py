"""`kubectl describe sparkapplication`: what the Spark operator says of an application."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from emberscope.logs.statement import Statement

_KIND: Final = re.compile(r"^Kind:\s+(?:Scheduled)?SparkApplication\s*$")
_FIELD: Final = re.compile(r"^\s+(State|Error Message|Spark Application Id|Termination Time):\s+(\S.*?)\s*$")
BAD: Final = {"FAILED": "ERROR", "SUBMISSION_FAILED": "ERROR", "FAILING": "ERROR", "PENDING_RERUN": "WARN"}
"""States that an application should not be in, and how bad each is."""


def is_application(lines: Sequence[str]) -> bool:
    return any(_KIND.match(line) for line in lines)


def application_statements(
    name: str, lines: Sequence[str], line_of: Callable[[str], int | None]
) -> Iterator[Statement]:
    fields: dict[str, str] = {}
    section = ""
    for line in lines:
        if line[:1].strip():
            section = line.partition(":")[0]
        found = _FIELD.match(line) if section == "Status" else None
        if found is not None:
            fields.setdefault(found[1], found[2])
    state = fields.get("State", "")
    if state not in BAD:
        return
    yield application_said(name, state, fields.get("Error Message"), line_of(state), fields.get("Spark Application Id"))


def application_said(name: str, state: str, error: str | None, line: int | None, app_id: str | None) -> Statement:
    """One state of an application, however it was read."""
    text = f"SparkApplication {name}: {state}: {error or 'no error message'}"
    return Statement(text.partition("\n")[0], text, line, None, BAD[state], "spark-operator", app_id=app_id)
