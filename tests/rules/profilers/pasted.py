"""Text as somebody pastes it, asked of every rule about profilers."""

from __future__ import annotations

from typing import Any, Final

from emberscope.rules.base import Finding, Rule
from emberscope.rules.catalog import RULES
from emberscope.rules.families import family_of
from emberscope.sources.logs import run_of_question

PROFILERS: Final[tuple[Rule[Any], ...]] = tuple(rule for rule in RULES if family_of(rule) == "profilers")
_SIGNATURES: Final = tuple(signature for rule in PROFILERS for signature in rule.signatures)


def answers(text: str) -> dict[str, Finding]:
    """The finding of each rule that fires, by its code."""
    run = run_of_question(text, _SIGNATURES, "pasted")
    return {rule.code: finding for rule in PROFILERS for finding in rule.check(run, rule.limits)}


def words_of(finding: Finding) -> str:
    """All that a finding says, as one text."""
    told = [finding.title, finding.summary]
    for advice in finding.advice:
        told += [advice.setting or "", advice.value or "", advice.text]
    return " ".join(told)
