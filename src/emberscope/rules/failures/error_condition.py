"""Spark ended a query with one of its error conditions.

## What it means
Spark gives most of its errors a name in brackets and an SQLSTATE. The class of the SQLSTATE (its first two characters)
says whose matter it is: 42 and 0A the text of the query, 21 to 23 the values in the data, 38 and 46 functions of the
user, 53 to 58 and KD files, services and limits around Spark, XX Spark itself.

## What it costs
The query, and the job that runs it: what is wrong in the query is wrong each time, what is wrong in the data comes back
with the same rows.

## What to do
What the condition says, with its parameters: mend the query or handle the rows. Spark 4 checks more than Spark 3 did
(`spark.sql.ansi.enabled` is true by default): casts that gave NULL end the query now.

## When to ignore it
When the program expects the error and handles it, as a test for a table's existence does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.condition_words import ELSEWHERE, WORDS
from emberscope.rules.failures.ending import by, failure, line_of, quoted
from emberscope.rules.said import Said, said
from emberscope.settings.conditions import Fault, about, condition_of, fault, is_condition, parameters_of
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

ERROR_CONDITION: Final = Signature(
    name="error-condition",
    pattern=r"(?:Exception|Error): (?:Job aborted[^\n]{0,400}?)?\[(?P<name>[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)?)\]|"
    r"\[(?P<bare>[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)?)\][\s\S]{0,600}?SQLSTATE: ?(?P<state>\w{5})|"
    r"(?P<old>cannot resolve '[^\n]{1,300}' given input columns|Table or view not found:|Undefined function: '|"
    r"invalid input syntax for type \w+|ArithmeticException: (?:/ by zero|divide by zero)|SparkUpgradeException|"
    r"mismatched input '[^\n]{1,200}' expecting|Reference '[^\n]{1,200}' is ambiguous|Duplicate map key|"
    r"due to data type mismatch|"
    r"Malformed records are detected in record parsing)",
    literals=(
        "SQLSTATE: ",
        "Exception: [",
        "Error: [",
        "' given input columns",
        "Table or view not found:",
        "Undefined function: '",
        "invalid input syntax for type",
        "ArithmeticException: / by zero",
        "ArithmeticException: divide by zero",
        "SparkUpgradeException",
        "mismatched input '",
        "' is ambiguous",
        "Duplicate map key",
        "due to data type mismatch",
        "Malformed records are detected",
    ),
    words=((r"\[[A-Z][A-Z0-9]+_[A-Z0-9_]+(\.[A-Z0-9_]+)?\]",), (r"\bSQLSTATE:? ?\w{5}\b",)),
)
_BRACKETS: Final = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)?)\]")
_MESSAGE: Final = 1200
_STATE: Final = re.compile(r"SQLSTATE: ?(\w{5})")
# What versions before 3.3 said, by the name that it has now.
_OLD: Final = (
    (re.compile(r"cannot resolve '`?(?P<objectName>[^'`]+)`?' given input columns"), "UNRESOLVED_COLUMN"),
    (re.compile(r"Table or view not found: (?P<relationName>[\w.`]+)"), "TABLE_OR_VIEW_NOT_FOUND"),
    (re.compile(r"Undefined function: '(?P<routineName>[^']+)'"), "UNRESOLVED_ROUTINE"),
    (
        re.compile(r"invalid input syntax for type (?P<targetType>\w+)(?:: (?P<expression>[^\n.]+))?"),
        "CAST_INVALID_INPUT",
    ),
    (re.compile(r"ArithmeticException: (?:/ by zero|divide by zero)"), "DIVIDE_BY_ZERO"),
    (re.compile(r"SparkUpgradeException"), "INCONSISTENT_BEHAVIOR_CROSS_VERSION"),
    (re.compile(r"mismatched input '(?P<error>[^'\n]+)' expecting"), "PARSE_SYNTAX_ERROR"),
    (re.compile(r"Reference '(?P<name>[^'\n]+)' is ambiguous"), "AMBIGUOUS_REFERENCE"),
    (re.compile(r"Duplicate map key (?P<key>[^\n,]+?) was found"), "DUPLICATED_MAP_KEY"),
    (re.compile(r"cannot resolve '(?P<sqlExpr>[^\n]{1,300}?)' due to data type mismatch"), "DATATYPE_MISMATCH"),
    (re.compile(r"Malformed records are detected in record parsing"), "MALFORMED_RECORD_IN_PARSING"),
)
_WHOSE: Final[dict[Fault, str]] = {
    "query": "It is the text of the query that has to change: it fails in the same way each time.",
    "data": "It is values in the data: the query is valid, and fails on the rows that have them.",
    "code": "It comes from code of the user that Spark called.",
    "environment": "It is not the query: files, services, rights or limits around Spark are the reason.",
    "spark": "It is Spark itself, or jars that do not fit together, not the query.",
    "unknown": "",
}
_MOST: Final = 5


class Limits(Struct, frozen=True):
    """One line is enough; of very many conditions the first ones are told."""

    most: int = _MOST  # conditions told of, so that a session of a notebook does not fill the page


class _Told(Struct, frozen=True):
    name: str
    state: str
    values: tuple[tuple[str, str], ...]
    message: str


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    told = [(row, one) for row in said(run, ERROR_CONDITION.name) for one in [_innermost(row)] if one is not None]
    by_row = {id(row): one for row, one in told}
    for _, rows in by([row for row, _ in told], lambda row: by_row[id(row)].name)[: limits.most]:
        yield _condition(run, by_row[id(rows[0])], rows)


def _innermost(row: Said) -> _Told | None:
    """The condition nearest to the first cause; None where none is named that this rule tells of."""
    for match in reversed(list(_BRACKETS.finditer(row.text))):
        name, message = match[1], row.text[match.end() : match.end() + _MESSAGE].lstrip()
        state = _STATE.search(message)
        if not (is_condition(name) or state) or name.startswith(ELSEWHERE):
            continue
        condition = condition_of(name)
        return _Told(
            name,
            state[1] if state else condition.sqlstate if condition else "",
            tuple(parameters_of(name, message.partition("\n\tat ")[0]).items()),
            message.partition("\n")[0],
        )
    for pattern, name in _OLD:
        if old := pattern.search(row.text):
            condition = condition_of(name)
            values = tuple((key, value) for key, value in old.groupdict().items() if value)
            return _Told(name, condition.sqlstate if condition else "", values, quoted(old[0]))
    return None


def _condition(run: Run, told: _Told, rows: list[Said]) -> Finding:
    base = told.name.partition(".")[0]
    words = WORDS.get(base)
    values = [
        f"{name} {quoted(value, 80)}" for name, value in told.values if value and name not in ("message", "config")
    ]
    state = f", SQLSTATE {told.state}" if told.state else ""
    kind = about(told.state)
    line = line_of(rows)
    meaning = words.meaning if words else quoted(told.message, 140) or kind
    named = f" ({'; '.join(values[:3])})" if values else ""
    advice = words.advice if words else (_generic(fault(told.state), told.name),)
    return failure(
        run,
        rows,
        title=f"{told.name}: {meaning}{f' at {line}' if line else ''}",
        summary=f"Error condition {told.name}{state}{f' ({kind})' if kind else ''}{named}. "
        + _WHOSE[fault(told.state)],
        advice=advice,
        confidence=0.9 if words or is_condition(told.name) else 0.7,
    )


def _generic(whose: Fault, name: str) -> Advice:
    if whose == "query":
        return Advice("code", "Change the query as the message says.")
    if whose == "data":
        return Advice(
            "code", "Find the rows that have such values, and filter, mend or read them in a tolerant way (try_…)."
        )
    if whose == "code":
        return Advice("code", "Read the last cause of the trace: it names the function and the line.")
    if whose == "spark":
        return Advice("check", f"Search Spark's tracker for {name}, try the newest patch release, look for mixed jars.")
    if whose == "environment":
        return Advice(
            "check", "Read the innermost cause of the trace, and look at the file, service or limit it names."
        )
    return Advice("check", "The condition is not one of Spark's own that we know: its vendor's list has it.")


RULE = Rule(
    code="K25",
    name="error-condition",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(ERROR_CONDITION,),
)
