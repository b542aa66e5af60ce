"""What grew in a process before it died: its Python workers, its heap, all of it, by recording or event log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# Less is no growth to speak of: half as much again, and a quarter of a GiB (our proposal).
_LEAST_RATIO: Final = 1.5
_LEAST_BYTES: Final = 256 << 20
# Growth begins where a tenth of it is not yet there.
_BEGUN: Final = 0.1

_PEAKS: Final = (
    ("Python workers", "process_python_rss_bytes"),
    ("heap", "jvm_heap_bytes"),
    ("JVM", "process_jvm_rss_bytes"),
)


class Growth(NamedTuple):
    """What of a process grew, from when to when, from how much to how much."""

    what: str
    begin_ms: int
    end_ms: int
    least_bytes: float
    most_bytes: float


def growth(run: Run, executor_id: str, until_ms: int) -> Growth | None:
    """What grew most of an executor (or of `driver`) up to this moment; None where nothing did that was measured."""
    found = [
        one
        for what, points in (*_recorded(run, executor_id), *_logged(run, executor_id))
        if (one := _grown(what, [point for point in points if point[0] <= until_ms])) is not None
    ]
    return max(found, key=lambda one: one.most_bytes - one.least_bytes, default=None)


def _grown(what: str, points: list[tuple[int, float]]) -> Growth | None:
    """From the least value to the largest after it."""
    if len(points) < 2:
        return None
    points = sorted(points)
    least = min(range(len(points)), key=lambda place: points[place][1])
    most = max(range(least, len(points)), key=lambda place: points[place][1])
    low, high = points[least][1], points[most][1]
    if high < _LEAST_RATIO * low or high - low < _LEAST_BYTES:
        return None
    begun = max(place for place in range(least, most) if points[place][1] <= low + _BEGUN * (high - low))
    return Growth(what, points[begun][0], points[most][0], low, high)


def _recorded(run: Run, executor_id: str) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """What a recording sampled: the size of each process at a time, those of Python together."""
    series = run.tables.get("series")
    if series is None:
        return
    here = series.filter(
        pc.and_(pc.equal(series["name"], "process_rss_bytes"), pc.equal(series["executor_id"], executor_id))
    )
    python: dict[int, float] = {}
    columns = [here[name].to_pylist() for name in ("time_ns", "label", "value")]
    for time_ns, label, value in zip(*columns, strict=True):
        if time_ns is not None and value is not None and "python" in (label or "").lower():
            python[time_ns // 1_000_000] = python.get(time_ns // 1_000_000, 0.0) + value
    yield "Python workers", list(python.items())
    heap = series.filter(
        pc.and_(pc.equal(series["name"], "heap_used_bytes"), pc.equal(series["executor_id"], executor_id))
    )
    after = heap.filter(
        pc.match_substring(pc.fill_null(heap["label"].cast(pa.string()), ""), "after", ignore_case=True)
    )
    yield "heap after collections", _points(after, "time_ns", "value", 1_000_000)


def _logged(run: Run, executor_id: str) -> Iterator[tuple[str, list[tuple[int, float]]]]:
    """The peaks of each stage that an event log has (spark.eventLog.logStageExecutorMetrics)."""
    metrics = run.tables.get("executor_metrics")
    if metrics is None:
        return
    here = metrics.filter(pc.equal(metrics["executor_id"], executor_id))
    for what, column in _PEAKS:
        yield what, _points(here, "after_ms", column, 1)


def _points(table: pa.Table, time: str, value: str, scale: int) -> list[tuple[int, float]]:
    pairs = zip(table[time].to_pylist(), table[value].to_pylist(), strict=True)
    return [(at // scale, float(size)) for at, size in pairs if at is not None and size is not None and size > 0]
