"""What the recorder cost the processes that it recorded, and what it did to hold its budgets, by its own manifests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from emberscope.sources.lost import by_executor, recorded_ms
from emberscope.store.chunks import Chunk, Manifest
from emberscope.tables.coverage import Note
from emberscope.units import format_ms, format_ratio

_BUDGET: Final = "spark.emberscope.budget."


def own_cpu(chunks: Iterable[Chunk]) -> list[dict[str, Any]]:
    """CPU time of the recorder's own threads and of the whole processes (ns), for `driver` and `executor` each.

    Each manifest counts from the beginning of its process, so that the last one that says both is taken of each.
    """
    sums: dict[str, dict[str, Any]] = {}
    for manifests in _by_process(chunks).values():
        known = [one for one in manifests if one.own_cpu_ns is not None and one.process_cpu_ns]
        if not known:
            continue
        last = max(known, key=lambda one: one.process_cpu_ns or 0)
        role = last.role or "executor"
        row = sums.setdefault(role, {"role": role, "processes": 0, "own_cpu_ns": 0, "process_cpu_ns": 0})
        row["processes"] += 1
        row["own_cpu_ns"] += last.own_cpu_ns
        row["process_cpu_ns"] += last.process_cpu_ns
    return [sums[role] for role in ("executor", "driver", "python") if role in sums]


def own_cpu_words(rows: Iterable[Mapping[str, Any]]) -> str:
    """`0.7 % of the executors' CPU, 1.2 % of the driver's`; empty where nothing is known."""
    shares = {row["role"]: row["own_cpu_ns"] / row["process_cpu_ns"] for row in rows if row["process_cpu_ns"]}
    whose = {"executor": "the executors'", "driver": "the driver's", "python": "the Python workers'"}
    said = [f"{format_ratio(share)} of {whose[role]}" for role, share in shares.items()]
    return ", ".join([f"{said[0]} CPU", *said[1:]]) if said else ""


def budget_notes(chunks: Iterable[Chunk]) -> list[Note]:
    """One note for each process and budget that slowed its sampling: how far, and for how long."""
    notes = []
    for where, own in _chunks_by_process(chunks).items():
        held: dict[str, list[Chunk]] = {}
        for chunk in own:
            if chunk.manifest is not None and chunk.manifest.rate_held_by is not None:
                held.setdefault(chunk.manifest.rate_held_by, []).append(chunk)
        for budget, slowed in held.items():
            said = [chunk.manifest.rate_ratio for chunk in slowed if chunk.manifest is not None]
            ratios = [ratio for ratio in said if ratio is not None]
            if not ratios:
                continue
            least = min((ratio for ratio in ratios if ratio), default=0)
            message = f"To hold {_BUDGET}{budget}, samples were taken "
            message += f"less often, down to 1 of {1 / least:.0f}," if least else "not at all, but task spans,"
            message += f" for {format_ms(recorded_ms(slowed))}."
            if least and 0 in ratios:
                message += " Then only task spans were recorded."
            notes.append(Note("sampled", message, where))
    return notes


def problem_notes(chunks: Iterable[Chunk]) -> list[Note]:
    """What each process said it could not do, up to its last manifest that arrived."""
    notes = []
    for manifests in _by_process(chunks).values():
        said = max(manifests, key=lambda one: (len(one.problems), one.sequence or 0), default=None)
        notes += [problem_note(problem) for problem in (said.problems if said else ())]
    return notes


def problem_note(problem: Mapping[str, Any]) -> Note:
    """What the recorder could not do, in its own words. What was lost by it is counted elsewhere."""
    who = "driver" if problem.get("role") == "driver" else f"executor {problem.get('executor_id')}"
    return Note("limited", f"The recorder said: {problem.get('message')}", f"{who}, {problem.get('where')}")


def _chunks_by_process(chunks: Iterable[Chunk]) -> dict[str, list[Chunk]]:
    return {"driver" if name == "driver" else f"executor {name}": own for name, own in by_executor(chunks).items()}


def _by_process(chunks: Iterable[Chunk]) -> dict[str, list[Manifest]]:
    return {where: list(_manifests(own)) for where, own in _chunks_by_process(chunks).items()}


def _manifests(chunks: Iterable[Chunk]) -> Iterator[Manifest]:
    return (chunk.manifest for chunk in chunks if chunk.manifest is not None)
