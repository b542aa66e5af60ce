"""What the charts over time show: lines by chart and executor, from a recording's series and an event log's tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.report.time_grid import Floats, Grid, Ints, extremes, held, highest, mean, spread, together

if TYPE_CHECKING:
    from emberscope.tables.run import Run

DRIVER: Final = "driver"
MOST_EXECUTORS: Final = 64
"""So many executors have lines of their own, those with the most task time; sums take in all."""


@dataclass(frozen=True, slots=True)
class Chart:
    """`missing` says what a chart without a line lacks and how to get it. `form` is lines, dots or areas."""

    key: str
    title: str
    unit: str
    missing: str
    form: str = "lines"


@dataclass(frozen=True, slots=True)
class Line:
    """`values` has one value by bucket of the grid, or two (`extremes`); NaN is not known. No executor is all."""

    chart: str
    name: str
    executor: str
    values: Floats


_RECORD: Final = "start the application with `emberscope run`"
_LOG: Final = "spark.eventLog.enabled=true"
_PEAKS: Final = "spark.eventLog.logStageExecutorMetrics=true"

CHARTS: Final = (
    Chart("tasks", "Running tasks", "tasks", f"Running tasks come from the tasks in an event log ({_LOG})."),
    Chart("cpu", "CPU, share of the machine", "ratio", f"CPU of the JVMs comes from a recording: {_RECORD}."),
    Chart(
        "gc", "Time in garbage collection", "ratio", f"Pauses for garbage collection come from a recording: {_RECORD}."
    ),
    Chart("pause", "Longest pause for garbage collection", "ms", "", "dots"),
    Chart(
        "heap", "Heap", "bytes", f"The heap comes from a recording ({_RECORD}), or its peak per stage from {_PEAKS}."
    ),
    Chart(
        "rss",
        "Memory of the processes (RSS)",
        "bytes",
        "RSS is not in what was read: a recording of Java 21 or later has that of the JVM; that of JVM and Python, as "
        f"the peak per stage, comes with spark.executor.processTreeMetrics.enabled=true and {_PEAKS}.",
    ),
    Chart("classes", "Loaded classes", "classes", ""),
    Chart("shuffle", "Shuffle", "bytes/s", f"Shuffle and spill come from the tasks in an event log ({_LOG})."),
    Chart("spill", "Spill to disk", "bytes/s", ""),
    Chart("io", "Input and output", "bytes/s", ""),
)
"""From top to bottom. Where the reason is that of the chart before, `missing` is empty."""

_RATES: Final = (
    ("shuffle", "read", ("shuffle_read_local_bytes", "shuffle_read_remote_bytes")),
    ("shuffle", "written", ("shuffle_write_bytes",)),
    ("spill", "spilled to disk", ("disk_spilled_bytes",)),
    ("io", "input", ("input_bytes",)),
    ("io", "output", ("output_bytes",)),
)
_HEAP_LABELS: Final = (("Before GC", "before GC"), ("After GC", "after GC"), (None, "in use"))
_PEAK_COLUMNS: Final = (
    ("heap", "peak per stage", "jvm_heap_bytes"),
    ("rss", "JVM, peak per stage", "process_jvm_rss_bytes"),
    ("rss", "Python, peak per stage", "process_python_rss_bytes"),
)


def chart_lines(run: Run, grid: Grid) -> list[Line]:
    """All lines: for all executors together first, then one by one where there are several processes."""
    lines = [*_task_lines(run, grid), *_series_lines(run, grid)]
    recorded = {line.chart for line in lines}
    lines += [line for line in _peak_lines(run, grid) if line.chart not in recorded]
    if "gc" not in recorded:
        lines += _task_gc(run, grid)
    order = {chart.key: place for place, chart in enumerate(CHARTS)}
    return sorted(lines, key=lambda line: order[line.chart])


def shown_executors(run: Run) -> list[str]:
    """The executors with lines of their own, by number or name, the driver first."""
    weights: dict[str, float] = {}
    tasks = run.tables.get("tasks")
    for name in ("series", "samples", "executors"):
        table = run.tables.get(name)
        if table is not None:
            weights.update(dict.fromkeys(pc.unique(table["executor_id"]).drop_null().to_pylist(), 0.0))
    if tasks is not None and tasks.num_rows:
        grouped = tasks.group_by("executor_id").aggregate([("executor_run_time_ms", "sum")]).to_pylist()
        weights.update(
            {row["executor_id"]: row["executor_run_time_ms_sum"] or 0.0 for row in grouped if row["executor_id"]}
        )
    most = sorted(weights, key=lambda one: (one != DRIVER, -weights[one], one))[:MOST_EXECUTORS]
    return sorted(most, key=lambda one: (one != DRIVER, not one.isdecimal(), len(one) if one.isdecimal() else 0, one))


def _by_executor(table: pa.Table, shown: Iterable[str]) -> Mapping[str, pa.Table]:
    return {one: table.filter(pc.equal(table["executor_id"], one)) for one in shown}


def _task_lines(run: Run, grid: Grid) -> list[Line]:
    """Running tasks and rates: each task's counts are spread evenly over its run, for no log says when they grew."""
    tasks = timed(run.tables.get("tasks"), "launch_ms", "finish_ms")
    if tasks is None:
        return []
    shown = [one for one in shown_executors(run) if one in set(pc.unique(tasks["executor_id"]).to_pylist())]
    pieces = {"": tasks, **(_by_executor(tasks, shown) if len(shown) > 1 else {})}
    running = timed(run.tables.get("running_tasks"), "launch_ms", "until_ms")
    lines = []
    for executor, piece in pieces.items():
        begins, ends = task_times(piece)
        length_s = grid.length_s
        now = spread(grid, begins, ends, (ends - begins) / 1e9)
        if running is not None:
            open_tasks = running if executor == "" else running.filter(pc.equal(running["executor_id"], executor))
            first, last = column_ns(open_tasks, "launch_ms"), column_ns(open_tasks, "until_ms")
            now = now + spread(grid, first, last, (last - first) / 1e9)
        lines.append(Line("tasks", "running tasks", executor, now / length_s))
        cpu = spread(grid, begins, ends, numbers(piece, "executor_cpu_time_ns") / 1e9)
        lines.append(Line("tasks", "their CPU, in cores", executor, cpu / length_s))
        slots = _slots(run, grid, executor)
        if slots is not None:
            lines.append(Line("tasks", "slots", executor, slots))
        for chart, name, columns in _RATES:
            amounts = np.sum([numbers(piece, column) for column in columns], axis=0)
            if executor != "" or amounts.any():
                lines.append(Line(chart, name, executor, spread(grid, begins, ends, amounts) / length_s))
    there = {(line.chart, line.name) for line in lines if line.executor == ""}
    return [line for line in lines if (line.chart, line.name) in there]


def _slots(run: Run, grid: Grid, executor: str) -> Floats | None:
    """Task slots that were there."""
    table = run.tables.get("executors")
    if table is None:
        return None
    rows = [row for row in table.select(["executor_id", "cores", "added_ms", "removed_ms"]).to_pylist() if row["cores"]]
    rows = [row for row in rows if row["added_ms"] is not None and executor in ("", row["executor_id"])]
    if not rows:
        return None
    end = grid.start_ns + int(grid.edges_ns()[-1])
    begins = np.array([row["added_ms"] * 1_000_000 for row in rows], np.int64)
    ends = np.array([row["removed_ms"] * 1_000_000 if row["removed_ms"] else end for row in rows], np.int64)
    cores = np.array([row["cores"] for row in rows], np.float64)
    return spread(grid, begins, ends, cores * (ends - begins) / 1e9) / grid.length_s


def _task_gc(run: Run, grid: Grid) -> list[Line]:
    """The share of task time in garbage collection, where no recording has the pauses."""
    tasks = timed(run.tables.get("tasks"), "launch_ms", "finish_ms")
    if tasks is None:
        return []
    shown = [one for one in shown_executors(run) if one != DRIVER]
    lines = []
    for executor, piece in {"": tasks, **(_by_executor(tasks, shown) if len(shown) > 1 else {})}.items():
        begins, ends = task_times(piece)
        all_of = spread(grid, begins, ends, (ends - begins) / 1e6)
        collecting = spread(grid, begins, ends, numbers(piece, "gc_time_ms"))
        shares = np.where(all_of > 0, np.minimum(collecting / np.maximum(all_of, 1e-9), 1), np.nan)
        lines.append(Line("gc", "of the time of tasks", executor, shares))
    return lines


def _series_lines(run: Run, grid: Grid) -> list[Line]:
    series = run.tables.get("series")
    if series is None or not series.num_rows:
        return []
    names = pc.unique(series["executor_id"]).to_pylist()
    shown: list[str | None] = [one for one in shown_executors(run) if one in names]
    shown += [None] if None in names else []  # a recording alone does not say of which process it is
    lines: list[Line] = []
    pick = _Picker(series, shown)

    def add(
        chart: str, name: str, lines_of: Mapping[str, Floats], joins: Sequence[tuple[str, Callable[..., Floats]]]
    ) -> None:
        """Joined lines over the executors, the driver's own line, and one for each process."""
        workers = [values for one, values in lines_of.items() if one != DRIVER]
        if len(lines_of) == 1:
            lines.extend(Line(chart, name, "", values) for values in lines_of.values())
            return
        for words, join in joins if len(workers) > 1 else [("", lambda of: next(iter(of)))] if workers else []:
            lines.append(Line(chart, f"{name}{', ' if words else ''}{words}", "", join(workers)))
        lines.extend(Line(chart, f"{name}, driver", "", lines_of[one]) for one in lines_of if one == DRIVER)
        lines.extend(Line(chart, name, one, values) for one, values in lines_of.items())

    def gauge(name: str, label: str | None = "any") -> dict[str, Floats]:
        return {one: extremes(grid, *points) for one, points in pick(name, label).items()}

    most, average = ("highest executor", highest), ("mean of executors", mean)
    add("cpu", "JVM", gauge("cpu_process_ratio"), [average, most])
    machine = gauge("cpu_machine_ratio")
    lines += [Line("cpu", "whole machine", one, values) for one, values in machine.items() if len(machine) > 1]
    if machine:
        words = "whole machine" if len(machine) == 1 else "whole machine, highest"
        lines.append(Line("cpu", words, "", highest(machine.values())))
    pauses = {
        one: spread(grid, times, times + (values * 1e6).astype(np.int64), values / 1e3) / grid.length_s
        for one, (times, values) in pick("gc_pause_ms", "any").items()
    }
    add("gc", "JVM stopped", pauses, [average, most])
    add("pause", "pause", gauge("gc_longest_pause_ms"), [most])
    stops = {
        one: spread(grid, times, times + (values * 1e6).astype(np.int64), values / 1e3) / grid.length_s
        for one, (times, values) in pick("vm_operation_ms", "any").items()
    }
    add("gc", "operations of the JVM, collections among them", stops, [average, most])
    add("classes", "loaded", gauge("classes_loaded"), [most])
    for label, words in _HEAP_LABELS:
        add("heap", words, gauge("heap_used_bytes", label), [("largest executor", highest)])
    memory: list[tuple[str, dict[str, tuple[Ints, Floats]]]] = [
        ("JVM", pick("rss_bytes", "any")),
        *((words, pick.processes(of_python)) for words, of_python in (("JVM process", False), ("Python", True))),
        ("container", pick("container_memory_used_bytes", "any")),
        ("direct buffers", pick("direct_used_bytes", "any")),
    ]
    for words, points in memory:
        rss = {one: held(grid, *of) for one, of in points.items()}
        add("rss", words, rss, [("executors together", together), ("largest executor", highest)])
    return lines


class _Picker:
    """Points of a series by executor: times in ns and values."""

    def __init__(self, series: pa.Table, shown: Sequence[str | None]) -> None:
        executor = series["executor_id"]
        self.by_executor = {
            one or "others": series.filter(pc.is_null(executor) if one is None else pc.equal(executor, one))
            for one in shown
        }

    def __call__(self, name: str, label: str | None) -> dict[str, tuple[Ints, Floats]]:
        found = {}
        for one, table in self.by_executor.items():
            here = table.filter(pc.and_(pc.equal(table["name"], name), pc.is_finite(table["value"])))
            if label is None:
                here = here.filter(pc.is_null(here["label"]))
            elif label != "any":
                here = here.filter(pc.equal(here["label"], label))
            if here.num_rows:
                found[one] = (here["time_ns"].to_numpy().astype(np.int64), here["value"].to_numpy())
        return found

    def processes(self, of_python: bool) -> dict[str, tuple[Ints, Floats]]:
        """RSS of all processes of a kind that one recorder saw at a time, summed; labels are "pid name"."""
        found = {}
        for one, table in self.by_executor.items():
            here = table.filter(pc.equal(table["name"], "process_rss_bytes"))
            if not here.num_rows:
                continue
            is_python = pc.match_substring(
                pc.fill_null(here["label"].cast(pa.string()), ""), "python", ignore_case=True
            )
            here = here.filter(is_python if of_python else pc.invert(is_python))
            if here.num_rows:
                summed = here.group_by("time_ns").aggregate([("value", "sum")]).sort_by("time_ns")
                found[one] = (summed["time_ns"].to_numpy().astype(np.int64), summed["value_sum"].to_numpy())
        return found


def _peak_lines(run: Run, grid: Grid) -> list[Line]:
    """Peaks that Spark logs for each executor and stage, over the time of the stage; of two at once the higher one."""
    table, stages = run.tables.get("executor_metrics"), run.tables.get("stages")
    if table is None or not table.num_rows or stages is None:
        return []
    times = {
        (row["stage_id"], row["stage_attempt"]): (row["submitted_ms"], row["completed_ms"])
        for row in stages.select(["stage_id", "stage_attempt", "submitted_ms", "completed_ms"]).to_pylist()
    }
    rows = table.filter(pc.equal(table["source"], "stage")).to_pylist()
    lines = []
    for chart, name, column in _PEAK_COLUMNS:
        peaks: dict[str, Floats] = {}
        for row in rows:
            begin, end = times.get((row["stage_id"], row["stage_attempt"]), (None, None))
            if begin is None or end is None or not row[column]:
                continue
            line = peaks.setdefault(row["executor_id"], np.full(grid.count, np.nan))
            first, last = grid.places(np.array([begin, end], np.int64) * 1_000_000)
            line[first : last + 1] = np.fmax(line[first : last + 1], row[column])
        workers = [values for one, values in peaks.items() if one != DRIVER] or list(peaks.values())
        if workers:
            lines.append(Line(chart, f"{name}, largest executor" if len(workers) > 1 else name, "", highest(workers)))
        if len(peaks) > 1:
            lines += [Line(chart, name, one, peaks[one]) for one in shown_executors(run) if one in peaks]
    return lines


def timed(table: pa.Table | None, begin: str, end: str) -> pa.Table | None:
    """The rows that have both times; None where there is none."""
    if table is None:
        return None
    table = table.filter(pc.and_(pc.is_valid(table[begin]), pc.is_valid(table[end])))
    return table if table.num_rows else None


def column_ns(table: pa.Table, name: str) -> Ints:
    """A column of ms as ns; none of it may be null."""
    numbers_ms: Ints = table[name].to_numpy().astype(np.int64)
    return numbers_ms * 1_000_000


def task_times(tasks: pa.Table) -> tuple[Ints, Ints]:
    """Launch and end of tasks in ns; the clock of the driver may have been set back between them."""
    begins = column_ns(tasks, "launch_ms")
    return begins, np.maximum(begins, column_ns(tasks, "finish_ms"))


def numbers(table: pa.Table, name: str) -> Floats:
    """A column as numbers; what is null counts for nothing."""
    filled: Any = pc.fill_null(table[name].cast(pa.float64(), safe=False), 0.0).to_numpy()
    return np.asarray(filled, np.float64)
