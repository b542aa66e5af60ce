"""All settings that the findings ask for, in one block to paste."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emberscope.rules.evaluate import Ranked


def settings_patch(findings: Sequence[Ranked]) -> list[str]:
    """Lines of a `spark-defaults.conf`. Where two findings ask for different values the first, dearer one counts, and
    the other is told in a comment."""
    values: dict[str, str] = {}
    lines = []
    for number, finding in enumerate(findings, 1):
        for advice in finding.finding.advice:
            if advice.kind != "set" or advice.setting is None or advice.value is None:
                continue
            if advice.setting not in values:
                values[advice.setting] = advice.value
                lines.append(f"{advice.setting} {advice.value}")
            elif values[advice.setting] != advice.value:
                lines.append(f"# finding {number} asks for {advice.setting} {advice.value}")
    return lines
