"""How the cases of the guide are put to a rule."""

from __future__ import annotations

from typing import Any

from emberscope.rules.base import Finding, Rule
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found


def in_log(rule: Rule[Any], text: str, path: str = "stderr", **facts: Any) -> list[Finding]:
    return found(rule, run_of_log(text, path=path, rules=[rule], **facts))


def in_words(rule: Rule[Any], text: str) -> list[Finding]:
    return found(rule, run_of_words(text, rules=[rule]))


def advised(finding: Finding) -> dict[str | None, str | None]:
    return {advice.setting: advice.value for advice in finding.advice if advice.kind == "set"}


def words(finding: Finding) -> str:
    return " ".join([finding.title, finding.summary, *(advice.text for advice in finding.advice)])
