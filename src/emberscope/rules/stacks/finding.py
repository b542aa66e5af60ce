"""What is said of a hot spot: one finding for all stages it is in, with its stacks, its price and who asked for it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.rules.stacks.hot_spots import Caller, Spot, hot_spots
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageKey, StageTasks, stage_tasks
from emberscope.tables.frames import FRAMES
from emberscope.tables.run import once
from emberscope.tables.samples import SAMPLES
from emberscope.tables.stacks import STACKS
from emberscope.units import counted, format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

_WELL_KNOWN: Final = 1.96  # standard deviations: 95 of 100 shares are not smaller than so many below what was seen
_MOST_FRAMES: Final = 12
READS: Final = (Reads(SAMPLES, ("stage_id",)), Reads(STACKS), Reads(FRAMES))


class Limits(Struct, frozen=True):
    """No tool that was read prices hot code of Spark, so all values are our proposal. A share counts at the lower end
    of Wilson's interval, so few samples give little confidence."""

    samples: int = 30  # fewer samples of the hot spot in a stage are chance (proposal)
    ratio: float = 0.05  # task time of the stage that goes into it, at the lower end of the share's interval (proposal)
    floor_ms: int = 500  # task time of all its stages together (proposal)
    stage_wall_ms: int = 10_000  # shorter stages count only where they are ...
    stage_ratio: float = 0.01  # ... this much of the application (the floors of all rules, proposal)


INHERENT: Final = Limits(ratio=0.2)
"""For work that has to be done somehow: only a large share of it is worth a change."""


class StageTimes(Struct, frozen=True):
    """Wall time of a stage, and what its tasks stood still for collections and shuffle data; NaN is not known."""

    wall_ms: float
    pauses_ms: float


_UNKNOWN: Final = StageTimes(math.nan, 0.0)


class Words(Struct, frozen=True):
    """How a rule speaks. `doing` follows "spends its time" (`compiling regular expressions`), `certainty` is how sure
    the stacks make the cause, `price` a sentence on what the price supposes."""

    doing: str
    certainty: float
    price: str
    advice: Callable[[Run, Sequence[Spot]], Iterator[Advice]]


def findings(run: Run, code: str, limits: Limits, words: Words) -> Iterator[Finding]:
    """The finding for pattern `code`, none where it is not worth one."""
    kept = worth_telling(run, hot_spots(run).get(code, ()), limits)
    if kept:
        yield finding_of(run, kept, words)


def worth_telling(run: Run, spots: Sequence[Spot], limits: Limits) -> list[Spot]:
    """The spots that are certain enough and in stages that matter, if they cost enough together."""
    length_ms = run.application.observed_ms
    least_wall_ms = min(limits.stage_wall_ms, math.inf if length_ms is None else limits.stage_ratio * length_ms)
    kept = []
    for spot in spots:
        if _times(run).get(spot.key, _UNKNOWN).wall_ms < least_wall_ms:
            continue
        if not spot.lock_ms and max(spot.samples, spot.events) < limits.samples:
            continue
        if certain_part(spot) * spot.ms >= limits.ratio * done_ms(run, spot):
            kept.append(spot)
    return kept if sum(spot.ms for spot in kept) >= limits.floor_ms else []


def certain_part(spot: Spot) -> float:
    """Which part of the time of a spot is certain: by the lower end of the interval of its share of samples; all of
    what was measured, as waits for locks are."""
    if not spot.ms:
        return 0.0
    share = spot.samples / max(spot.of_samples, spot.samples, 1)
    counted = lower_share(spot.samples, max(spot.of_samples, spot.samples)) / share if share else 0.0
    seen = lower_share(spot.events, max(4 * spot.events, 1)) / 0.25 if spot.events else 0.0
    return (spot.working_ms * counted + spot.off_ms * seen + spot.lock_ms) / spot.ms


def lower_share(hits: int, of: int) -> float:
    """The lower end of Wilson's 95 % interval for a share of `hits` in `of` (E. B. Wilson, 1927)."""
    if of <= 0:
        return 0.0
    share, square = hits / of, _WELL_KNOWN**2
    middle = share + square / (2 * of)
    width = _WELL_KNOWN * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return max(0.0, (middle - width) / (1 + square / of))


def finding_of(run: Run, spots: Sequence[Spot], words: Words, more: Sequence[Evidence] = ()) -> Finding:
    """One finding about all these spots; `more` evidence stands after the share and before the stacks."""
    place, total_ms = place_of(places(run), spots[0].key), sum(spot.ms for spot in spots)
    caller = spots[0].callers[0]
    price = priced(run, changed(run, spots), f"Upper bound: {words.price}")
    title = f"{place.title} spent {format_ms(spots[0].ms)} of task time {words.doing}"
    share = format_ratio(spots[0].ms / done_ms(run, spots[0]))
    asked = f" Most of it was asked for by {method(caller)}." if caller.frame else ""
    others = f" With {counted(len(spots) - 1, 'more stage')} it is {format_ms(total_ms)}." if len(spots) > 1 else ""
    return Finding(
        title=f"{title}: {method(caller)}" if caller.own else title,
        summary=f"{place.sentence}: {share} of what the tasks did, {format_ms(spots[0].ms)}, "
        f"was {words.doing}.{asked}{others}",
        where=place.where,
        evidence=(*_shares(spots), *more, *_stacks(spots)),
        advice=tuple(words.advice(run, spots)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(total_ms),
        saving_basis=price.basis,
        confidence=words.certainty * sum(certain_part(spot) * spot.ms for spot in spots) / max(total_ms, 1e-9),
    )


def done_ms(run: Run, spot: Spot) -> float:
    """What the stage's tasks did: what samples show of them, garbage collection and waits for shuffle data. Less than
    they ran where the machine had too few processors for them: then they stood in its queue, whatever their code."""
    times = _times(run).get(spot.key, _UNKNOWN)
    return max(spot.ms, spot.of_ms + times.pauses_ms, 1e-9)


def changed(run: Run, spots: Sequence[Spot]) -> dict[StageKey, NDArray[np.float64]]:
    """The durations of the stages' tasks without the hot spot: each task less its part of what the samples show, and
    less its own waits for locks."""
    known = {stage.key: stage for stage in stage_tasks(run)}
    return {spot.key: _without(known[spot.key], spot) for spot in spots if spot.key in known}


def _without(stage: StageTasks, spot: Spot) -> NDArray[np.float64]:
    durations = stage.durations_ms()
    run_ms, cpu_ms = stage.run_ms(), stage.amounts("executor_cpu_time_ns") / 1e6
    work_ms = cpu_ms if cpu_ms.sum() > 0 else run_ms
    rest_ms = np.maximum(0.0, run_ms - work_ms - stage.amounts("gc_time_ms"))
    rest_ms = rest_ms if rest_ms.sum() > 0 else run_ms
    less = np.zeros(len(stage))
    for amount_ms, by_ms in ((spot.working_ms, work_ms), (spot.off_ms, rest_ms)):
        if by_ms.sum() > 0:
            less += amount_ms * by_ms / by_ms.sum()
    if spot.lock_of:
        ids = stage.numbers("task_id")
        less += np.array([spot.lock_of.get(int(task), 0.0) if task == task else 0.0 for task in ids.tolist()])
    shorter = np.maximum(0.0, durations - np.minimum(less, np.maximum(run_ms, 0.0)))
    return shorter[~np.isnan(shorter)]


@once
def _times(run: Run) -> dict[StageKey, StageTimes]:
    """The times of every stage attempt with ended tasks."""
    figures = stage_figures(run)
    if figures is None:
        return {}
    pauses = figures.total("gc_time_ms") + figures.total("shuffle_fetch_wait_ms")
    return {
        key: StageTimes(wall_ms, pauses_ms)
        for key, wall_ms, pauses_ms in zip(figures.keys, figures.wall_ms.tolist(), pauses.tolist(), strict=True)
    }


def method(caller: Caller) -> str:
    """A caller in words: `app.Prices.of()`, with its line where that is known."""
    line = f" (line {caller.line})" if caller.line else ""
    return f"{short(caller.frame)}(){line}" if caller.frame else "code without a stack"


def asker(spots: Sequence[Spot]) -> str:
    """Who asked for most of it, for advice: the user's method, or Spark's where the query did."""
    caller = spots[0].callers[0]
    if caller.own or not caller.frame:
        return method(caller) if caller.frame else "the code"
    return f"the query (in {method(caller)})"


def short(frame: str) -> str:
    """A frame of Spark, Scala or the JDK as Class.method; any other one in full, so that it can be found."""
    if frame.startswith(("org.apache.", "java.", "scala.", "jdk.", "sun.", "com.")):
        return ".".join(frame.rsplit(".", 2)[-2:])
    return frame


def _shares(spots: Sequence[Spot]) -> Iterator[Evidence]:
    for spot in spots[:3]:
        stage = f" of stage {spot.key[0]}"
        if spot.samples:
            yield Evidence(
                f"{format_count(spot.samples)} of {format_count(spot.of_samples)} samples{stage} are in it: "
                f"{format_ms(spot.working_ms)} of CPU time",
                "samples, tasks.executor_cpu_time_ns",
                round(spot.working_ms),
                "ms",
            )
        if spot.off_ms >= 1:
            yield Evidence(
                f"{format_count(spot.events)} samples{stage} wait in it or work in native code: "
                f"{format_ms(spot.off_ms)}",
                "samples (native, wall)",
                round(spot.off_ms),
                "ms",
            )
        if spot.lock_ms >= 1:
            yield Evidence(
                f"tasks{stage} waited {format_ms(spot.lock_ms)} for locks in it",
                "samples (lock)",
                round(spot.lock_ms),
                "ms",
            )


def _stacks(spots: Sequence[Spot]) -> Iterator[Evidence]:
    """The hottest stack of the two dearest callers."""
    for caller in spots[0].callers[:2]:
        if not caller.stack or caller.ms < 0.1 * spots[0].ms:
            continue
        frames = caller.stack
        if len(frames) > _MOST_FRAMES:
            frames = (*frames[: _MOST_FRAMES // 2], *frames[-_MOST_FRAMES // 2 :])
        shown = [short(frame) for frame in frames[:1] + frames[-3:]] if len(frames) > 4 else list(map(short, frames))
        if len(frames) > 4:
            shown.insert(1, "…")
        yield Evidence(
            f"hottest stack: {' → '.join(shown)}",
            "samples.stack",
            round(caller.ms),
            "ms",
            frames=frames,
        )
