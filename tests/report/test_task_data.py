from __future__ import annotations

import base64
import gzip
import json
import struct
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.report.diagnosis import diagnose
from emberscope.report.page import report_page
from emberscope.report.task_columns import FAILED, LOCALITIES, STATUSES, task_columns
from emberscope.report.task_data import TaskPart, task_part
from emberscope.report.task_lanes import OVERLAP_MS, folded, kept, slots
from emberscope.report.task_rows import BINS, host_rows, paces, stage_times
from tests.runs import any_runs, executor, run_of, spark_wrote, task

EVIL = "<script>alert(1)</script>\u202e"


def unpacked(part: TaskPart) -> dict[str, list[Any]]:
    """The columns as `web/columns.js` gives them to the page."""
    whole = gzip.decompress(base64.b64decode(part.packed))
    at = 12 + struct.unpack_from("<I", whole, 8)[0]
    columns: dict[str, list[Any]] = {}
    for entry in json.loads(whole[12:at]):
        kind = "<f8" if entry["type"] == "floats" else "<i4"
        values = np.frombuffer(whole, kind, entry["length"], at)
        at += values.nbytes
        if entry["type"] != "floats":
            values = np.cumsum(values.astype(np.int64)).astype(np.int32)
        words = entry.get("values")
        columns[entry["name"]] = (
            [None if place < 0 else words[place] for place in values.tolist()] if words is not None else values.tolist()
        )
    return columns


INTERVALS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 5_000), st.sampled_from([0, 1, 40, 900, 1_500])), max_size=60
)


@given(INTERVALS, st.lists(st.integers(0, 3), min_size=3, max_size=3))
def test_prop_no_two_attempts_of_a_row_overlap_but_by_the_drivers_own_delay(rows, cores):
    rows = sorted(rows, key=lambda row: row[1])
    one, begin, length = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    placed = slots(one, begin, begin + length, np.array(cores))
    lanes: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for lane, row, start, took in zip(one.tolist(), placed.tolist(), begin.tolist(), length.tolist(), strict=True):
        lanes.setdefault((lane, row), []).append((start, start + took))
    for (lane, _), bars in lanes.items():
        for (_, end), (start, next_end) in pairwise(bars):
            # The page finds the bar under a point by bisection: ends must stand in order, too.
            assert end <= next_end
            overlap = end - start
            if overlap > 0:
                assert overlap <= OVERLAP_MS
                assert 0 < cores[lane] <= 1 + max(row for other, row in lanes if other == lane)
    for lane in {lane for lane, _ in lanes}:
        most = 1 + max(row for other, row in lanes if other == lane)
        bars = [bar for (other, _), bars in lanes.items() if other == lane for bar in bars]
        assert most <= max(1, max(sum(a <= start < max(b, a + 1) for a, b in bars) for start, _ in bars))


@given(INTERVALS, st.integers(1, 8_000))
def test_prop_folded_time_is_all_of_the_time(rows, end_ms):
    one, begin, length = (np.array([row[i] for row in rows], np.int64) for i in range(3))
    end_ms = max([end_ms, *(begin + length).tolist()])
    rest = folded(one, begin, begin + length, end_ms)
    for lane in range(3):
        assert rest.busy_ms[rest.executor == lane].sum() == length[one == lane].sum()
    for lane, piece, busy in zip(rest.executor, rest.piece, rest.busy_ms, strict=True):
        edges = piece * rest.piece_ms, (piece + 1) * rest.piece_ms
        inside = [min(b + n, edges[1]) - max(b, edges[0]) for o, b, n in rows if o == lane]
        assert busy == sum(ms for ms in inside if ms > 0)


@given(any_runs(), st.integers(0, 6))
def test_prop_what_is_packed_is_what_the_tables_have(run, most):
    part, whole = task_part(run, {}, most), task_columns(run)
    rows = run.tables["tasks"].to_pylist() + run.tables["running_tasks"].to_pylist()
    timed = [r for r in rows if r["launch_ms"] is not None and (r.get("finish_ms") or r.get("until_ms")) is not None]
    assert len(rows) - len(timed) == whole.undrawn
    if part is None:
        assert timed == []
        return
    assert part.total == len(timed) == len(whole)
    columns = unpacked(part)
    shown = len(columns["launch"])
    assert shown == min(most, part.total) == part.total - part.folded
    assert sum(columns["stage_tasks"]) == part.total
    assert sum(columns["stage_folded"]) == part.folded
    assert sum(columns["duration"]) + sum(columns["fold_busy"]) == whole.duration.sum()
    assert sum(columns["stage_ms"]) == np.maximum(whole.figures["run_ms"], 0).sum()  # as in the table of stages
    assert sum(columns["fold_busy"]) == part.folded_ms
    assert sum(columns["bin_count"]) == sum(columns["stage_measured"]) == whole.measured.sum()
    failed = [kind & 3 for kind in columns["kind"]].count(FAILED)
    assert failed == min(part.counts["failed"], most)
    assert sum(part.counts.values()) == part.total
    assert sum(row.tasks for row in part.localities) == part.total
    if part.folded and failed < most:
        longest = [d for d, kind in zip(columns["duration"], columns["kind"], strict=True) if kind & 3 != FAILED]
        keep = kept(whole, FAILED, most)
        assert min(longest) >= max(whole.duration[~keep & (whole.status != FAILED)], default=0)


def test_columns_hold_each_task_of_a_real_log():
    run = spark_wrote("skew_spill_python")
    columns = unpacked(task_part(run, {(0, 0): EVIL}))
    start = run.application.app_start_ms
    by_id = {task_id: place for place, task_id in enumerate(columns["task"])}
    for row in run.tables["tasks"].to_pylist():
        at = by_id[row["task_id"]]
        kind, stage = columns["kind"][at], columns["stage"][at]
        assert columns["launch"][at] == row["launch_ms"] - start
        assert columns["duration"][at] == row["finish_ms"] - row["launch_ms"]
        assert columns["duration"][at] - columns["outside"][at] == row["executor_run_time_ms"]
        assert (columns["stage_id"][stage], columns["stage_attempt"][stage]) == (row["stage_id"], row["stage_attempt"])
        assert columns["executor_id"][columns["executor"][at]] == row["executor_id"]
        assert columns["executor_host"][columns["executor"][at]] == row["host"]
        assert (STATUSES[kind & 3], bool(kind & 4), kind >> 8) == (row["status"], row["speculative"], row["attempt"])
        assert LOCALITIES[((kind >> 5) & 7) - 1] == row["locality"]
        assert columns["cpu_ms"][at] == row["executor_cpu_time_ns"] // 1_000_000
        assert columns["spilled_bytes"][at] == row["disk_spilled_bytes"]
        read = row["input_bytes"] + row["shuffle_read_local_bytes"] + row["shuffle_read_remote_bytes"]
        assert columns["read_bytes"][at] == read
    for place, stage_id in enumerate(columns["stage_id"]):
        rows = [row for row in run.tables["tasks"].to_pylist() if row["stage_id"] == stage_id]
        times = [row["executor_run_time_ms"] for row in rows if row["status"] == "success"]
        told = [columns[f"stage_q{quarter}"][place] for quarter in range(5)]
        assert told == pytest.approx(np.quantile(times, [0, 0.25, 0.5, 0.75, 1]).tolist())
        low, middle, high = told[1:4]
        limit = max(high + 1.5 * (high - low), 1.5 * middle)
        assert columns["stage_limit"][place] == pytest.approx(limit)
        assert columns["stage_stragglers"][place] == sum(time > limit for time in times)
    assert "[U+202E]" in columns["stage_words"][columns["stage_id"].index(0)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10**6)), min_size=1, max_size=50))
def test_prop_the_histogram_of_a_stage_is_of_all_its_tasks(rows):
    run = run_of(None, tasks=[task(stage, i, ms, task_id=i) for i, (stage, ms) in enumerate(rows)])
    tasks = task_columns(run)
    times = stage_times(tasks)
    for place, (stage, _) in enumerate(tasks.stages):
        own = [ms for other, ms in rows if other == stage]
        here = times.bins[0] == place
        low, high = min(own), max(own)
        expected, _ = np.histogram(own, BINS, (low, high) if high > low else (low, low + 1))
        assert times.bins[2][here].sum() == len(own) == expected.sum()
        # numpy rounds at edges a hair otherwise than we do: a task may stand one bar beside.
        mine = np.zeros(BINS, int)
        mine[times.bins[1][here]] = times.bins[2][here]
        assert abs(np.cumsum(mine) - np.cumsum(expected)).max() <= 1


def test_a_slow_host_is_slow_whatever_stages_it_ran():
    tasks = [task(s, i, ms * (3 if i % 3 == 0 else 1), task_id=100 * s + i, host="slow" if i % 3 == 0 else "b")
             for s, ms in ((0, 100), (1, 9_000)) for i in range(12)]  # fmt: skip
    tasks += [task(2, 0, 5, task_id=999, host="alone")]
    whole = task_columns(run_of(tasks=tasks))
    rows = {row.name: row for row in host_rows(whole, paces(whole, stage_times(whole)))}
    assert (rows["slow"].pace, rows["b"].pace, rows["alone"].pace) == (3, 1, None)
    assert [*rows] == ["slow", "b", "alone"]


def test_executors_come_with_their_lives_and_those_that_only_tasks_name_stand_last():
    run = run_of(
        executors=[executor("10", 4, 500, 9_000) | {"removed_reason": EVIL}, executor("2", 2, 100)],
        tasks=[
            task(0, 1_000, 10, task_id=1, executor_id="7", host="h"),
            task(0, 2_000, 10, task_id=2, executor_id="2"),
        ],
    )
    columns = unpacked(task_part(run, {}))
    assert columns["executor_id"] == ["2", "10", "7"]
    assert columns["executor_added"][:2] == [100, 500]
    assert (columns["executor_removed"][1], columns["executor_cores"]) == (9_000, [2, 4, 0])
    assert np.isnan([columns["executor_removed"][0], columns["executor_added"][2]]).all()
    assert columns["executor_reason"][1] == EVIL.replace("\u202e", "[U+202E]")
    assert columns["executor_host"][2] == "h"


def test_what_is_not_known_is_not_zero():
    rows = [
        {
            "stage_id": 0,
            "task_id": 1,
            "launch_ms": 5,
            "finish_ms": 9,
            "status": "failed",
            "reason": "ExecutorLostFailure",
        },
        {"stage_id": 0, "task_id": 2, "launch_ms": None, "finish_ms": 9, "status": "success"},
    ]
    part = task_part(run_of(tasks=rows), {})
    columns = unpacked(part)
    assert part.undrawn == 1
    assert [columns[name] for name in ("cpu_ms", "gc_ms", "fetch_ms", "read_bytes", "spilled_bytes")] == [[-1]] * 5
    assert (columns["outside"], columns["reason"]) == ([-(2**31)], ["ExecutorLostFailure"])
    assert part.longest[0].cpu_ms is None
    assert part.hosts == []


def test_long_runs_and_large_tasks_stay_exact():
    day = 86_400_000
    rows = [task(0, i * 30 * day, 1_000, task_id=i, input_bytes=2**40 + i) for i in range(3)]
    columns = unpacked(task_part(run_of(200 * day, tasks=rows), {}))
    assert columns["launch"] == [0, 30 * day, 60 * day]
    assert columns["read_bytes"] == [2**40, 2**40 + 1, 2**40 + 2]


def test_the_page_says_what_it_does_not_hold(monkeypatch):
    monkeypatch.setattr("emberscope.report.task_data.task_part.__defaults__", (3,))
    rows = [task(0, i, 1_000 * (i + 1), task_id=i, status="failed" if i == 0 else "success") for i in range(8)]
    shown = report_page(diagnose(run_of(tasks=rows)))
    assert "The page holds 3 of them one by one: all that failed, then the longest." in shown
    assert "The other 5, 20.0 s together" in shown


def test_without_tasks_the_page_says_so():
    assert task_part(run_of(), {}) is None
    run = run_of(running_tasks=[{"stage_id": 0, "task_id": 1, "launch_ms": 5, "until_ms": 90, "executor_id": "1"}])
    columns = unpacked(task_part(run, {}))
    assert (columns["duration"], [kind & 3 for kind in columns["kind"]]) == ([85], [STATUSES.index("running")])
