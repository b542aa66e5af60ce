"""What a recording shows, kind by kind, against sums made one row at a time."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pyarrow.compute as pc
from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.classify import family_of
from emberscope.profile.fold import natural_weight
from emberscope.report.heap_looks import MOST_CLASSES, MOST_LOOKS, OTHERS, heap_looks
from emberscope.report.marked import marked
from emberscope.report.recorded import heap_lines, recorded_rows, sampled, series_counted
from emberscope.tables.heap_classes import HEAP_CLASSES
from emberscope.tables.marks import MARKS
from emberscope.tables.run import Run
from emberscope.tables.series import SERIES
from tests.profile.strategies import recording, rows
from tests.runs import run_of


def run_with(**tables: Any) -> Run:
    run = run_of()
    return replace(run, tables={**run.tables, **tables})


@given(rows())
def test_prop_sites_are_the_innermost_frames_of_the_user_s_code(samples: list[dict[str, Any]]) -> None:
    made = recording(samples)
    found = sampled(run_with(samples=made.samples, stacks=made.stacks, frames=made.frames))
    assert {one.event for one in found} == {row["event"] for row in samples}
    for one in found:
        mine = [row for row in samples if row["event"] == one.event]
        assert one.samples == sum(row["count"] for row in mine)
        of_event = made.samples.filter(pc.equal(made.samples["event"], one.event))
        weight = natural_weight(of_event, one.event)
        assert one.whole == sum(row[weight] for row in mine)
        of_tasks = [row for row in mine if row["task_id"] is not None]
        assert one.of_tasks == (sum(row[weight] for row in of_tasks) > 0)
        chosen = of_tasks if one.of_tasks else mine
        assert one.weight == sum(row[weight] for row in chosen)
        sites: Counter[str] = Counter()
        for row in chosen:
            own = [name for name in row["stack"] if family_of(name, "java") == "user"]
            if row["stack"]:
                sites[own[-1] if own else row["stack"][-1]] += row[weight]
        largest = sorted(((name, n) for name, n in sites.items() if n), key=lambda site: (-site[1], site[0]))
        assert list(one.sites) == largest[:5]


POINT = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["vm_operation_ms", "classes_loaded"]),
        "label": st.sampled_from(["ThreadDump", None]),
        "executor_id": st.sampled_from(["1", "2"]),
        "value": st.integers(0, 100).map(float),
    }
)


@given(st.lists(POINT))
def test_prop_series_are_summed_over_processes_and_grow_in_each(points: list[dict[str, Any]]) -> None:
    timed = [{**point, "time_ns": time} for time, point in enumerate(points)]
    found = {(one.name, one.label): one for one in series_counted(run_with(series=SERIES.from_rows(timed)))}
    assert set(found) == {(point["name"], point["label"]) for point in points}
    for key, one in found.items():
        mine = [point for point in points if (point["name"], point["label"]) == key]
        values = [[p["value"] for p in mine if p["executor_id"] == executor] for executor in ("1", "2")]
        assert (one.points, one.total, one.most) == (
            len(mine),
            sum(p["value"] for p in mine),
            max(p["value"] for p in mine),
        )
        assert one.growth == sum(of[-1] - of[0] for of in values if of)


def test_what_is_counted_is_said_in_words() -> None:
    points = [
        {"name": "vm_operation_ms", "label": "ThreadDump", "value": 30.0},
        {"name": "vm_operation_ms", "label": "G1CollectForAllocation", "value": 10.0},
        {"name": "direct_used_bytes", "value": 1024.0},
        {"name": "classes_loaded", "value": 100.0},
        {"name": "classes_loaded", "value": 140.0},
        {"name": "classes_unloaded", "value": 0.0},
        {"name": "jit_compilations", "value": 7.0},
        {"name": "jit_total_ms", "value": 1000.0},
    ]
    timed = [{**point, "time_ns": time, "executor_id": "1"} for time, point in enumerate(points)]
    series = [one.document() for one in series_counted(run_with(series=SERIES.from_rows(timed)))]
    assert recorded_rows([], series, []) == [
        ("safepoint", "2 operations of 40 ms, most for ThreadDump (30 ms)"),
        ("nativemem", "direct buffers up to 1.0 KiB"),
        ("jit", "0 compilations of 0 ms while it was recorded"),
        ("classes", "40 loaded and 0 unloaded while it was recorded, 140 at most"),
    ]


def test_the_heap_over_time_has_what_grew_first_and_the_first_and_last_look() -> None:
    looked = []
    for look in range(20):
        looked += [{"object_class": f"a.C{n:02}", "size_bytes": 100 + look * n, "instances": n} for n in range(25)]
        looked += [{"object_class": None, "size_bytes": 5, "instances": 2}]
    where = [{**row, "executor_id": "7", "time_ns": (n // 26) * 10**9} for n, row in enumerate(looked)]
    driver = [{"object_class": "b.D", "size_bytes": 1, "instances": 1, "executor_id": "driver", "time_ns": 0}]
    found = heap_looks(run_with(heap_classes=HEAP_CLASSES.from_rows([*driver, *where])))
    assert [one.process for one in found] == ["executor 7", "driver"], "the fullest first"
    heap = found[0]
    assert (heap.looks, len(heap.times_ms), heap.times_ms[0], heap.times_ms[-1]) == (20, MOST_LOOKS, 0, 19_000)
    assert (len(heap.rows), heap.hidden) == (MOST_CLASSES + 1, 5)
    assert heap.rows[0].object_class == "a.C24"
    assert (heap.rows[0].bytes[0], heap.rows[0].bytes[-1], heap.rows[0].instances) == (100, 100 + 19 * 24, 24)
    assert heap.rows[-1].object_class == OTHERS
    assert heap.totals[0] == 25 * 100 + 5
    said = heap_lines([one.document() for one in found])
    assert said[0] == (
        "  heap        executor 7: 20 looks; at the last "
        "a.C24 556 B (+456 B), a.C23 537 B (+437 B), a.C22 518 B (+418 B)"
    )
    assert said[1] == "  heap        driver: 1 look; at the last b.D 1 B"


def test_a_class_too_small_to_be_told_is_not_known_and_one_that_was_not_there_is_none() -> None:
    rows = [
        {"time_ns": 0, "object_class": "a.Large", "size_bytes": 50, "instances": 5},
        {"time_ns": 0, "object_class": None, "size_bytes": 9, "instances": 9},
        {"time_ns": 10**9, "object_class": "a.Large", "size_bytes": 60, "instances": 6},
        {"time_ns": 10**9, "object_class": "a.Small", "size_bytes": 40, "instances": 4},
        {"time_ns": 10**9, "object_class": None, "size_bytes": 9, "instances": 9},
        {"time_ns": 2 * 10**9, "object_class": "a.Small", "size_bytes": 70, "instances": 7},
    ]
    (heap,) = heap_looks(run_with(heap_classes=HEAP_CLASSES.from_rows([row | {"executor_id": "1"} for row in rows])))
    assert heap.totals == (59, 109, 70)
    assert [(row.object_class, row.bytes, row.instances) for row in heap.rows] == [
        ("a.Small", (None, 40, 70), 7),
        ("a.Large", (50, 60, 0), 0),
        (OTHERS, (9, 9, 0), 0),
    ]
    assert heap.has_gaps
    assert heap_lines([heap.document()]) == [
        "  heap        executor 1: 3 looks; at the last a.Small 70 B, a.Large 0 B, all other classes 0 B"
    ]


def test_the_heaps_of_many_processes_are_all_in_the_document() -> None:
    one = {"time_ns": 0, "object_class": "a.B", "instances": 1}
    rows = [one | {"size_bytes": n, "executor_id": str(n)} for n in range(1, 11)]
    looks = [one.document() for one in heap_looks(run_with(heap_classes=HEAP_CLASSES.from_rows(rows)))]
    assert [one["process"] for one in looks] == [f"executor {n}" for n in range(10, 0, -1)]
    assert heap_lines(looks)[-1] == "  heap        of 2 more in --json"
    assert len(heap_lines(looks)) == 9


def test_compilations_deoptimizations_and_class_loads_are_told() -> None:
    rows = [
        {"mark": "compilation", "name": "a.B.run", "text": "c2", "time_ns": 0, "end_ns": 400_000_000},
        {"mark": "compilation", "name": "a.B.run", "text": "c2", "time_ns": 10, "end_ns": 100_000_010},
        {"mark": "compilation", "name": "a.C.go", "text": "c1", "time_ns": 20, "end_ns": 300_000_020},
        *({"mark": "deoptimization", "name": "a.B.run", "text": "unstable_if", "time_ns": n} for n in range(3)),
        {"mark": "deoptimization", "name": "a.C.go", "text": "null_check", "time_ns": 4},
        {"mark": "class_load", "name": "x.Y", "time_ns": 5, "end_ns": 20_000_005},
        {"mark": "class_load", "time_ns": 5},
        {"mark": "thread_start", "name": "of no concern", "time_ns": 5},
    ]
    marks = [one.document() for one in marked(run_with(marks=MARKS.from_rows(rows)))]
    assert [(one["mark"], one["count"], one["total_ms"]) for one in marks] == [
        ("compilation", 3, 800.0),
        ("deoptimization", 4, None),
        ("class_load", 2, 20.0),
    ]
    assert marks[0]["names"] == (("a.B.run", 2, 500.0), ("a.C.go", 1, 300.0))
    assert marks[0]["texts"] == (("c2", 2), ("c1", 1))
    assert recorded_rows([], [], marks) == [
        ("jit", "3 long compilations that took 800 ms added up; most for a.B.run (500 ms)"),
        ("jit", "4 deoptimizations; most of a.B.run (3); mostly unstable_if (75.0 %)"),
        ("classes", "2 slow class loads that took 20 ms added up; most for x.Y (20 ms)"),
    ]
    assert marked(run_with()) == ()
