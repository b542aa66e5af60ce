"""Rows of the tables from the events of one chunk after another."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from emberscope.jfr.chunk import Chunk
from emberscope.jfr.constants import Pools
from emberscope.jfr.decode import ReadEvent, Wanted, event_reader
from emberscope.jfr.encoding import BROKEN
from emberscope.jfr.events import (
    ACTIVE_SETTING,
    DATA_LOSS,
    DATA_LOSS_WANTED,
    EXECUTION_SAMPLE,
    SAMPLE_EVENTS,
    SAMPLES_LOST,
    SERIES_EVENTS,
    SETTING_WANTED,
    SLEEPING,
    SPAN_EVENTS,
    SPAN_NUMBERS,
    SPAN_TEXTS,
    SPAN_WANTED,
    SampleEvent,
    SeriesEvent,
)
from emberscope.jfr.metadata import Metadata
from emberscope.jfr.scan import Places
from emberscope.jfr.stacks import Stacks
from emberscope.tables.stack_tree import StackTree

_NS: Final = {"NANOSECONDS": 1, "MICROSECONDS": 1_000, "MILLISECONDS": 1_000_000, "SECONDS": 1_000_000_000}
_PERIOD: Final = re.compile(r"(\d{1,18}) ?(ns|us|ms|s|m|h|d|)")
_SETTING_UNITS: Final = {
    "": 1,
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
_CLOCKS: Final = frozenset({"cpu", "itimer", "ctimer", "wall"})
_DEFAULT_INTERVAL_NS: Final = 10_000_000
_THREAD: Final = "java.lang.Thread"
_STATE: Final = "jdk.types.ThreadState"
_Readers = dict[tuple[str, Wanted], ReadEvent]


class Gathered:
    """Columns of `samples`, `spans` and `series`, settings, and counts for the facts and the coverage."""

    def __init__(self, tree: StackTree, lines: bool) -> None:
        self._tree = tree
        self._lines = lines
        self._readers: dict[int, tuple[Metadata, _Readers]] = {}
        self.samples: dict[str, list[Any]] = {}
        self.spans: dict[str, list[Any]] = {}
        self.series: dict[str, list[Any]] = {}
        self.settings: dict[str, str] = {}
        self.sample_counts: Counter[str] = Counter()
        self.leaves: Counter[str] = Counter()
        self.last_ns = 0
        self.truncated_samples = 0
        self.unresolved_samples = 0
        self.lost_samples = 0
        self.lost_bytes = 0
        self.broken_events = 0

    def add(self, chunk: Chunk, b: bytes, metadata: Metadata, places: Places, pools: Pools) -> None:
        """The rows of one chunk: `b` its bytes, `places` where its events lie."""
        _, readers = self._readers.setdefault(
            id(metadata), (metadata, {})
        )  # the metadata is held, so its id stays its own

        def rows(name: str, wanted: Wanted) -> list[tuple[Any, ...]]:
            return self._rows(chunk, b, metadata, places, readers, name, wanted)

        settings: dict[str, str] = {}
        for type_id, name, value in rows(ACTIVE_SETTING, SETTING_WANTED):
            key, text = pools.text(name), pools.text(value)
            if type_id is not None and key and text is not None:
                settings[f"{metadata.name_of(type_id)}#{key}"] = text
        self.settings.update(settings)
        stacks = Stacks(pools, self._tree, self._lines)
        for spec in SAMPLE_EVENTS:
            found = rows(spec.name, spec.wanted)
            if found:
                self._add_samples(chunk, metadata, pools, stacks, settings, spec, found)
        for name in SPAN_EVENTS:
            for row in rows(name, SPAN_WANTED):
                self._add_span(chunk, pools, row, ended=name == SPAN_EVENTS[1])
        for series in SERIES_EVENTS:
            self._add_series(chunk, metadata, series, rows(series.name, series.wanted))
        self.lost_bytes += sum(row[0] or 0 for row in rows(DATA_LOSS, DATA_LOSS_WANTED))

    def _rows(
        self,
        chunk: Chunk,
        b: bytes,
        metadata: Metadata,
        places: Places,
        readers: _Readers,
        name: str,
        wanted: Wanted,
    ) -> list[tuple[Any, ...]]:
        """The wanted values of all events of a type; one that cannot be read is counted and left out."""
        described = metadata.by_name.get(name)
        positions = places.of(described.id) if described is not None else []
        if described is None or not positions:
            return []
        try:
            read = readers.get((name, wanted))
            if read is None:
                read = readers[name, wanted] = event_reader(metadata, described.id, wanted, chunk.integers)
        except BROKEN:
            self.broken_events += len(positions)
            return []
        rows = []
        for position in positions:
            try:
                rows.append(read(b, position))
            except BROKEN:
                self.broken_events += 1
        return rows

    def _add_samples(
        self,
        chunk: Chunk,
        metadata: Metadata,
        pools: Pools,
        stacks: Stacks,
        settings: dict[str, str],
        spec: SampleEvent,
        rows: list[tuple[Any, ...]],
    ) -> None:
        times, threads, traces, states, values, counts = zip(*rows, strict=True)
        nodes = {key: stacks.node(key) for key in set(traces)}
        cut = {key for key in nodes if stacks.truncated(key)}
        state_names = {key: pools.text(pools.by_name[_STATE].get(key)) for key in set(states)}
        named_states = [state_names[key] for key in states]
        thread_rows = {key: _thread(pools, key) for key in set(threads)}
        java_ids, os_ids, names = zip(*(thread_rows[key] for key in threads), strict=True)
        weights = [max(1, n) if n is not None else 1 for n in counts]
        events = [spec.event] * len(rows)
        if spec.name == EXECUTION_SAMPLE:
            events = ["wall" if state == SLEEPING else "cpu" for state in named_states]
            periods = {"cpu": _cpu_period_ns(settings), "wall": _wall_period_ns(settings)}
            weighed: Iterable[int | None] = [periods[event] for event in events]
            for key, times_seen in Counter(traces).items():
                leaf = stacks.leaf(key)
                if leaf is not None:
                    self.leaves[leaf] += times_seen
        elif spec.unit:
            weighed = map(_to_ns(chunk, metadata.timespan_unit(spec.name, spec.value) or spec.unit), values)
        else:
            weighed = values
        times_ns = _within([t if t is None else chunk.to_ns(t) for t in times], 64)
        _extend(
            self.samples,
            {
                "time_ns": times_ns,
                "event": events,
                "state": named_states,
                "count": weights,
                "value": _within(weighed, 64),
                "stack": [nodes[key] for key in traces],
                "truncated": [key in cut for key in traces],
                "thread_id": java_ids,
                "os_thread_id": os_ids,
                "thread_name": names,
            },
        )
        for event, weight in zip(events, weights, strict=True):
            self.sample_counts[event] += weight
        self.last_ns = max(self.last_ns, max((t for t in times_ns if t is not None), default=0))
        self.truncated_samples += sum(w for key, w in zip(traces, weights, strict=True) if key in cut)
        if stacks.unresolved:
            lost = stacks.unresolved
            self.unresolved_samples += sum(w for key, w in zip(traces, weights, strict=True) if key in lost)

    def _add_span(self, chunk: Chunk, pools: Pools, row: tuple[Any, ...], *, ended: bool) -> None:
        start, duration, *values = row
        numbers = values[: len(SPAN_NUMBERS)]
        texts = values[len(SPAN_NUMBERS) :]
        if start is None:
            self.broken_events += 1
            return
        span: dict[str, Any] = {
            "start_ns": chunk.to_ns(start),
            "end_ns": chunk.to_ns(start + duration) if ended and duration is not None else None,
        }
        for (column, (_, bits)), number in zip(SPAN_NUMBERS.items(), numbers, strict=True):
            span[column] = _within([number], bits)[0]
        if span["sql_execution_id"] is not None and span["sql_execution_id"] < 0:
            span["sql_execution_id"] = None
        for column, text in zip(SPAN_TEXTS, texts, strict=True):
            span[column] = pools.text(text)
        span["start_ns"], span["end_ns"] = _within([span["start_ns"], span["end_ns"]], 64)
        _extend(self.spans, {column: [value] for column, value in span.items()})

    def _add_series(self, chunk: Chunk, metadata: Metadata, series: SeriesEvent, rows: list[tuple[Any, ...]]) -> None:
        ns = _to_ns(chunk, metadata.timespan_unit(series.name, series.fields[0]) or "TICKS")
        times, values = [], []
        for start, *fields in rows:
            if start is None or None in fields:
                continue
            times.append(chunk.to_ns(start))
            total = sum(fields)
            values.append(float(ns(total) or 0) / 1e6 if series.is_time else float(total))
        _extend(self.series, {"name": [series.series] * len(times), "time_ns": _within(times, 64), "value": values})
        if series.series == SAMPLES_LOST:
            self.lost_samples += int(sum(values))


def _extend(columns: dict[str, list[Any]], more: dict[str, Sequence[Any]]) -> None:
    for name, values in more.items():
        columns.setdefault(name, []).extend(values)


def _within(values: Iterable[int | None], bits: int) -> list[int | None]:
    """Numbers that fit a signed column of so many bits; damaged ones that do not are null."""
    limit = 1 << (bits - 1)
    return [v if v is not None and -limit <= v < limit else None for v in values]


def _to_ns(chunk: Chunk, unit: str) -> Callable[[int | None], int | None]:
    """Time spans in a unit of the metadata to nanoseconds; None for a unit that is not known."""
    factor = _NS.get(unit)
    if factor is None and unit != "TICKS":
        return lambda _: None
    if factor is None:
        return lambda span: None if span is None else chunk.span_ns(span)
    return lambda span: None if span is None else span * factor


def _thread(pools: Pools, key: int | None) -> tuple[int | None, int | None, str | None]:
    """Java thread id (0 for a thread that is not Java's), id of the operating system, name."""
    found = pools.by_name[_THREAD].get(key)
    if found is None:
        return (0 if key == 0 else None), None, None
    os_name, os_id, java_name, java_id = found
    name = pools.text(java_name) or pools.text(os_name)
    return max(0, java_id) if java_id is not None else None, os_id, name


def _cpu_period_ns(settings: dict[str, str]) -> int | None:
    """What one execution sample stands for; None where the recording does not say it in time.

    The JDK writes `period` (number and unit), async-profiler `interval` (ns), where 0 is its default of 10 ms and an
    event that is no clock counts in its own unit.
    """
    period = settings.get(f"{EXECUTION_SAMPLE}#period")
    if period is not None:
        return _setting_ns(period)
    interval = settings.get(f"{EXECUTION_SAMPLE}#interval")
    if settings.get("jdk.ActiveRecording#event", "cpu") not in _CLOCKS:
        return None
    return _DEFAULT_INTERVAL_NS if interval == "0" else _setting_ns(interval)


def _wall_period_ns(settings: dict[str, str]) -> int | None:
    """What one execution sample of a sleeping thread stands for: `wall` of async-profiler (ns)."""
    return _setting_ns(settings.get(f"{EXECUTION_SAMPLE}#wall"))


def _setting_ns(text: str | None) -> int | None:
    """Nanoseconds of a setting such as `10000000 ns`, `20 ms` or a bare number of ns; None for 0 and for words."""
    found = _PERIOD.fullmatch(text or "")
    if found is None:
        return None
    return _within([int(found[1]) * _SETTING_UNITS[found[2]]], 64)[0] or None
