"""A run made of lines of a log, or of a question, as the reader makes it of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from emberscope.logs.signature import Signature
from emberscope.rules.base import Rule
from emberscope.rules.wanted import SIGNATURES
from emberscope.sources.logs import run_of_question, run_of_text
from emberscope.tables.run import Run


def run_of_log(text: str, *, path: str = "log", rules: Sequence[Rule[Any]] = (), **facts: Any) -> Run:
    """The run of a log with this text, read for the signatures of these rules (of all in the catalog, and of these).

    `facts` are fields of `Application` (spark_version, app_start_ms, …) that the log does not tell.
    """
    run = run_of_text(text, _signatures(rules), path)
    return replace(run, application=replace(run.application, **facts))


def run_of_words(text: str, *, rules: Sequence[Rule[Any]] = (), **facts: Any) -> Run:
    """The run of a question with this text."""
    run = run_of_question(text, _signatures(rules))
    return replace(run, application=replace(run.application, **facts))


def _signatures(rules: Sequence[Rule[Any]]) -> tuple[Signature, ...]:
    return (*SIGNATURES, *(signature for rule in rules for signature in rule.signatures))
