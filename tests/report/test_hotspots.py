"""Hot code and the heap against sums made one sample at a time."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from hypothesis import given

from emberscope.profile.fold import NO_STACK
from emberscope.report.diagnosis import diagnose
from emberscope.report.hotspots import MOST_METHODS, heaps, hotspots
from emberscope.tables.run import Run
from tests.profile.strategies import recording, rows
from tests.runs import run_of, spark_wrote


def recorded(samples: list[dict[str, Any]], base: Run | None = None) -> Run:
    made = recording(samples)
    run = base or run_of()
    return replace(run, tables={**run.tables, "samples": made.samples, "stacks": made.stacks, "frames": made.frames})


@given(rows())
def test_prop_self_and_total_are_those_of_the_samples(samples: list[dict[str, Any]]) -> None:
    found = hotspots(recorded(samples))
    if not samples:
        assert found is None
        return
    assert found is not None
    mine = [row for row in samples if row["event"] == found.event]
    weight = "count" if found.unit == "samples" else "value"
    selfs: Counter[str] = Counter()
    totals: Counter[str] = Counter()
    for row in mine:
        selfs[row["stack"][-1] if row["stack"] else NO_STACK] += row[weight]
        for name in set(row["stack"]) or {NO_STACK}:
            totals[name] += row[weight]
    assert found.weight == sum(row[weight] for row in mine)
    told = {method.name: (method.self_weight, method.total_weight) for method in found.methods}
    assert told == {name: (own, totals[name]) for name, own in selfs.items() if own}
    assert len(told) <= MOST_METHODS + 1
    for method in found.methods:
        where = Counter(dict.fromkeys(range(4), 0))
        for row in mine:
            if row["stack"][-1:] == [method.name] and row["stage_id"] is not None:
                where[row["stage_id"]] += row[weight]
        if method.stage is not None:
            assert where[method.stage] == max(where.values())


def test_the_finding_that_names_a_method_is_told() -> None:
    run = recorded(
        [
            {"stack": ["main.weigh"], "event": "cpu", "count": 5, "stage_id": 9},
            {"stack": ["main.other"], "event": "cpu", "count": 3},
        ],
        spark_wrote("skew_spill_python"),
    )
    findings = diagnose(run).diagnosis.findings
    found = hotspots(run, findings)
    assert found is not None
    weigh, other = found.methods
    assert weigh.finding is not None
    assert "weigh()" in findings[weigh.finding - 1].finding.title
    assert (weigh.stage, weigh.stage_ratio) == (9, 1.0)
    assert (other.finding, other.stage) == (None, None)


def test_the_heap_by_class() -> None:
    alloc = {"event": "alloc", "stack": ["a"], "count": 2, "value": 1 << 20}
    run = recorded(
        [
            {**alloc, "object_class": "byte[]"},
            {**alloc, "object_class": "byte[]"},
            {**alloc, "object_class": "com.acme.Row", "value": 1 << 19},
            {**alloc, "object_class": None},
            {"event": "live", "stack": ["a"], "count": 3, "value": None, "object_class": "com.acme.Row"},
        ]
    )
    live, allocated = heaps(run)
    assert (live.event, live.unit, live.weight) == ("live", "samples", 3)
    assert (allocated.unit, allocated.weight, allocated.samples) == ("bytes", 5 << 19, 6)
    assert [(one.name, one.weight, one.ratio) for one in allocated.classes] == [
        ("byte[]", 1 << 21, 0.8),
        ("com.acme.Row", 1 << 19, 0.2),
    ]


def test_without_samples_there_is_nothing_hot() -> None:
    assert hotspots(run_of()) is None
    assert heaps(run_of()) == ()
