"""Data over time: whatever is drawn coarser keeps its extremes and its sums, and what is missing is said."""

from __future__ import annotations

import base64
import gzip
import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.report.time_data import MOST_BUCKETS, chart_columns, heat_columns, state_columns, time_data
from emberscope.report.time_grid import Grid, extremes, grid_of, held, spread
from emberscope.report.time_samples import heat, states
from emberscope.tables.executor_metrics import EXECUTOR_METRICS
from emberscope.tables.samples import SAMPLES
from emberscope.tables.series import SERIES
from emberscope.tables.spans import SPANS
from tests.runs import START_MS, executor, run_of, spark_wrote, stage, task, with_rows, without

START_NS = START_MS * 1_000_000
S = 1_000_000_000
POINTS = st.lists(st.tuples(st.integers(-5 * S, 3000 * S), st.floats(0, 1e12)), min_size=1, max_size=60)


def arrays(points: list[tuple[int, float]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([t for t, _ in points], np.int64), np.array([v for _, v in points], np.float64)


def grid_over(times: np.ndarray, most: int = 40) -> Grid:
    return grid_of(0, int(times.min()), int(times.max()), most)


@given(POINTS, st.integers(2, 800))
def test_prop_a_grid_covers_all_with_few_buckets(points, most):
    times, _ = arrays(points)
    grid = grid_over(times, most)
    assert grid.count <= most
    assert (grid.places(times) >= 0).all()
    edges = grid.edges_ns()
    assert edges[0] <= times.min()
    assert times.max() < edges[-1]


@given(POINTS)
def test_prop_downsampling_keeps_the_extremes_of_each_bucket_and_covers_all(points):
    times, values = arrays(points)
    grid = grid_over(times)
    pairs = extremes(grid, times, values).reshape(-1, 2)
    places = grid.places(times)
    for bucket, pair in enumerate(pairs):
        here = values[places == bucket]
        if len(here):
            assert (pair.min(), pair.max()) == (here.min(), here.max())
        else:
            assert np.isnan(pair).all()
    first = min(t for t, v in points if v == values.min())
    assert np.nanmin(pairs) == values.min()
    assert pairs[grid.places(np.array([first]))[0]].min() == values.min()


def test_the_two_values_of_a_bucket_stand_in_their_order():
    grid = Grid(0, S, 0, 2)
    times = np.array([0, S // 2, S, S + 5], np.int64)
    assert extremes(grid, times, np.array([1.0, 9.0, 9.0, 1.0])).tolist() == [1, 9, 9, 1]


@given(
    st.lists(
        st.tuples(st.integers(-5 * S, 3000 * S), st.integers(0, 900 * S), st.floats(0, 1e12)), min_size=1, max_size=60
    )
)
def test_prop_what_is_spread_adds_up(pieces):
    begins = np.array([begin for begin, _, _ in pieces], np.int64)
    ends = begins + np.array([length for _, length, _ in pieces], np.int64)
    amounts = np.array([amount for _, _, amount in pieces])
    grid = grid_of(0, int(begins.min()), int(ends.max()) + S, 700)
    buckets = spread(grid, begins, ends, amounts)
    assert (buckets >= 0).all()
    assert buckets.sum() == pytest.approx(amounts.sum(), rel=1e-6, abs=1e-3)


def test_what_is_spread_lies_where_it_was():
    grid = Grid(0, S, 0, 4)
    assert spread(grid, np.array([S // 2]), np.array([2 * S]), np.array([3.0])) == pytest.approx([1, 2, 0, 0])


@given(POINTS)
def test_prop_a_held_line_says_the_last_value_known(points):
    times, values = arrays(points)
    grid = grid_over(times)
    line = held(grid, times, values)
    ordered = sorted(range(len(times)), key=lambda i: (times[i], i))
    ends = grid.edges_ns()[1:]
    for bucket in range(grid.count):
        before = [i for i in ordered if times[i] < ends[bucket]]
        inside = before and times[ordered[-1]] >= grid.edges_ns()[bucket]
        assert (line[bucket] == values[before[-1]]) if inside else np.isnan(line[bucket])


SAMPLE = st.fixed_dictionaries(
    {
        "event": st.sampled_from(["cpu", "wall", "alloc"]),
        "count": st.integers(1, 5),
        "stack": st.just(0),
        "executor_id": st.none() | st.sampled_from(["1", "2", "driver"]),
        "time_ns": st.integers(START_NS - 3 * S, START_NS + 4000 * S),
    }
)


@given(st.lists(SAMPLE, min_size=1, max_size=60))
def test_prop_the_cells_of_the_heat_map_add_up_to_the_samples(rows):
    run = with_rows(run_of(), "samples", SAMPLES.from_rows(rows))
    times = [row["time_ns"] for row in rows]
    cells = heat(run, START_NS, min(times), max(times))
    assert cells is not None
    found = {}
    for place, series in enumerate(cells.series):
        here = slice(int(cells.bounds[place]), int(cells.bounds[place + 1]))
        assert (np.diff(cells.cells[here]) > 0).all()
        found[series] = int(cells.counts[here].sum())
        for cell, count in zip(cells.cells[here].tolist(), cells.counts[here].tolist(), strict=True):
            length = cells.grid.length_ns // cells.rows
            begin = START_NS + cells.grid.first * cells.grid.length_ns + cell * length
            same = [r for r in rows if (r["event"], r["executor_id"] or "") == series]
            assert count == sum(r["count"] for r in same if begin <= r["time_ns"] < begin + length)
    wanted: dict[tuple[str, str], int] = {}
    for row in rows:
        key = (row["event"], row["executor_id"] or "")
        wanted[key] = wanted.get(key, 0) + row["count"]
    assert found == wanted


def test_a_map_of_too_many_cells_gets_larger_ones(monkeypatch):
    rows = [
        {"event": "cpu", "count": 1, "stack": 0, "executor_id": "1", "time_ns": START_NS + i * S // 50}
        for i in range(2000)
    ]
    run = with_rows(run_of(), "samples", SAMPLES.from_rows(rows))
    fine = heat(run, START_NS, START_NS, START_NS + 40 * S)
    assert fine is not None
    assert (fine.cell_ms, len(fine.cells)) == (20, 2000)
    for most, cell_ms in ((300, 200), (30, 2000), (5, 10_000)):
        monkeypatch.setattr("emberscope.report.time_samples.MOST_CELLS", most)
        coarse = heat(run, START_NS, START_NS, START_NS + 40 * S)
        assert coarse is not None
        assert (coarse.cell_ms, int(coarse.counts.sum())) == (cell_ms, 2000)
        assert len(coarse.cells) <= most


def test_times_far_off_and_odd_names_cost_nothing_but_detail():
    odd = ["²", "9" * 5000, "\u202eevil", "10", "9", "driver"]
    rows = [
        {"event": "cpu", "count": 1, "stack": 0, "executor_id": one, "time_ns": i * 3 * S} for i, one in enumerate(odd)
    ]
    points = [
        {"name": "cpu_process_ratio", "executor_id": "9", "time_ns": START_NS, "value": value}
        for value in (float("inf"), float("nan"), 0.5)
    ]
    run = with_rows(run_of(), "samples", SAMPLES.from_rows(rows))
    data = time_data(with_rows(run, "series", SERIES.from_rows(points)))
    assert data is not None
    assert data.heat is not None
    assert int(data.heat.counts.sum()) == 6
    assert data.executors[:3] == ("driver", "9", "10")
    assert not any("\u202e" in one for one in data.executors)
    assert {row.name: row.most for row in data.rows}["JVM"] == "50.0 %"
    assert chart_columns(data)
    assert heat_columns(data)


WALL = [
    {"event": "wall", "count": 3, "state": "STATE_RUNNABLE", "task_id": 1, "stack": 0, "time_ns": START_NS + S // 2},
    {"event": "wall", "count": 1, "state": "STATE_SLEEPING", "task_id": 1, "stack": 0, "time_ns": START_NS + S // 2},
    {"event": "wall", "count": 9, "state": "STATE_SLEEPING", "task_id": None, "stack": 0, "time_ns": START_NS},
]


def of_states(run) -> dict[str, np.ndarray]:
    split = states(run, Grid(START_NS, S, 0, 4))
    assert split is not None
    return {state: of for (state, one), of in zip(split.series, split.values, strict=True) if one == ""}


def test_thread_states_split_the_running_tasks():
    run = run_of(tasks=[task(0, 0, 2000, executor_id="1"), task(0, 0, 2000, executor_id="2", task_id=2)])
    parts = of_states(with_rows(run, "samples", SAMPLES.from_rows([{**r, "executor_id": "1"} for r in WALL])))
    assert parts["runnable"] == pytest.approx([1.5, 0, 0, 0])
    assert parts["sleeping"] == pytest.approx([0.5, 0, 0, 0])
    assert parts["not sampled"] == pytest.approx([0, 2, 0, 0])


def test_without_wall_samples_what_was_not_seen_is_said_to_be_so():
    rows = [
        {"event": "cpu", "count": 10, "value": 20_000_000, "task_id": 1, "stack": 0, "time_ns": START_NS + 5},
        {"event": "lock", "count": 1, "value": S // 2, "task_id": 1, "stack": 0, "time_ns": START_NS + S},
    ]
    run = with_rows(run_of(tasks=[task(0, 0, 2000)]), "samples", SAMPLES.from_rows(rows))
    parts = of_states(run)
    assert parts["on the CPU"] == pytest.approx([0.2, 0, 0, 0])
    assert parts["waiting for a lock"] == pytest.approx([0, 0.5, 0, 0])
    assert parts["not sampled"] == pytest.approx([0.8, 0.5, 0, 0])
    assert "wall" in states(run, Grid(START_NS, S, 0, 4)).how


def test_lines_of_a_recording_and_an_event_log():
    points = [
        ("cpu_process_ratio", "1", 0, 0.2, None),
        ("cpu_process_ratio", "2", 0, 0.6, None),
        ("heap_used_bytes", "1", 1, 500.0, "Before GC"),
        ("heap_used_bytes", "1", 1, 200.0, "After GC"),
        ("gc_pause_ms", "1", 2, 250.0, None),
        ("rss_bytes", "1", 0, 1000.0, None),
        ("rss_bytes", "2", 0, 3000.0, None),
        ("process_rss_bytes", "1", 0, 70.0, "12 python3"),
        ("process_rss_bytes", "1", 0, 80.0, "13 python3"),
    ]
    rows = [
        {"name": n, "executor_id": e, "time_ns": START_NS + t * S, "value": v, "label": label}
        for n, e, t, v, label in points
    ]
    tasks = [task(0, 0, 1000, task_id=1, executor_id="1", shuffle_write_bytes=4000)]
    run = run_of(4_000, tasks=tasks, executors=[executor("1", 2)], stages=[stage(0, 0, 1000)])
    data = time_data(with_rows(run, "series", SERIES.from_rows(rows)), {0: "a scan"})
    assert data is not None
    said = {(row.title, row.name): (row.least, row.most) for row in data.rows}
    assert said["CPU, share of the machine", "JVM, mean of executors"] == ("40.0 %", "40.0 %")
    assert said["CPU, share of the machine", "JVM, highest executor"] == ("60.0 %", "60.0 %")
    assert said["Heap", "before GC"][1] == "500 B"
    assert said["Heap", "after GC"][1] == "200 B"
    assert said["Memory of the processes (RSS)", "JVM, executors together"][1] == "3.9 KiB"
    assert said["Memory of the processes (RSS)", "Python"][1] == "150 B"
    assert said["Shuffle", "written"][1] == "3.9 KiB/s"
    assert said["Running tasks", "slots"][1] == "2"
    written = next(line for line in data.lines if line.name == "written" and line.executor == "")
    assert written.values.sum() * data.grid.length_s == pytest.approx(4000)
    assert data.grid.count <= MOST_BUCKETS
    assert [(band.stage_id, band.name, band.from_s, band.to_s, band.lane) for band in data.bands] == [
        (0, "a scan", 0, 1, 0)
    ]
    assert data.missing == ()


def test_peaks_of_stages_stand_in_for_a_recording():
    peaks = [
        {"executor_id": "1", "source": "stage", "stage_id": 0, "stage_attempt": 0}
        | {"jvm_heap_bytes": 300, "process_jvm_rss_bytes": 900, "process_python_rss_bytes": 50}
    ]
    run = run_of(4_000, tasks=[task(0, 0, 1000)], stages=[stage(0, 0, 1000)])
    data = time_data(with_rows(run, "executor_metrics", EXECUTOR_METRICS.from_rows(peaks)))
    assert data is not None
    said = {(row.title, row.name): row.most for row in data.rows}
    assert said["Heap", "peak per stage"] == "300 B"
    assert said["Memory of the processes (RSS)", "Python, peak per stage"] == "50 B"


def test_an_event_log_alone_has_rates_and_says_what_it_lacks():
    run = spark_wrote("skew_spill_python")
    data = time_data(run)
    assert data is not None
    sums = {"written": "shuffle_write_bytes", "spilled to disk": "disk_spilled_bytes"}
    for name, column in sums.items():
        line = next(line for line in data.lines if line.name == name and line.executor == "")
        assert line.values.sum() * data.grid.length_s == pytest.approx(sum(run.tables["tasks"][column].to_pylist()))
    assert data.heat is None
    assert any("emberscope run" in sentence for sentence in data.missing)
    assert any("processTreeMetrics" in sentence for sentence in data.missing)
    assert data.states is not None
    assert "on the CPU" in {state for state, _ in data.states.series}


def unpacked(packed: str) -> dict[str, object]:
    raw = gzip.decompress(base64.b64decode(packed))
    (length,) = struct.unpack_from("<I", raw, 8)
    return {entry["name"]: entry for entry in json.loads(raw[12 : 12 + length])}


def test_what_is_packed_is_small_and_whole():
    rows = [{**row, "executor_id": "1"} for row in WALL]
    data = time_data(with_rows(run_of(tasks=[task(0, 0, 2000)]), "samples", SAMPLES.from_rows(rows)))
    assert data is not None
    assert unpacked(heat_columns(data))["heat_event"]["values"] == ["wall"]
    assert unpacked(state_columns(data))["form"]["values"] == ["areas"]
    assert unpacked(chart_columns(data))["bounds"]["length"] == len(data.lines) + 1


def test_a_recording_alone_has_its_measures_and_the_states_of_all_threads():
    points = [{"name": "heap_used_bytes", "time_ns": START_NS, "value": 5e6}]
    run = without(run_of(None), "tasks", "stages", "executors", "running_tasks")
    data = time_data(with_rows(with_rows(run, "samples", SAMPLES.from_rows(WALL)), "series", SERIES.from_rows(points)))
    assert data is not None
    assert [(row.title, row.name, row.most) for row in data.rows] == [("Heap", "in use", "4.8 MiB")]
    assert data.states is not None
    assert data.states.title == "Samples a second"
    sums = {
        state: values.sum() * data.grid.length_s
        for (state, _), values in zip(data.states.series, data.states.values, strict=True)
    }
    assert sums == pytest.approx({"runnable": 3, "sleeping": 10})


def test_tasks_that_a_recording_saw_are_split_without_an_event_log():
    spans = [{"start_ns": START_NS, "end_ns": START_NS + 2 * S, "task_id": 1, "stage_id": 0, "executor_id": "1"}]
    run = without(run_of(tasks=[]), "tasks", "running_tasks")
    run = with_rows(with_rows(run, "spans", SPANS.from_rows(spans)), "samples", SAMPLES.from_rows(WALL))
    assert of_states(run)["runnable"] == pytest.approx([0.75, 0, 0, 0])


def test_nothing_with_a_time_is_no_data():
    assert time_data(run_of(None)) is None
