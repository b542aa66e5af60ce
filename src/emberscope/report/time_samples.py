"""Samples over time: cells of a heat map finer than a second, and what the threads of tasks did, as an area."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.report.time_grid import Floats, Grid, Ints, grid_of, spread
from emberscope.report.time_series import numbers, shown_executors, task_times, timed
from emberscope.tables.samples import EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

MOST_CELLS: Final = 600_000
"""So many cells with samples a page may have, about half a megabyte packed; beyond that cells are made larger."""

_SECOND: Final = 1_000_000_000
_MOST_COLUMNS: Final = 2_000
_ROWS: Final = (50, 20, 10, 5, 4, 2, 1)
# Up to so many columns a cell is 20 ms, a sampler's period; a longer run gets 50 ms and draws each as large.
_FINE_COLUMNS: Final = 120


@dataclass(frozen=True, slots=True)
class Heat:
    """Samples by cell. A column of the map is a bucket of `grid`, and has `rows` cells.

    `series` are pairs of event and executor (none: not known, or beyond those that are shown one by one); `bounds`
    has where each of them begins in `cells` (column times `rows` plus row, ascending) and `counts`.
    """

    grid: Grid
    rows: int
    series: tuple[tuple[str, str], ...]
    bounds: Ints
    cells: Ints
    counts: Ints

    @property
    def cell_ms(self) -> float:
        return self.grid.length_ns / self.rows / 1e6


def heat(run: Run, start_ns: int, low_ns: int, high_ns: int) -> Heat | None:
    """The heat map of all samples that have a time; None where there is none."""
    samples = run.tables.get("samples")
    if samples is None or not samples.num_rows:
        return None
    samples = samples.select(["time_ns", "event", "executor_id", "count"])
    samples = samples.filter(pc.and_(pc.is_valid(samples["time_ns"]), pc.is_valid(samples["event"])))
    if not samples.num_rows:
        return None
    executors = ["", *shown_executors(run)]
    event = _places(samples["event"], list(EVENTS))
    executor = np.maximum(_places(samples["executor_id"], executors), 0)
    since = samples["time_ns"].to_numpy().astype(np.int64) - start_ns
    counts = samples["count"].fill_null(1).to_numpy().astype(np.int64)
    series = event * len(executors) + executor
    all_series = np.flatnonzero(np.bincount(series))
    series = np.searchsorted(all_series, series)
    for grid, rows in _cellings(start_ns, low_ns, high_ns):
        column, rest = np.divmod(since, grid.length_ns)
        cell = (column - grid.first) * rows + rest * rows // grid.length_ns
        sums = np.bincount(series * (grid.count * rows) + cell, counts)
        keys = np.flatnonzero(sums)
        if len(keys) <= MOST_CELLS:
            break
    summed = sums[keys].astype(np.int64)
    of_series = all_series[keys // (grid.count * rows)]
    known, begins = np.unique(of_series, return_index=True)
    names = tuple((EVENTS[one // len(executors)], executors[one % len(executors)]) for one in known.tolist())
    return Heat(grid, rows, names, np.append(begins, len(keys)).astype(np.int64), keys % (grid.count * rows), summed)


def _cellings(start_ns: int, low_ns: int, high_ns: int) -> Iterator[tuple[Grid, int]]:
    """Grids of columns of a second or more with rows to each, from the finest on, without an end."""
    grid = grid_of(start_ns, low_ns, high_ns, _MOST_COLUMNS, _SECOND)
    for rows in _ROWS[0 if grid.count <= _FINE_COLUMNS else 1 :]:
        yield grid, rows
    while True:
        grid = grid_of(start_ns, low_ns, high_ns, _MOST_COLUMNS, grid.length_ns + 1)
        yield grid, 1


@dataclass(frozen=True, slots=True)
class States:
    """Threads by what they did: `series` are pairs of state and executor (none: all), `values` one line for each by
    bucket of the grid: running tasks, or where no task is known samples a second. `how` says what it was made from."""

    title: str
    series: tuple[tuple[str, str], ...]
    values: tuple[Floats, ...]
    how: str


def states(run: Run, grid: Grid) -> States | None:
    """The running tasks split by what their threads did; where none are known, all threads by their wall-clock samples,
    or None."""
    tasks = timed(run.tables.get("tasks"), "launch_ms", "finish_ms")
    if tasks is None:
        tasks = _recorded_tasks(run)
    if tasks is None:
        return _all_threads(run, grid)
    samples = _of_tasks(run.tables.get("samples"))
    present = set() if samples is None else set(pc.unique(samples["event"]).to_pylist())
    executors = [one for one in shown_executors(run) if one in set(pc.unique(tasks["executor_id"]).to_pylist())]
    found: list[tuple[str, str, Floats]] = []
    for executor in ["", *(executors if len(executors) > 1 else [])]:
        of_tasks, of_samples = _of(tasks, executor), _of(samples, executor)
        begins, ends = task_times(of_tasks)
        running = spread(grid, begins, ends, (ends - begins) / 1e9) / grid.length_s
        if "wall" in present:
            parts = _by_wall(of_samples, grid, running)
        elif "cpu" in present:
            parts = _by_cpu(of_samples, grid, running, run.recorder.get("sample_period_ns"))
        elif "gc_time_ms" not in of_tasks.column_names:
            return None
        else:
            parts = _by_counters(of_tasks, grid, running)
        found += [(state, executor, values) for state, values in parts.items()]
    if "wall" in present:
        how = "Running tasks, split as the wall-clock samples of their threads."
    elif "cpu" in present:
        how = (
            "Running tasks: on the CPU by CPU samples times the sampler's period, waiting by the lock and I/O events "
            "of their threads. The rest was not sampled: threads that wait for data or for a processor, or Python at "
            "work. A recording with wall-clock samples (`wall` among its events) tells the state of each."
        )
    else:
        how = (
            "Running tasks, split by the counters of each task, spread evenly over its run. A recording shows when it "
            "was: start the application with `emberscope run`."
        )
    there = {state for state, executor, values in found if executor == "" and values.max(initial=0) > 0}
    kept = [one for one in found if one[0] in there]
    series = tuple((state, one) for state, one, _ in kept)
    return States("Running tasks", series, tuple(values for _, _, values in kept), how)


def _recorded_tasks(run: Run) -> pa.Table | None:
    """Begin and end of the tasks that a recording saw whole, for a run without an event log."""
    spans = timed(run.tables.get("spans"), "start_ns", "end_ns")
    if spans is None:
        return None
    times = {name: pc.divide(spans[of], 1_000_000) for name, of in (("launch_ms", "start_ns"), ("finish_ms", "end_ns"))}
    return pa.table({"executor_id": spans["executor_id"], **times})


def _all_threads(run: Run, grid: Grid) -> States | None:
    samples = run.tables.get("samples")
    wall = None if samples is None else samples.filter(pc.equal(samples["event"], "wall"))
    if wall is None or wall["state"].null_count == wall.num_rows:
        return None
    counts = wall["count"].fill_null(1).to_numpy().astype(np.float64)
    places = grid.places(wall["time_ns"].fill_null(-(2**62)).to_numpy().astype(np.int64))
    seen = np.bincount(places[places >= 0], counts[places >= 0], minlength=grid.count) / grid.length_s
    parts = _by_wall(wall, grid, seen)
    del parts["not sampled"]
    how = "Wall-clock samples of all threads by their state, idle ones among them: which are of tasks is not known."
    return States("Samples a second", tuple((state, "") for state in parts), tuple(parts.values()), how)


def _of_tasks(samples: pa.Table | None) -> pa.Table | None:
    """The samples that tell what a task did: of wall time, or where there are none, of CPU and locks."""
    if samples is None:
        return None
    samples = samples.select(["time_ns", "event", "state", "count", "value", "executor_id", "task_id"])
    samples = samples.filter(pc.and_(pc.is_valid(samples["task_id"]), pc.is_valid(samples["time_ns"])))
    wall = samples.filter(pc.equal(samples["event"], "wall"))
    if wall.num_rows:
        return wall
    return samples.filter(pc.is_in(samples["event"], value_set=pa.array(["cpu", "lock", "io"])))


def _of(table: pa.Table | None, executor: str) -> Any:
    return table if table is None or executor == "" else table.filter(pc.equal(table["executor_id"], executor))


def _by_wall(samples: pa.Table, grid: Grid, running: Floats) -> dict[str, Floats]:
    samples = samples.filter(pc.equal(samples["event"], "wall"))
    names = samples["state"].cast(pa.string()).fill_null("not recorded")
    values = sorted(pc.unique(names).to_pylist())
    places = grid.places(samples["time_ns"].fill_null(-(2**62)).to_numpy().astype(np.int64))
    counts = samples["count"].fill_null(1).to_numpy().astype(np.float64)
    state = _places(names, values)
    inside = places >= 0
    cells = np.bincount(
        (state * grid.count + places)[inside], counts[inside], minlength=len(values) * grid.count
    ).reshape(len(values), grid.count)
    whole = cells.sum(axis=0)
    shares = cells / np.maximum(whole, 1)
    parts = {_words(name): shares[place] * running for place, name in enumerate(values)}
    return {**parts, "not sampled": np.where(whole > 0, 0.0, running)}


def _by_cpu(samples: pa.Table, grid: Grid, running: Floats, period_ns: Any) -> dict[str, Floats]:
    cpu = samples.filter(pc.equal(samples["event"], "cpu"))
    period = float(period_ns) if isinstance(period_ns, int | float) else 20e6
    ns = cpu["value"].cast(pa.float64(), safe=False).fill_null(period).to_numpy() * cpu["count"].fill_null(1).to_numpy()
    times = cpu["time_ns"].to_numpy().astype(np.int64)
    on_cpu = spread(grid, times, times, ns / 1e9) / grid.length_s
    left = np.maximum(running - on_cpu, 0)
    parts = {"on the CPU": on_cpu}
    for event, words in _WAITS:
        waits = samples.filter(pc.and_(pc.equal(samples["event"], event), pc.is_valid(samples["value"])))
        begins, lengths = waits["time_ns"].to_numpy().astype(np.int64), numbers(waits, "value")
        here = spread(grid, begins, begins + lengths.astype(np.int64), lengths / 1e9) / grid.length_s
        parts[words] = np.minimum(here, left)
        left = left - parts[words]
    return {**parts, "not sampled": left}


_WAITS: Final = (("lock", "waiting for a lock"), ("io", "waiting for a file or socket"))
_COUNTERS: Final = (
    ("on the CPU", "executor_cpu_time_ns", 1e9),
    ("garbage collection", "gc_time_ms", 1e3),
    ("waiting for shuffle blocks", "shuffle_fetch_wait_ms", 1e3),
    ("writing shuffle output", "shuffle_write_time_ns", 1e9),
)


def _by_counters(tasks: pa.Table, grid: Grid, running: Floats) -> dict[str, Floats]:
    begins, ends = task_times(tasks)
    left = running
    parts = {}
    for words, column, to_s in _COUNTERS:
        here = np.minimum(spread(grid, begins, ends, numbers(tasks, column) / to_s) / grid.length_s, left)
        parts[words] = here
        left = left - here
    return {**parts, "not counted": left}


def _words(state: str) -> str:
    return state.removeprefix("STATE_").replace("_", " ").lower()


def _places(column: Any, values: list[str]) -> Ints:
    """The place of each text in `values`, -1 where it is none of them."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    found = pc.fill_null(pc.index_in(column, value_set=pa.array(values, pa.string())), -1)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.int64)
