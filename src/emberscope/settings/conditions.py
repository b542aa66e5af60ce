"""The error conditions of Spark 3.5 and later: what each name says, and where its parameters stand in a message.

`conditions.tsv` beside this file has a line for each; `tools/settings/conditions.py` makes it from Spark's own jars.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

Fault = Literal["query", "data", "code", "environment", "spark", "unknown"]
"""Whose matter it is: the text of the query, the values in the data, functions of the user, files, services and limits
around Spark, or Spark itself."""

_SEPARATOR: Final = "¦"
_LONGEST: Final = 300
_NAME: Final = re.compile(r"[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)?")

# Classes of SQLSTATEs: what the standard and Spark's own list mean by them, and whose matter that is.
_CLASSES: Final[Mapping[str, tuple[str, Fault]]] = {
    "02": ("no data", "data"),
    "07": ("dynamic SQL", "query"),
    "08": ("connection", "environment"),
    "0A": ("a feature that this Spark does not have", "query"),
    "21": ("cardinality: more rows than one are allowed", "data"),
    "22": ("values in the data", "data"),
    "23": ("a constraint of the table", "data"),
    "24": ("the state of a cursor", "query"),
    "28": ("authorization", "environment"),
    "2B": ("objects that depend on it", "query"),
    "38": ("a function of the user", "code"),
    "39": ("a function of the user", "code"),
    "3F": ("the name of a schema", "query"),
    "40": ("a transaction that was rolled back", "environment"),
    "42": ("syntax, names, types or rights in the query", "query"),
    "46": ("Java code of the user", "code"),
    "51": ("the state of the application", "query"),
    "53": ("resources", "environment"),
    "54": ("a limit of Spark", "environment"),
    "55": ("the state of an object", "environment"),
    "56": ("SQL of another kind", "query"),
    "57": ("an intervention or a resource that is not there", "environment"),
    "58": ("files or systems outside Spark", "environment"),
    "82": ("memory", "environment"),
    "F0": ("settings of the server", "environment"),
    "HV": ("a source outside Spark", "environment"),
    "HY": ("a client's call", "query"),
    "KD": ("a data source", "environment"),
    "P0": ("the code of a procedure", "code"),
    "XX": ("an error inside Spark", "spark"),
}


class Condition(Struct, frozen=True):
    """One condition. `parameters` are the words before, the name, and the words behind each in the message."""

    name: str
    sqlstate: str
    parameters: tuple[tuple[str, str, str], ...]

    @property
    def about(self) -> str:
        """What its SQLSTATE says it is about."""
        return about(self.sqlstate)

    @property
    def fault(self) -> Fault:
        """Whose matter it is."""
        return fault(self.sqlstate)


def about(sqlstate: str) -> str:
    """What a SQLSTATE is about, by its first two characters; empty where we do not know the class."""
    return _CLASSES.get(sqlstate[:2], ("", "unknown"))[0]


def fault(sqlstate: str) -> Fault:
    """Whose matter a SQLSTATE is."""
    return _CLASSES.get(sqlstate[:2], ("", "unknown"))[1]


@cache
def _lines() -> Mapping[str, str]:
    rows = Path(__file__).with_name("conditions.tsv").read_text(encoding="utf-8").splitlines()
    return {row[: row.index("\t")]: row for row in rows[1:]}


def condition_of(name: str) -> Condition | None:
    """The condition of this name; of `NAME.SUBCLASS` that we do not know, the one above it; else None."""
    line = _lines().get(name) or _lines().get(name.partition(".")[0])
    if line is None:
        return None
    found, sqlstate, _, _, parameters = line.split("\t")
    places = (_place(part) for part in parameters.split(_SEPARATOR) if part)
    return Condition(found, sqlstate, tuple(places))


def parameters_of(name: str, message: str) -> dict[str, str]:
    """The parameters of a condition in a message of it, as far as they are found again, in their order.

    `message` is what stands behind the name in brackets. Other versions word some messages in another way: what is not
    found is left out.
    """
    text = re.sub(r"\s+", " ", message.partition("SQLSTATE:")[0]).strip()
    names = (name, name.partition(".")[0]) if "." in name else (name,)
    found: dict[str, str] = {}
    for one in reversed(names):
        condition = condition_of(one)
        if condition is not None and condition.name == one:
            found |= _found(condition, text)
    return found


def is_condition(name: str) -> bool:
    """Whether some version of Spark has a condition of this name."""
    return _NAME.fullmatch(name) is not None and name.partition(".")[0] in _lines()


def _found(condition: Condition, text: str) -> dict[str, str]:
    values: dict[str, str] = {}
    at = 0
    for before, name, after in condition.parameters:
        # Words in front of it may end with a parameter of their own, whose value stands there in the message.
        end = re.escape(after.split(" <")[0]) if after.strip() else r"(?:\.?\s*$)"
        pattern = re.compile(re.escape(before) + rf"(.{{1,{_LONGEST}}}?)" + end)
        match = pattern.search(text, at) or pattern.search(text)
        if match:
            values.setdefault(name, _bare(match[1].strip()))
            at = match.end(1)
    return values


def _bare(value: str) -> str:
    """A name without the quotes around it; a name of several parts keeps them."""
    return value.strip("`") if value.count("`") == 2 else value


def _place(part: str) -> tuple[str, str, str]:
    before, _, rest = part.partition("<")
    name, _, after = rest.partition(">")
    return before, name, after
