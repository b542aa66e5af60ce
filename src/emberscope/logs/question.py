"""A question in plain words, with whatever was pasted into it: what it says of symptoms, settings and versions.

Unlike a log it has no records and no clock. So signatures are asked of the whole text, by their patterns and by the
words that people have for the same trouble.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from emberscope.logs.signature import Signature

READ_AS_WORDS: Final = "This was read as a question in plain words: nothing of it was measured."

_SETTING_NAME: Final = r"(?:spark|fs|yarn|hive|livy|mapreduce|dfs)\.[A-Za-z][\w\-]*(?:\.[\w\-]+)*"
# `--conf "key=value with blanks"`, `key=value`, `key: value`, and lines of spark-defaults (`key value`).
_SETTINGS: Final = (
    re.compile(rf"""(?P<quote>["'])(?P<key>{_SETTING_NAME})\s*=(?P<value>[^\n]*?)(?P=quote)"""),
    re.compile(rf"""(?<![\w.\-/])(?P<key>{_SETTING_NAME})["']?\s*[=:]\s*["']?(?P<value>[^\s"'`,;)]+)"""),
    re.compile(rf"^[ \t]*(?P<key>{_SETTING_NAME})[ \t]+(?P<value>\S+)[ \t]*$", re.MULTILINE),
)

_SPARK: Final = re.compile(
    r"\b(?:py)?spark(?:\s+version)?[\s_/=:v-]{1,3}(?P<version>[1-4]\.\d{1,2}(?:\.\d{1,2})?)\b", re.I
)
_VENDORS: Final = (
    ("emr", re.compile(r"\bemr\b|\bemrfs\b|-amzn-|\bamazon elastic mapreduce\b", re.I)),
    ("databricks", re.compile(r"\bdatabricks\b|\bdbr\b|\bdbfs:", re.I)),
    ("glue", re.compile(r"\b(?:aws )?glue (?:job|[1-5]\.0)\b", re.I)),
)
_MASTERS: Final = (
    ("local", re.compile(r"\blocal(?:\[[\d*]+\]| mode)|executor driver\b", re.I)),
    ("k8s", re.compile(r"\bkubernetes\b|\bk8s\b|\bkubelet\b|\bpods?\b|\bOOMKilled\b|spark[- ]operator", re.I)),
    ("yarn", re.compile(r"\byarn\b|\bemr\b|\bapplication_\d{10,}_\d+\b|\bcontainer_(?:e\d+_)?\d{10,}_\d+", re.I)),
    ("spark://", re.compile(r"spark://|\bstandalone\b", re.I)),
)


class Found(Struct, frozen=True):
    """A signature that a text matches: what its groups hold, the line (from 1) where it begins, and how many times.

    Of a group that several matches hold, the first counts. `by_words`: whether words told it and
    no line of a log.
    """

    signature: str
    fields: dict[str, str]
    line: int
    count: int
    by_words: bool


class Question(Struct, frozen=True):
    """What stands in a text. `master` is a beginning of Spark's master, as far as words tell it."""

    found: tuple[Found, ...]
    settings: dict[str, str]
    spark_version: str | None
    vendor: str | None
    master: str | None


def read_question(text: str, signatures: Sequence[Signature]) -> Question:
    """All that stands in a text: which signatures it matches, and facts about Spark that it tells."""
    version = _SPARK.search(text)
    # A sentence may go on in the next line.
    flat = text.replace("\n", " ")
    return Question(
        found=tuple(found for signature in signatures if (found := _found(signature, text, flat)) is not None),
        settings=settings_in(text),
        spark_version=version["version"] if version else None,
        vendor=_first(_VENDORS, text),
        master=_first(_MASTERS, text),
    )


def settings_in(text: str) -> dict[str, str]:
    """Settings with their values; the first value counts where a name stands twice."""
    found: dict[str, str] = {}
    for pattern in _SETTINGS:
        for match in pattern.finditer(text):
            found.setdefault(match["key"], match["value"].strip().rstrip(".`"))
    return found


def assumptions(question: Question) -> tuple[str, ...]:
    """What the answer takes for granted, a sentence each."""
    said = [READ_AS_WORDS]
    if question.spark_version is None:
        said.append("No version of Spark is named: advice is for Spark 3.5 and later.")
    else:
        said.append(f"Spark is taken to be {question.spark_version}.")
    if question.master is None:
        said.append("Where it runs (YARN, Kubernetes, standalone) is not said.")
    if question.settings:
        said.append(f"Settings that it names are taken as they stand ({', '.join(sorted(question.settings)[:5])}).")
    return tuple(said)


def _found(signature: Signature, text: str, flat: str) -> Found | None:
    """`flat` is the text as one line, of the same length: words are looked for there."""
    matches = list(_matches(signature.pattern, text)) if any(map(text.__contains__, signature.literals)) else []
    if matches:
        fields: dict[str, str] = {}
        for name, value in (pair for match in matches for pair in match.groupdict().items()):
            if value is not None:
                fields.setdefault(name, value)
        return Found(signature.name, fields, _line(text, matches[0].start()), len(matches), by_words=False)
    for parts in signature.words:
        told = [re.search(part, flat, re.IGNORECASE) for part in parts]
        hits = [match for match in told if match is not None]
        if hits and len(hits) == len(parts):
            fields = {n: value for match in hits for n, value in match.groupdict().items() if value is not None}
            return Found(signature.name, fields, _line(text, hits[0].start()), 1, by_words=True)
    return None


def _matches(pattern: str, text: str) -> Iterator[re.Match[str]]:
    return re.finditer(pattern, text, re.MULTILINE)


def _line(text: str, offset: int) -> int:
    """The line that something begins in; one that begins with a line feed begins in the next."""
    while offset < len(text) and text[offset] in "\r\n":
        offset += 1
    return text.count("\n", 0, offset) + 1


def _first(patterns: Sequence[tuple[str, re.Pattern[str]]], text: str) -> str | None:
    return next((name for name, pattern in patterns if pattern.search(text)), None)
