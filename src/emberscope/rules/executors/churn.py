"""Executors came and went again and again.

## What it means
Starting an executor takes time: a container has to be found, a JVM starts, classes are loaded, and the first tasks on
it run slower. Here executors were let go and new ones came soon after, or executors ended shortly after their start.

## What it costs
The core time of the new executors before their first task, and what their first tasks took longer than usual to
deserialise. How long jobs waited for new executors cannot be told apart from other waiting, so there is no price in
wall time. Executors that ended by themselves have no price.

## What to do
Let dynamic allocation keep executors for longer than the pauses between jobs
(`spark.dynamicAllocation.executorIdleTimeout`, 60 s by default; the value below comes from the pauses of this run), or
keep a few always (`spark.dynamicAllocation.minExecutors`). Where executors end by themselves right after their start,
read the standard error of one of them.

## When to ignore it
When the pauses are long and executors are expensive: letting them go is what dynamic allocation is for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.executors.removals import WORDS, Removal, removals
from emberscope.rules.settings import is_on, ms_setting
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Our proposal, not calibrated beyond a few public logs."""

    short_ms: int = 60_000  # an executor that lived less was short-lived
    again_ms: int = 120_000  # an executor that comes so soon after one was let go takes its place
    least: int = 3  # fewer of either say nothing
    ratio: float = 0.25  # of all executors that there were


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    gone = removals(run)
    added = _added(run)
    least = max(limits.least, math.ceil(limits.ratio * len(added)))
    end_ms = (run.application.app_start_ms or 0) + (run.application.observed_ms or 0)
    crashed = [
        one
        for one in gone
        if one.why not in ("asked", "decommissioned", "preempted")
        and one.lived_ms is not None
        and one.lived_ms < limits.short_ms
        and one.removed_ms < end_ms - limits.short_ms / 10
    ]
    if len(crashed) >= least:
        yield _short_lived(crashed, len(added), limits)
    pauses = _replaced([one for one in gone if one.why == "asked"], added, limits.again_ms)
    if len(pauses) >= least:
        yield _churn(run, pauses, len(added), limits)


def _added(run: Run) -> list[tuple[int, str, int]]:
    """Time, id and cores of executors as they came."""
    table = run.tables["executors"]
    columns = [table[name].to_pylist() for name in ("added_ms", "executor_id", "cores")]
    rows = [(ms, name or "", cores or 1) for ms, name, cores in zip(*columns, strict=True) if ms is not None]
    return sorted(row for row in rows if row[1] != "driver")


def _replaced(
    gone: Sequence[Removal], added: Sequence[tuple[int, str, int]], again_ms: int
) -> list[tuple[int, str, int]]:
    """For each executor that came soon after one was let go: the time between, its id and its cores."""
    found, waiting, at = [], [], 0
    for added_ms, name, cores in added:
        while at < len(gone) and gone[at].removed_ms <= added_ms:
            waiting.append(gone[at].removed_ms)
            at += 1
        waiting = [ms for ms in waiting if ms >= added_ms - again_ms]
        if waiting:
            found.append((added_ms - waiting.pop(0), name, cores))
    return found


def _short_lived(crashed: Sequence[Removal], total: int, limits: Limits) -> Finding:
    why, count = Counter(one.why for one in crashed).most_common(1)[0]
    example = next(one for one in crashed if one.why == why)
    said = f" (“{example.reason[:150]}”)" if example.reason else ""
    return Finding(
        title=f"{len(crashed)} of {total} executors ended within {format_ms(limits.short_ms)} of their start",
        summary=f"{counted(len(crashed), 'executor')} lived for less than {format_ms(limits.short_ms)}, most of them "
        f"because: {WORDS[why]}{said}. The application ran with fewer cores meanwhile.",
        where=Where(executor=example.executor_id, host=example.host),
        evidence=(
            Evidence(
                f"executors {', '.join(one.executor_id for one in crashed[:8])}: {count} times {WORDS[why]}",
                "executors.added_ms, executors.removed_ms, executors.removed_reason",
                len(crashed),
                "executors",
            ),
        ),
        advice=(
            Advice(
                "check",
                f"Read the standard error of executor {example.executor_id}: what ends an executor right after its "
                "start is a setting, a missing file or too little memory, and is the same for all of them.",
            ),
        ),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="What the application would have done with these executors is not known.",
        confidence=0.8,
        consequence="lost",
    )


def _churn(run: Run, pauses: Sequence[tuple[int, str, int]], total: int, limits: Limits) -> Finding:
    cold_ms = _cold_ms(run, {name: cores for _, name, cores in pauses})
    lengths = np.array([pause for pause, _, _ in pauses], dtype=np.float64)
    return Finding(
        title=f"{len(pauses)} of {total} executors took the place of one that had just been let go",
        summary=f"{counted(len(pauses), 'executor')} came within {format_ms(limits.again_ms)} of one that was let go, "
        f"half of them within {format_ms(float(np.median(lengths)))}; each had to start anew.",
        where=Where(),
        evidence=(
            Evidence(
                f"{len(pauses)} of {total} executors came soon after another was let go",
                "executors.added_ms, executors.removed_ms, executors.removed_reason",
                len(pauses),
                "executors",
            ),
            Evidence(
                f"{format_ms(cold_ms)} of core time before their first tasks, and for unpacking these",
                "executors.added_ms, tasks.launch_ms, tasks.executor_deserialize_time_ms",
                round(cold_ms),
                "ms",
            ),
        ),
        advice=tuple(_advice(run, float(lengths.max()))),
        wasted_wall_ms=None,
        wasted_core_ms=round(cold_ms),
        saving_basis="Core time from the start of these executors to their first task, and what their first tasks took "
        "longer to unpack. How long jobs waited for them is not known.",
        confidence=0.6,
    )


def _cold_ms(run: Run, cores: dict[str, int]) -> float:
    """Core time of these executors before their first task, and the excess of unpacking their first tasks."""
    figures, table = stage_figures(run), run.tables["executors"]
    if figures is None:
        return 0.0
    added = dict(zip(table["executor_id"].to_pylist(), table["added_ms"].to_pylist(), strict=True))
    columns = figures.columns
    launched, unpacked = columns.numbers("launch_ms"), np.nan_to_num(columns.numbers("executor_deserialize_time_ms"))
    usual = float(np.median(unpacked)) if len(unpacked) else 0.0
    total = 0.0
    for name, count in cores.items():
        here = np.flatnonzero(columns.flags("executor_id", name) & ~np.isnan(launched))
        if not len(here):
            continue
        first = here[np.argsort(launched[here], kind="stable")[:count]]
        total += max(0.0, float(launched[first[0]]) - float(added[name])) * count
        total += float(np.maximum(unpacked[first] - usual, 0).sum())
    return total


def _advice(run: Run, longest_ms: float) -> Iterator[Advice]:
    now_ms = ms_setting(run, "spark.dynamicAllocation.executorIdleTimeout", "60s", unit="s")
    seconds = math.ceil((now_ms + longest_ms) / 30_000) * 30
    if is_on(run, "spark.dynamicAllocation.enabled", default=False):
        yield set_conf(
            "spark.dynamicAllocation.executorIdleTimeout",
            f"{seconds}s",
            f"Executors were let go after {format_ms(now_ms)} without a task and missed up to {format_ms(longest_ms)} "
            "later.",
        )
    else:
        yield Advice("check", "Find out who ends executors: dynamic allocation is not switched on by a setting here.")


RULE = Rule(
    code="H1",
    name="executor-churn",
    since="0.1",
    reads=(Reads(TASKS), Reads(EXECUTORS, ("added_ms",))),
    limits=Limits(),
    check=check,
)
