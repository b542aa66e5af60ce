"""A finding from words of logs: the same frame for all rules of this family."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emberscope.rules.base import Advice, Consequence, Evidence, Finding, Where
from emberscope.rules.said import Said

NO_PRICE: Final = "Logs alone give no price: what was lost is the work since the last result that was kept."
_MOST_EVIDENCE: Final = 6


def told(
    title: str,
    summary: str,
    rows: Sequence[Said],
    advice: Sequence[Advice],
    *,
    consequence: Consequence | None,
    confidence: float = 0.8,
    more: Sequence[Evidence] = (),
    where: Where | None = None,
) -> Finding:
    """A finding about these rows, the first first; the first few are quoted, and facts beside them come after."""
    quoted = tuple(row.evidence() for row in rows[:_MOST_EVIDENCE])
    return Finding(
        title=title,
        summary=summary,
        where=where or Where(executor=rows[0].executor_id, host=rows[0].host),
        evidence=(*quoted, *more),
        advice=tuple(advice),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis=NO_PRICE,
        confidence=confidence,
        consequence=consequence,
    )


def times(rows: Sequence[Said]) -> int:
    """How many records these rows stand for."""
    return sum(row.count for row in rows)
