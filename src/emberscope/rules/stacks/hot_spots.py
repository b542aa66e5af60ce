"""The hot spots of a run: for each pattern the stages it is in, what it cost there and the stacks that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.profile.classify import family_of
from emberscope.rules.stacks.marking import NONE, Marks, marks
from emberscope.rules.stacks.patterns import PATTERNS
from emberscope.rules.stacks.task_samples import TaskSamples, task_samples
from emberscope.simulate.stage_tasks import StageKey
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

# Families whose frames do not tell who asked for the work.
_PASSING_ON: Final = frozenset({"java", "scala", "library", "native", "kernel", "none", "gc"})
_MOST_CALLERS: Final = 5


class Caller(Struct, frozen=True):
    """Who asked for it: the nearest frame of the user's own code above the hot spot, else of Spark's (`own` tells).

    `stack` is its hottest stack from there to the leaf, root side first; `ms` the task time of all its stacks.
    """

    frame: str
    line: int
    own: bool
    ms: float
    stack: tuple[str, ...]


class Spot(Struct, frozen=True):
    """A hot spot in one stage attempt. `samples` of the stage's `of_samples` working samples are in it, and `events`
    samples of waits.

    `of_ms` is what samples show of all that the stage's tasks did. `working_ms`, `off_ms` and `lock_ms` are task time
    by CPU samples, by samples of waits, and waited for locks; `lock_of` that wait by task.
    """

    key: StageKey
    samples: int
    of_samples: int
    of_ms: float
    events: int
    working_ms: float
    off_ms: float
    lock_ms: float
    lock_of: Mapping[int, float]
    callers: tuple[Caller, ...]

    @property
    def ms(self) -> float:
        return self.working_ms + self.off_ms + self.lock_ms


@once
def hot_spots(run: Run) -> Mapping[str, Sequence[Spot]]:
    """By code of the pattern its spots, the dearest first."""
    samples = task_samples(run) if {"samples", "stacks", "frames"} <= run.tables.keys() else None
    if samples is None:
        return {}
    found = marks(run)
    number = found.pattern[samples.node].astype(np.int64)
    waits = np.array([pattern.waits for pattern in PATTERNS])
    ours = (number != NONE) & (samples.working | waits[number])
    result: dict[str, Sequence[Spot]] = {}
    for index, pattern in enumerate(PATTERNS):
        rows = np.flatnonzero(ours & (number == index))
        if len(rows):
            whole = spots(run, samples, found, rows)
            result[pattern.code] = [spot for spot in whole if spot.callers[0].own or not pattern.own]
    return result


def spots(run: Run, samples: TaskSamples, found: Marks, rows: NDArray[np.int64]) -> Sequence[Spot]:
    """The spots that these places of the samples make, by stage, the dearest first."""
    result = []
    whole, whole_ms = samples.samples_by_stage(), samples.ms_by_stage()
    stage = samples.stage[rows]
    for index in np.unique(stage):
        mine = rows[stage == index]
        ms, working, lock = samples.ms[mine], samples.working[mine], samples.lock[mine]
        locked = mine[lock]
        tasks, which = np.unique(samples.task[locked], return_inverse=True)
        by_task = np.bincount(which.ravel(), samples.ms[locked], len(tasks))
        spot = Spot(
            samples.keys[int(index)],
            int(samples.count[mine][working].sum()),
            int(whole[index]),
            float(whole_ms[index]),
            int(samples.count[mine][~working].sum()),
            float(ms[working].sum()),
            float(ms[~working & ~lock].sum()),
            float(ms[lock].sum()),
            {int(task): float(amount) for task, amount in zip(tasks, by_task, strict=True)},
            callers(run, found, samples.node[mine], ms),
        )
        if spot.ms > 0:
            result.append(spot)
    return sorted(result, key=lambda spot: (-spot.ms, spot.key))


@once
def frame_words(run: Run) -> tuple[Sequence[str], Sequence[str], Sequence[int]]:
    """Name, kind and line of every frame."""
    frames = run.tables["frames"]
    kinds = frames["kind"].cast("string").fill_null("java").to_pylist()
    return frames["name"].fill_null("").to_pylist(), kinds, frames["line"].fill_null(0).to_pylist()


def callers(run: Run, found: Marks, nodes: NDArray[np.int64], ms: NDArray[np.float64]) -> tuple[Caller, ...]:
    """Who asked for these stacks, the dearest first."""
    names, _, lines = frame_words(run)
    leaves, which = np.unique(nodes, return_inverse=True)
    weights = np.bincount(which.ravel(), ms, len(leaves))
    entries, of_entry = np.unique(found.entry[leaves], return_inverse=True)
    by_entry = np.bincount(of_entry.ravel(), weights, len(entries))
    # By ascending weight, so that the hottest leaf of an entry is the one that stays.
    hottest = {int(of_entry.ravel()[place]): int(leaves[place]) for place in np.lexsort((-leaves, weights))}
    sums: dict[tuple[str, bool], float] = {}
    best: dict[tuple[str, bool], tuple[float, int, int]] = {}
    for index, entry in enumerate(entries.tolist()):
        node, own = _asker(run, found, entry or hottest[index])
        asker = (names[found.frames[node]] if node else "", own)
        sums[asker] = sums.get(asker, 0.0) + float(by_entry[index])
        candidate = (float(by_entry[index]), -hottest[index], node)
        best[asker] = max(best.get(asker, candidate), candidate)
    callers = [
        Caller(name, lines[found.frames[node]] if node else 0, own, sums[name, own], _stack(names, found, node, -leaf))
        for (name, own), (_, leaf, node) in best.items()
    ]
    callers.sort(key=lambda caller: (-caller.ms, caller.frame))
    return tuple(callers[:_MOST_CALLERS])


def _asker(run: Run, found: Marks, entry: int) -> tuple[int, bool]:
    """The node of the nearest frame of the user's code at or above this one; else of Spark's; else the node itself."""
    names, kinds, _ = frame_words(run)
    spark, node = 0, entry
    while node > 0:
        frame = int(found.frames[node])
        family = family_of(names[frame], kinds[frame])
        if family in ("user", "python"):
            return node, True
        if not spark and family not in _PASSING_ON:
            spark = node
        node = int(found.parents[node])
    return spark or entry, False


def _stack(names: Sequence[str], found: Marks, top: int, leaf: int) -> tuple[str, ...]:
    """Frame names from `top` (or the root) down to `leaf`."""
    stack: list[str] = []
    node = leaf
    while node > 0:
        stack.append(names[found.frames[node]])
        if node == top:
            break
        node = int(found.parents[node])
    return tuple(reversed(stack))
