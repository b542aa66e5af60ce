"""The part of the page that shows the run over time: charts, thread states and a heat map on one clock, packed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow.compute as pc

from emberscope.profile.time_buckets import length_words
from emberscope.report.columns import pack_columns
from emberscope.report.time_grid import Floats, Grid, grid_of
from emberscope.report.time_samples import Heat, States, heat, states
from emberscope.report.time_series import CHARTS, Chart, Line, chart_lines, shown_executors
from emberscope.report.visible import clipped, visible
from emberscope.tables.run import FARTHEST_MS
from emberscope.units import format_bytes, format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

MOST_BUCKETS: Final = 750
"""A line has two values to a bucket at most, its least and its greatest: 1,500 points."""

MOST_BANDS: Final = 300
MOST_LANES: Final = 4
_LEVELS: Final = 50_000
_TIMES: Final = {
    "tasks": ("launch_ms", "finish_ms"),
    "running_tasks": ("launch_ms", "until_ms"),
    "stages": ("submitted_ms", "completed_ms"),
    "executors": ("added_ms", "removed_ms"),
}


@dataclass(frozen=True, slots=True)
class Band:
    """One stage attempt: seconds since the start, and the lane of the strip that it is drawn in (-1: no room)."""

    stage_id: int
    attempt: int
    name: str
    from_s: float
    to_s: float
    lane: int


@dataclass(frozen=True, slots=True)
class Row:
    """A line in figures, as words: what stands behind a chart for who cannot see it."""

    title: str
    name: str
    least: str
    median: str
    most: str


@dataclass(frozen=True, slots=True)
class TimeData:
    """Everything over time; `rows` are the lines of all executors together, `missing` sentences."""

    grid: Grid
    executors: tuple[str, ...]
    bands: tuple[Band, ...]
    hidden_bands: int
    lines: tuple[Line, ...]
    rows: tuple[Row, ...]
    missing: tuple[str, ...]
    states: States | None
    state_rows: tuple[Row, ...]
    heat: Heat | None
    heat_rows: tuple[Row, ...]


def time_data(run: Run, stage_names: Mapping[int, str] | None = None) -> TimeData | None:
    """None where nothing that was read has a time. `stage_names` are better than those of Spark."""
    span = None if is_beyond(run) else _span(run)
    if span is None:
        return None
    start_ns, low_ns, high_ns = span
    grid = grid_of(start_ns, low_ns, high_ns, MOST_BUCKETS)
    lines = tuple(chart_lines(run, grid))
    drawn = {line.chart for line in lines}
    bands, hidden = _bands(run, start_ns, high_ns, stage_names or {})
    split = states(run, grid)
    cells = heat(run, start_ns, low_ns, high_ns)
    titles = {chart.key: chart for chart in CHARTS}
    return TimeData(
        grid,
        tuple(visible(one) for one in shown_executors(run)),
        bands,
        hidden,
        lines,
        tuple(
            _row(titles[line.chart].title, line.name, line.values, titles[line.chart].unit)
            for line in lines
            if line.executor == ""
        ),
        tuple(chart.missing for chart in CHARTS if chart.missing and chart.key not in drawn),
        split,
        _state_rows(split),
        cells,
        _heat_rows(cells),
    )


def chart_columns(data: TimeData) -> str:
    """The charts for `<x-series>`."""
    return _line_columns(data, CHARTS, data.lines)


def state_columns(data: TimeData) -> str:
    """The thread states for `<x-states>`, as one chart of areas on top of each other."""
    split = data.states
    assert split is not None
    chart = Chart("states", split.title, "", "", "areas")
    pairs = zip(split.series, split.values, strict=True)
    return _line_columns(data, [chart], [Line("states", state, executor, of) for (state, executor), of in pairs])


def _line_columns(data: TimeData, charts: Sequence[Chart], lines: Sequence[Line]) -> str:
    steps = [_step(line.values) for line in lines]
    levels = [_levels(line.values, step) for line, step in zip(lines, steps, strict=True)]
    return pack_columns(
        {
            **_clock(data),
            "chart": [chart.key for chart in charts],
            "title": [chart.title for chart in charts],
            "unit": [chart.unit for chart in charts],
            "form": [chart.form for chart in charts],
            "line_chart": [line.chart for line in lines],
            "line_name": [visible(line.name) for line in lines],
            "line_executor": [visible(line.executor) for line in lines],
            "line_step": np.array(steps, np.float64),
            "bounds": np.cumsum([0, *(len(one) for one in levels)]),
            "levels": np.concatenate([np.zeros(0, np.int64), *levels]),
        }
    )


def heat_columns(data: TimeData) -> str:
    """The heat map for `<x-heat>`."""
    cells = data.heat
    assert cells is not None
    return pack_columns(
        {
            **_clock(data),
            "heat_grid": np.array([cells.grid.length_s, cells.grid.first, cells.grid.count, cells.rows], np.float64),
            "heat_event": [event for event, _ in cells.series],
            "heat_executor": [visible(executor) for _, executor in cells.series],
            "bounds": cells.bounds,
            "cells": cells.cells,
            "counts": cells.counts,
        }
    )


def _clock(data: TimeData) -> dict[str, Any]:
    """The grid and the stages: every element has them, so that each can stand alone."""
    grid, bands = data.grid, data.bands
    return {
        "grid": np.array([grid.length_s, grid.first, grid.count], np.float64),
        "band_stage": np.array([band.stage_id for band in bands], np.int64),
        "band_lane": np.array([band.lane for band in bands], np.int64),
        "band_from": np.array([band.from_s for band in bands], np.float64),
        "band_to": np.array([band.to_s for band in bands], np.float64),
        "band_title": [visible(_band_title(band)) for band in bands],
    }


def is_beyond(run: Run) -> bool:
    """Whether a time in what was read is one that no clock shows, so that nothing can be drawn over time."""
    ends = [run.application.app_start_ms, run.application.app_end_ms, run.application.last_event_ms]
    for name, columns in _TIMES.items():
        rows = run.tables.get(name)
        if rows is not None:
            for column in columns:
                ends += pc.min_max(rows[column]).as_py().values()
    return any(abs(end_ms) > FARTHEST_MS for end_ms in ends if end_ms is not None)


def _span(run: Run) -> tuple[int, int, int] | None:
    """Epoch ns: where the page counts from, and the first and the last moment that anything is known of."""
    times: list[int] = []
    for table, columns in (("samples", ("time_ns",)), ("series", ("time_ns",)), ("tasks", ("launch_ms", "finish_ms"))):
        rows = run.tables.get(table)
        if rows is None:
            continue
        for column in columns:
            scale = 1 if column.endswith("_ns") else 1_000_000
            for end in (pc.min(rows[column]).as_py(), pc.max(rows[column]).as_py()):
                times += [end * scale] if end is not None else []
    application = run.application
    known_ms = (application.app_start_ms, application.app_end_ms, application.last_event_ms)
    times += [ms * 1_000_000 for ms in known_ms if ms is not None]
    if not times:
        return None
    if application.app_start_ms is not None:
        start_ns = application.app_start_ms * 1_000_000
    else:  # as the flame graph counts
        samples = run.tables.get("samples")
        first = None if samples is None else pc.min(samples["time_ns"]).as_py()
        start_ns = min(times) if first is None else first
    return start_ns, min(times), max(times)


def _bands(run: Run, start_ns: int, high_ns: int, names: Mapping[int, str]) -> tuple[tuple[Band, ...], int]:
    """The longest stage attempts in the order in which they began, each in the first lane that is free."""
    table = run.tables.get("stages")
    rows: Sequence[Mapping[str, Any]] = [] if table is None else table.to_pylist()
    found = []
    for row in rows:
        if row["submitted_ms"] is not None:
            begin = row["submitted_ms"] / 1000 - start_ns / 1e9
            end = (row["completed_ms"] * 1_000_000 if row["completed_ms"] is not None else high_ns) - start_ns
            found.append((begin, max(begin, end / 1e9), row))
    longest = sorted(found, key=lambda one: one[0] - one[1])[:MOST_BANDS]
    lanes = [float("-inf")] * MOST_LANES
    bands = []
    for begin, end, row in sorted(longest, key=lambda one: one[:2]):
        lane = next((place for place, free in enumerate(lanes) if free <= begin), -1)
        if lane >= 0:
            lanes[lane] = end
        name = clipped(names.get(row["stage_id"]) or row["name"] or "", 90)
        bands.append(Band(row["stage_id"], row["stage_attempt"], name, round(begin, 3), round(end, 3), lane))
    return tuple(bands), len(found) - len(bands)


def _band_title(band: Band) -> str:
    attempt = f", attempt {band.attempt}" if band.attempt else ""
    return f"Stage {band.stage_id}{attempt}, {format_ms(1000 * (band.to_s - band.from_s))}: {band.name}"


def _step(values: Floats) -> float:
    """What one level of a packed line stands for: a fifty-thousandth of its highest value."""
    most = np.nanmax(values) if len(values) and not np.isnan(values).all() else 0.0
    return float(most) / _LEVELS if most > 0 else 1.0


def _levels(values: Floats, step: float) -> Any:
    return np.where(np.isnan(values), -1, np.rint(np.nan_to_num(values) / step)).astype(np.int64)


def _row(title: str, name: str, values: Floats, unit: str) -> Row:
    known = values[~np.isnan(values)]
    if not len(known):
        return Row(title, name, "–", "–", "–")
    return Row(title, name, *(figure(float(of(known)), unit) for of in (np.min, np.median, np.max)))


def _state_rows(split: States | None) -> tuple[Row, ...]:
    if split is None:
        return ()
    pairs = zip(split.series, split.values, strict=True)
    return tuple(_row(split.title, state, values, "") for (state, executor), values in pairs if executor == "")


def _heat_rows(cells: Heat | None) -> tuple[Row, ...]:
    """Samples in a column of the map, by event and executor."""
    if cells is None:
        return ()
    rows = []
    for place, (event, executor) in enumerate(cells.series):
        here = slice(int(cells.bounds[place]), int(cells.bounds[place + 1]))
        columns = np.zeros(cells.grid.count)
        np.add.at(columns, cells.cells[here] // cells.rows, cells.counts[here])
        rows.append(_row(event, executor or "others", columns, "samples"))
    return tuple(rows)


def figure(value: float, unit: str) -> str:
    """A value in words, as the charts write it."""
    if unit == "ratio":
        return format_ratio(value)
    if unit == "ms":
        return format_ms(value)
    if unit == "bytes":
        return format_bytes(value)
    if unit == "bytes/s":
        return f"{format_bytes(value)}/s"
    return format_count(value) if value >= 99.5 or abs(value - round(value)) < 0.005 else f"{value:.1f}"


def times_template_data(run: Run, stage_names: Mapping[int, str]) -> dict[str, Any]:
    """What `templates/parts/times.html` sees."""
    data = time_data(run, stage_names)
    if data is None:
        return {"data": None, "is_beyond": is_beyond(run)}
    cells = data.heat
    return {
        "data": data,
        "bucket": length_words(data.grid.length_ns),
        "since": "the start of the application"
        if run.application.app_start_ms is not None
        else "the first moment known",
        "counted": any(line.chart == "tasks" for line in data.lines),
        "measured": any(len(line.values) > data.grid.count for line in data.lines),
        "charts": chart_columns(data),
        "state_data": state_columns(data) if data.states else None,
        "heat_data": heat_columns(data) if cells else None,
        "column": length_words(cells.grid.length_ns) if cells else None,
        "coarse": cells is not None and cells.cell_ms > 50,
        "cell": length_words(cells.grid.length_ns // cells.rows) if cells else None,
    }
