"""What is hot in a recording: the code that its samples show, by kind and by method."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.profile.classify import families_by_frame

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_MOST_METHODS: Final = 8
_MOST_FAMILIES: Final = 5
# Smaller shares of the samples are chance.
_LEAST_RATIO: Final = 0.01
# CPU time is what most ask for; without it, what tells of time, then anything.
_EVENTS: Final = ("cpu", "wall")


@dataclass(frozen=True, slots=True)
class HotCode:
    """The number of samples of `event`; the families and methods of their top frames, largest first."""

    event: str
    samples: int
    families: tuple[tuple[str, int], ...]
    methods: tuple[tuple[str, int], ...]


def hot_code(run: Run) -> HotCode | None:
    """The hot code of a recorded run, by CPU samples where there are any; None where nothing was sampled."""
    samples = run.tables.get("samples")
    if samples is None or not samples.num_rows or "stacks" not in run.tables or "frames" not in run.tables:
        return None
    stacks, frames = run.tables["stacks"], run.tables["frames"]
    if not frames.num_rows:
        return None
    kinds = np.array(samples["event"].cast("string").to_pylist(), dtype=object)
    event = next((name for name in _EVENTS if (kinds == name).any()), str(Counter(kinds).most_common(1)[0][0]))
    mine = (kinds == event) & ~np.asarray(samples["stack"].is_null())
    leaf = np.asarray(stacks["frame"].to_numpy())[np.asarray(samples["stack"].fill_null(0).to_numpy())[mine]]
    counts = np.asarray(samples["count"].fill_null(1).to_numpy())[mine]
    known = leaf >= 0
    by_frame = np.bincount(leaf[known], counts[known], frames.num_rows).astype(np.int64)
    names, families = frames["name"].to_pylist(), families_by_frame(frames)
    methods: Counter[str] = Counter()
    kinds_of_code: Counter[str] = Counter()
    for frame in np.flatnonzero(by_frame):
        methods[names[frame]] += int(by_frame[frame])
        kinds_of_code[families[frame]] += int(by_frame[frame])
    if not methods:
        return None
    total = int(counts.sum())
    return HotCode(
        event, total, _largest(kinds_of_code, total, _MOST_FAMILIES), _largest(methods, total, _MOST_METHODS)
    )


def _largest(counts: Counter[str], total: int, most: int) -> tuple[tuple[str, int], ...]:
    """The largest, the first in any case."""
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most]
    return tuple(item for rank, item in enumerate(order) if rank == 0 or item[1] >= _LEAST_RATIO * total)
