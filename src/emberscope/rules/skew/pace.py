"""How fast each executor and each host worked, against what the same tasks took elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageKey, StageTasks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


Sizes = tuple["NDArray[np.float64]", "NDArray[np.float64]"]


class Paces(Struct, frozen=True):
    """One place per compared task, over all stages: what it took (less garbage collection, ms), what the stage's tasks
    of its size take by the fit, the bytes and records that it read, its stage (a place in `keys`), its executor and its
    host (places in `names`)."""

    names: list[str]
    executors: NDArray[np.int64]
    hosts: NDArray[np.int64]
    took_ms: NDArray[np.float64]
    usual_ms: NDArray[np.float64]
    sizes: Sizes
    stages: NDArray[np.int64]
    keys: list[StageKey]

    def __len__(self) -> int:
        return len(self.took_ms)


class Slow(Struct, frozen=True):
    """An executor or a host that was slow throughout. `factor` is how many times longer its tasks took than the same
    work elsewhere, `spread` that difference in standard errors; `agreeing` of `stages` show it."""

    name: str
    factor: float
    spread: float
    tasks: int
    stages: int
    agreeing: int
    executors: tuple[str, ...]


def paces(run: Run, *, least_tasks: int, least_ms: float, least_wall_ms: float) -> Paces | None:
    """Of the stages with so many tasks, a median of `least_ms` and so long a wall time; None where there are none.

    The first tasks of an executor are left out, as many as it has cores: they load classes and compile. So are tasks
    that were further from their data, or nearer to it, than most of their stage.
    """
    figures = stage_figures(run)
    if figures is None:
        return None
    medians = np.nan_to_num(figures.median("executor_run_time_ms"))
    enough = (figures.counts >= least_tasks) & (medians >= least_ms) & (figures.wall_ms >= least_wall_ms)
    cores = _cores(run)
    names: dict[str, int] = {}
    warm = _first_tasks(figures.columns.numbers("launch_ms"), _codes(run, "executor_id"), cores, figures.columns.order)
    parts = []
    keys: list[StageKey] = []
    for place in np.flatnonzero(enough).tolist():
        stage = figures.stages[place]
        rows = np.arange(len(figures.columns.order))[stage.rows]
        good = stage.columns.good()[stage.rows] & ~warm[rows]
        tasks = _of_one_locality(stage.where(good))
        if len(tasks) < least_tasks:
            continue
        took = np.maximum(1.0, tasks.run_ms() - tasks.amounts("gc_time_ms"))
        executors, hosts = (
            np.array([names.setdefault(str(one), len(names)) for one in tasks.texts(column)], dtype=np.int64)
            for column in ("executor_id", "host")
        )
        sizes = (tasks.read_bytes(), tasks.read_records())
        number = np.full(len(tasks), len(keys), dtype=np.int64)
        parts.append((executors, hosts, took, usual_ms(took, sizes), *sizes, number))
        keys.append(stage.key)
    if not parts:
        return None
    executors, hosts, took, usual, read, records, at = (
        np.concatenate([part[index] for part in parts]) for index in range(7)
    )
    return Paces(list(names), executors, hosts, took, usual, (read, records), at, keys)


def _of_one_locality(tasks: StageTasks) -> StageTasks:
    names = np.array([str(one) for one in tasks.texts("locality")], dtype=object)
    if not len(names):
        return tasks
    kinds, counts = np.unique(names, return_counts=True)
    return tasks if len(kinds) == 1 else tasks.where(names == kinds[int(np.argmax(counts))])


def usual_ms(took_ms: NDArray[np.float64], sizes: Sizes, of: Sizes | None = None) -> NDArray[np.float64]:
    """What tasks of the sizes `of` (by default the same tasks) take, as told by these: the median, with a slope over
    bytes or records where longer tasks read more (least squares; the slope is never negative)."""
    of = sizes if of is None else of
    best = np.full(len(of[0]), float(np.median(took_ms)))
    error = float(((took_ms - np.median(took_ms)) ** 2).sum())
    for size, wanted in zip(sizes, of, strict=True):
        spread = float(size.std())
        if spread <= 0.05 * float(size.mean()):
            continue
        slope = float(((size - size.mean()) * (took_ms - took_ms.mean())).mean()) / spread**2
        if slope <= 0:
            continue
        residue = float(((took_ms - took_ms.mean() - slope * (size - size.mean())) ** 2).sum())
        if residue < 0.5 * error:
            best, error = np.maximum(1.0, took_ms.mean() + slope * (wanted - size.mean())), residue
    return best


def slow_ones(found: Paces, of: NDArray[np.int64], *, factor: float, spread: float, least: int) -> Iterator[Slow]:
    """Who among the executors, or the hosts, needed `factor` times what all others need, in at least three quarters of
    the stages that it shares with them, by `spread` standard errors."""
    logs = np.log(found.took_ms / found.usual_ms)
    for code in np.unique(of).tolist():
        here = of == code
        if here.sum() < least or (~here).sum() < least:
            continue
        # Both on the same stages: elsewhere there is nothing to compare.
        shared = np.intersect1d(found.stages[here], found.stages[~here])
        inside = np.isin(found.stages, shared)
        mine, theirs = here & inside, ~here & inside
        if mine.sum() < least or theirs.sum() < least:
            continue
        ratio = float(found.took_ms[mine].sum() / found.usual_ms[mine].sum())
        others = float(found.took_ms[theirs].sum() / found.usual_ms[theirs].sum())
        if others <= 0 or ratio / others < factor:
            continue
        error = np.sqrt(logs[mine].var() / mine.sum() + logs[theirs].var() / theirs.sum())
        apart = (logs[mine].mean() - logs[theirs].mean()) / max(float(error), 1e-9)
        agreeing = sum(
            np.median(logs[mine & (found.stages == stage)]) > np.median(logs[theirs & (found.stages == stage)])
            for stage in shared.tolist()
        )
        if apart < spread or agreeing < 0.75 * len(shared):
            continue
        ids = tuple(sorted({found.names[one] for one in np.unique(found.executors[here]).tolist()}))
        against = _against(found, mine, theirs, shared)
        if against < factor:
            continue
        yield Slow(found.names[code], against, float(apart), int(mine.sum()), len(shared), int(agreeing), ids)


def _against(found: Paces, mine: NDArray[np.bool_], theirs: NDArray[np.bool_], stages: NDArray[np.int64]) -> float:
    """What these tasks took over what the others of their stages would have taken for as much data."""
    expected = 0.0
    for stage in stages.tolist():
        here = found.stages == stage
        others, own = theirs & here, mine & here
        sizes = (found.sizes[0][others], found.sizes[1][others])
        of = (found.sizes[0][own], found.sizes[1][own])
        expected += float(usual_ms(found.took_ms[others], sizes, of).sum())
    return float(found.took_ms[mine].sum()) / max(expected, 1.0)


def _cores(run: Run) -> dict[str, int]:
    table = run.tables.get("executors")
    if table is None:
        return {}
    return {
        name: cores or 1 for name, cores in zip(*(table[c].to_pylist() for c in ("executor_id", "cores")), strict=True)
    }


def _codes(run: Run, column: str) -> tuple[NDArray[np.int64], list[str]]:
    """The codes of a category in the order of the table, and its texts."""
    encoded = run.tables["tasks"][column].combine_chunks()
    if not hasattr(encoded, "indices"):
        encoded = encoded.dictionary_encode()
    codes = np.asarray(encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    return codes, [str(text) for text in encoded.dictionary.to_pylist()]


def _first_tasks(
    launched: NDArray[np.float64],
    executors: tuple[NDArray[np.int64], list[str]],
    cores: dict[str, int],
    order: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which tasks are among the first of their executor, as many as it has cores; in the order of stages."""
    codes, names = executors[0][order], executors[1]
    sort = np.lexsort((launched, codes))
    starts = np.flatnonzero(np.diff(codes[sort], prepend=-2) != 0)
    rank = np.arange(len(sort)) - np.repeat(starts, np.diff(starts, append=len(sort)))
    limit = np.array([cores.get(name, 1) for name in names] + [1])[codes[sort]]
    first = np.zeros(len(sort), dtype=np.bool_)
    first[sort] = rank < limit
    return first
