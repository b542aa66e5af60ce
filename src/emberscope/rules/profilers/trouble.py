"""What findings about a profiler's own trouble have in common: they cost trust or a process, never wall time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from emberscope.rules.base import Advice, Consequence, Evidence, Finding, Where
from emberscope.rules.said import Said, said

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_NO_PRICE: Final = "What a profiler does not show has no price in time."
_MOST_QUOTED: Final = 3

# How sure a finding is that a line of a log shows, and one that only words tell.
_SHOWN: Final = 0.9
_TOLD: Final = 0.6


def seen(run: Run, *signatures: str) -> tuple[Said, ...]:
    """What any of these signatures matched, the first first; a row that several match counts once."""
    rows = {row.event_id: row for name in signatures for row in said(run, name)}
    return tuple(sorted(rows.values(), key=lambda row: row.event_id))


def only_told(rows: Sequence[Said]) -> bool:
    """Whether these are words of a question and no lines of a log."""
    return all(row.time_ms is None and row.level is None and not row.fields for row in rows)


def trouble(
    title: str,
    summary: str,
    rows: Sequence[Said],
    advice: Sequence[Advice],
    *,
    consequence: Consequence = "blind",
    evidence: Sequence[Evidence] = (),
) -> Finding:
    """A finding that rests on `rows`, quoted up to three; it is at an executor where all of them are."""
    executors = {row.executor_id for row in rows}
    hosts = {row.host for row in rows}
    return Finding(
        title=title,
        summary=summary,
        where=Where(
            executor=executors.pop() if len(executors) == 1 else None, host=hosts.pop() if len(hosts) == 1 else None
        ),
        evidence=(*(row.evidence() for row in rows[:_MOST_QUOTED]), *evidence),
        advice=tuple(advice),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis=_NO_PRICE,
        confidence=_TOLD if only_told(rows) and not evidence else _SHOWN,
        consequence=consequence,
    )
