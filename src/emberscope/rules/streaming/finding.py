"""What findings about a streaming query have in common."""

from __future__ import annotations

from typing import Final

from emberscope.rules.base import Advice, Consequence, Evidence, Finding, Where

_NO_PRICE: Final = "A stream does not end earlier, so no wall time can be saved."


def finding(
    title: str,
    summary: str,
    evidence: list[Evidence],
    advice: tuple[Advice, ...],
    *,
    consequence: Consequence,
    confidence: float,
    core_ms: int | None = None,
) -> Finding:
    return Finding(
        title=title,
        summary=summary,
        where=Where(),
        evidence=tuple(evidence),
        advice=advice,
        wasted_wall_ms=None,
        wasted_core_ms=core_ms,
        saving_basis=_NO_PRICE,
        confidence=confidence,
        consequence=consequence,
    )
