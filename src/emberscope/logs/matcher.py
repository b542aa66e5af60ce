"""All signatures at once: which lines may matter, and what a record says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from emberscope.logs.signature import Signature

MOST_SEARCHED: Final = 64 * 1024
"""Characters of a record that patterns are tried on: some of them grow with the square of a text."""

# Lines that are looked at whatever the rules ask for: what is bad by its writer's own word, and who wrote it.
_ALWAYS: Final = (
    "ERROR",
    "WARN",
    "FATAL",
    "SEVERE",
    "CRITICAL",
    r"Exception in thread",
    r"Traceback \(most recent call last",
    r"Caused by: ",
    r"^Container: container_",
    r"Starting executor ID ",
    r"Running Spark version ",
    r"Submitted application: ",
    r"--executor-id ",
    r"Registered executor ",
    r"Launching container container_",
    r"^[EWF][0-9]{4} [0-9][0-9]:[0-9][0-9]:",
)


class Matcher:
    """Signatures, compiled. `line_pattern` is for RE2: every record that matters has a line in which it is found."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        self.signatures = tuple({signature.name: signature for signature in signatures}.values())
        self._patterns = [re.compile(signature.pattern, re.MULTILINE) for signature in self.signatures]
        asked: dict[str, list[int]] = {}
        for number, signature in enumerate(self.signatures):
            for literal in signature.literals:
                asked.setdefault(literal, []).append(number)
        self._asked = list(asked.items())
        self.with_digits = [literal.encode() for literal in asked if any(map(str.isdigit, literal))]
        self.line_patterns = (*map(_literal, asked), *_ALWAYS)
        self.line_pattern = "|".join(self.line_patterns)

    def found(self, text: str) -> dict[str, re.Match[str]]:
        """The signatures that match the text of a record, in their order, with where."""
        searched = text[:MOST_SEARCHED]
        numbers = {number for literal, asked in self._asked if literal in searched for number in asked}
        found = {}
        for number in sorted(numbers):
            match = self._patterns[number].search(searched)
            if match is not None:
                found[self.signatures[number].name] = match
        return found


def groups_of(match: re.Match[str], line: int | None, message: str) -> Mapping[str, Any]:
    """The named groups of a match that took part in it, and under "@" keys where in the log it stands."""
    groups: dict[str, Any] = {name: value for name, value in match.groupdict().items() if value is not None}
    return {**groups, "@line": line, "@message": message}


def _literal(text: str) -> str:
    return "".join(letter if letter.isalnum() or letter in " _" else f"\\{letter}" for letter in text)
