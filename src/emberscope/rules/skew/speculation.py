"""Speculative copies of tasks held cores and did not win.

## What it means
With `spark.speculation`, Spark starts a second copy of a task that takes much longer than its siblings and keeps the
result of whichever ends first. That helps where a machine is slow. Where tasks differ because their data differ, the
copy takes as long as the original, comes too late and is killed: its work was for nothing, and other tasks may have
waited for the core that it held.

## What it costs
The core time of the copies that did not win, and the wall time that their stages would have saved without them, by
replay.

## What to do
Let Spark wait longer before it starts a copy: raise `spark.speculation.multiplier` (how many times the median a task
has to take; 1.5 by default, 3 from Spark 4 on) and `spark.speculation.quantile` (the share of tasks that must be done
before; 0.75, and 0.9 from Spark 4 on). Where the advice gives a multiplier, it would have spared most of the copies
that lost in this run. Where no copy won, switch speculation off, and mend what makes the tasks differ.

## When to ignore it
When cores are free anyway and the few copies that won saved you from a slow machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.rules.settings import is_on, number_setting, version
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageKey, StageTasks
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


_EFFICIENCY: Final = "spark.speculation.efficiency.enabled"


class Limits(Struct, frozen=True):
    """Compass warns at more than 20 copies in a stage of an application of more than 5 minutes, whether they won or
    not; we count what the losing ones cost."""

    ratio: float = 0.02  # core time of losing copies over all core time of tasks (proposal)
    floor_ms: float = 10_000.0  # core time of losing copies (proposal)
    losing: float = 0.5  # share of the copies that lost: where most won, speculation did its work (proposal)


class Copies(Struct, frozen=True):
    """The speculative copies of one stage attempt. `lost` and `won` are places in `tasks`; `needed` is, for each losing
    copy, how many times the stage's median its original took."""

    tasks: StageTasks
    lost: NDArray[np.int64]
    won: NDArray[np.int64]
    needed: NDArray[np.float64]
    lost_ms: float


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    figures = stage_figures(run)
    if figures is None:
        return
    marks = figures.columns.numbers("speculative") == 1
    if not marks.any():
        return
    touched = np.add.reduceat(marks.astype(np.int64), figures.starts) > 0
    found = [_copies(figures.stages[place], marks) for place in np.flatnonzero(touched).tolist()]
    lost_ms = sum(one.lost_ms for one in found)
    lost, won = sum(len(one.lost) for one in found), sum(len(one.won) for one in found)
    lengths = figures.columns.numbers("finish_ms") - figures.columns.numbers("launch_ms")
    all_ms = float(np.nansum(np.maximum(lengths, 0)))
    if lost_ms < max(limits.floor_ms, limits.ratio * all_ms) or lost < limits.losing * (lost + won):
        return
    yield _finding(run, found, lost, won, lost_ms, all_ms)


def _copies(stage: StageTasks, marks: NDArray[np.bool_]) -> Copies:
    copies = marks[stage.rows]
    succeeded = stage.columns.flags("status", "success")[stage.rows]
    durations = stage.durations_ms()
    lost, won = np.flatnonzero(copies & ~succeeded), np.flatnonzero(copies & succeeded)
    usual = float(np.nanmedian(durations[succeeded])) if succeeded.any() else float("nan")
    originals = {int(index): place for place, index in _winners(stage, succeeded & ~copies)}
    indices = stage.numbers("task_index")[lost]
    needed = [
        durations[originals[int(index)]] / max(usual, 1.0)
        for index in indices.tolist()
        if index == index and int(index) in originals
    ]
    ratios = np.array(needed, dtype=np.float64)
    return Copies(stage, lost, won, ratios[~np.isnan(ratios)], float(np.nansum(durations[lost])))


def _winners(stage: StageTasks, mask: NDArray[np.bool_]) -> list[tuple[int, float]]:
    places = np.flatnonzero(mask)
    indices = stage.numbers("task_index")[places]
    return [
        (int(place), index) for place, index in zip(places.tolist(), indices.tolist(), strict=True) if index == index
    ]


def _finding(run: Run, found: list[Copies], lost: int, won: int, lost_ms: float, all_ms: float) -> Finding:
    price = priced(
        run, {one.tasks.key: _without(one) for one in found if len(one.lost)}, "Without the copies that lost."
    )
    worst = max(found, key=lambda one: (one.lost_ms, one.tasks.key))
    key: StageKey = worst.tasks.key
    alone = worst.lost_ms > 0.5 * lost_ms
    place = place_of(places(run), key)
    stages = sum(len(one.lost) > 0 for one in found)
    needed = np.concatenate([one.needed for one in found])
    evidence = [
        Evidence(
            f"{lost} of {lost + won} speculative copies did not win; they held "
            f"cores for {format_ms(lost_ms)} ({format_ratio(lost_ms / all_ms)} of all tasks' time)",
            "tasks.speculative, tasks.status, tasks.launch_ms, tasks.finish_ms",
            round(lost_ms),
            "ms",
        ),
        Evidence(
            f"most of it in {place.title[0].lower()}{place.title[1:]}"
            if alone
            else f"in {counted(stages, 'stage')}, most in {place.title[0].lower()}{place.title[1:]}: "
            f"{format_ms(worst.lost_ms)}",
            "tasks.stage_id",
            round(worst.lost_ms),
            "ms",
        ),
    ]
    if len(needed):
        evidence.append(
            Evidence(
                f"half of the tasks that were copied took less than {float(np.median(needed)):.1f}× the median task of "
                "their stage in the end",
                "tasks.launch_ms, tasks.finish_ms",
                round(float(np.median(needed)), 2),
                "ratio",
            )
        )
    return Finding(
        title=f"{lost} of {lost + won} speculative copies did not win",
        summary=f"Speculation started {lost + won} copies of tasks in {counted(len(found), 'stage')}; {lost} of them "
        f"lost and held cores for {format_ms(lost_ms)} that other tasks waited for or that were paid for."
        + (f" Most of it in {place.sentence[0].lower()}{place.sentence[1:]}." if alone else ""),
        where=place.where if alone else Where(),
        evidence=tuple(evidence),
        advice=tuple(_advice(run, needed, lost, won)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(lost_ms),
        saving_basis=price.basis,
        confidence=0.9,
    )


def _without(one: Copies) -> NDArray[np.float64]:
    durations = one.tasks.durations_ms()
    keep = ~np.isnan(durations)
    keep[one.lost] = False
    return durations[keep]


def _advice(run: Run, needed: NDArray[np.float64], lost: int, won: int) -> Iterator[Advice]:
    # Spark 4 waits longer by itself than Spark 3 (SPARK-48168).
    four = version(run) >= (4, 0)
    now, quantile = (
        number_setting(run, "spark.speculation.multiplier", 3.0 if four else 1.5),
        number_setting(run, "spark.speculation.quantile", 0.9 if four else 0.75),
    )
    spared = float(np.percentile(needed, 90)) if len(needed) else float("inf")
    value = math.ceil(max(spared, 3.0) * 2) / 2 if math.isfinite(spared) else 0.0
    if won == 0 and (value <= now or value > 10 or not value):
        yield set_conf(
            "spark.speculation", "false", f"None of {lost} copies won, and waiting longer would not have spared them."
        )
        return
    if 0 < value <= 10 and value > now:
        yield set_conf(
            "spark.speculation.multiplier",
            f"{value:g}",
            f"A copy starts when a task takes so many times the median; 9 of 10 tasks whose copies lost took less in "
            f"the end. It was {now:g}.",
        )
    if not is_on(run, _EFFICIENCY, default=True) and version(run) >= (3, 4):
        yield Advice(
            "unset",
            "By default Spark starts no copy of a task that works off its rows as fast as the others; that was "
            "switched off.",
            _EFFICIENCY,
        )
    if quantile < 0.9:
        yield set_conf(
            "spark.speculation.quantile",
            "0.9",
            f"Copies start when this share of the tasks is done; it was {quantile:g}.",
        )
    if won == 0:
        yield Advice("check", "None of the copies won: switching speculation off costs nothing here.")
    else:
        yield Advice("check", f"{won} copies won: look at which executors the slow originals ran on, and mend those.")


RULE = Rule(
    code="B7",
    name="speculation",
    since="0.1",
    reads=(Reads(TASKS, ("speculative", "launch_ms", "finish_ms")), Reads(STAGES)),
    limits=Limits(),
    check=check,
)
