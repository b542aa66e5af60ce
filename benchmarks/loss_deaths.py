"""What one death lost, by the manifests of what arrived of its process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

ENGINES = {"jfr", "wall-sampler"}
"""Those that record where nothing is asked for."""


def death_of(death_ms: float, own: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a process lost that died at `death_ms`; `own` are its manifests with the time at which each `arrived_ms`.

    An engine that closed its recording itself lost nothing. The engine that lost the most counts for the process: one
    that ran and of which nothing ever arrived lost all of it. None where nothing is known of any.
    """
    by_engine: dict[str, list[dict[str, Any]]] = {}
    for manifest in own:
        by_engine.setdefault(manifest["engine"].partition(" ")[0], []).append(manifest)
    closed = {engine for engine, all_ in by_engine.items() if any(one["last"] and not one["swept"] for one in all_)}
    lost = dict.fromkeys(closed, 0.0)
    without = dict(lost)
    for engine in (by_engine.keys() | ENGINES) - closed if own else ():
        arrived = by_engine.get(engine, [])
        lost[engine] = _tail_ms(death_ms, arrived, own)
        without[engine] = _tail_ms(death_ms, [one for one in arrived if not one["swept"]], arrived or own)
    is_closed = closed >= ENGINES
    return {
        "chunks": len(own),
        "closed": is_closed,
        "lost_by_engine_ms": lost,
        "lost_ms": max(lost.values(), default=None),
        "lost_without_sweep_ms": max(without.values(), default=None),
        "exit_ms": max(0, max(one["arrived_ms"] for one in own) - death_ms) if is_closed else None,
    }


def _tail_ms(death_ms: float, arrived: Sequence[dict[str, Any]], known: Sequence[dict[str, Any]]) -> float:
    """Time of a recording that did not arrive. `known`, at least one, says when it began."""
    reached = max((one["last_ms"] for one in arrived), default=min(one["first_ms"] for one in known))
    return max(0.0, death_ms - float(reached))
