"""The table of `loss.py`."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

WORDS = {
    "sigkill": "executor, SIGKILL",
    "sigterm": "executor, SIGTERM",
    "dynamic": "executor, dynamic allocation",
    "driver": "driver, SIGKILL",
}


def table(deaths: Sequence[dict[str, Any]]) -> str:
    """Deaths by their way: seconds lost with the sweep and without it, and what is wrong with runs."""
    lines = [
        "| end | deaths | closed by itself | lost s: median, 95 %, most | without the sweep | wrong |",
        "|---|---|---|---|---|---|",
    ]
    for way, words in WORDS.items():
        own = [death for death in deaths if death["way"] == way]
        if not own:
            continue
        wrong = sum(bool(death["wrong"]) for death in own)
        closed = sum(death["closed"] for death in own)
        lost = _figures([death["lost_ms"] for death in own])
        without = _figures([death["lost_without_sweep_ms"] for death in own])
        lines.append(f"| {words} | {len(own)} | {closed} | {lost} | {without} | {wrong} |")
    lines += ["", *_by_engine(deaths)]
    ends = sorted(death["exit_ms"] for death in deaths if death["way"] == "sigterm" and death["exit_ms"] is not None)
    if ends:
        within = sum(ms <= 250 for ms in ends)
        lines += [
            "",
            f"From SIGTERM to the manifest of the last chunk: median {statistics.median(ends):.0f} ms, "
            f"most {ends[-1]:.0f} ms; {within} of {len(ends)} within 250 ms.",
        ]
    return "\n".join(lines)


def _by_engine(deaths: Sequence[dict[str, Any]]) -> list[str]:
    """Of which engine how much: one writes its open chunk to the disk more often than another."""
    lines = ["| end | engine | deaths | lost s: median, 95 %, most |", "|---|---|---|---|"]
    for way, words in WORDS.items():
        by_engine: dict[str, list[float]] = {}
        for death in deaths:
            for engine, ms in (death.get("lost_by_engine_ms") or {}).items() if death["way"] == way else ():
                by_engine.setdefault(engine, []).append(ms)
        for engine, lost in sorted(by_engine.items()):
            lines.append(f"| {words} | {engine} | {len(lost)} | {_figures(lost)} |")
    return lines


def _figures(milliseconds: Sequence[float | None]) -> str:
    known = sorted(ms / 1000 for ms in milliseconds if ms is not None)
    if not known:
        return "unknown"
    high = known[min(len(known) - 1, int(0.95 * len(known)))]
    unknown = len(milliseconds) - len(known)
    said = f"{statistics.median(known):.1f}, {high:.1f}, {known[-1]:.1f}"
    return said + (f" ({unknown} not recorded at all)" if unknown else "")
