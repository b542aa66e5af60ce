"""Rows of the tables `spans`, `series`, `marks` and `heap_classes` from the events of one chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from emberscope.jfr.chunk import Chunk
from emberscope.jfr.clock import ends_ns, spans_ns, times_ns
from emberscope.jfr.events import HEAP_CLASS, SPAN_CPU, SPAN_NUMBERS, SPAN_TEXTS, MarkEvent, SeriesEvent
from emberscope.jfr.references import Longs, Threads, fixed, floats, longs, masked, texts
from emberscope.tables.frame_names import class_name
from emberscope.tables.heap_classes import HEAP_CLASSES
from emberscope.tables.marks import MARKS
from emberscope.tables.run import FARTHEST_MS
from emberscope.tables.series import SERIES
from emberscope.tables.spans import SPANS


def span_rows(chunk: Chunk, name: str, *, ended: bool) -> pa.Table:
    """Sightings of tasks: of their start, or, with `ended`, of start and end."""
    count = chunk.rows(name)
    starts = longs(chunk, name, "startTime")
    if starts is None:
        return SPANS.empty()
    columns: dict[str, Any] = {"start_ns": masked(*times_ns(chunk.header, starts), count, pa.int64())}
    durations = longs(chunk, name, "duration") if ended else None
    if durations is not None:
        columns["end_ns"] = masked(*ends_ns(chunk.header, starts, durations), count, pa.int64())
    for column, (field, bits) in SPAN_NUMBERS.items():
        values = longs(chunk, name, field)
        if values is not None:
            outside = (
                (values < -(1 << (bits - 1))) | (values >= 1 << (bits - 1)) if bits < 64 else np.zeros(count, bool)
            )
            if column == "sql_execution_id":
                outside = outside | (values < 0)
            columns[column] = pa.array(values, mask=outside)
    columns |= _span_cpu(chunk, name)
    for column, field in SPAN_TEXTS.items():
        columns[column] = chunk.texts(name, field) or [None] * count
    return SPANS.from_columns(columns)


def _span_cpu(chunk: Chunk, name: str) -> dict[str, Any]:
    """CPU time of the task's thread, where the recorder said it: recorders before did not, and some JVMs cannot."""
    start, end = (longs(chunk, name, field) for field in SPAN_CPU)
    if start is None:
        return {}
    columns: dict[str, Any] = {"cpu_start_ns": pa.array(start, mask=start < 0)}
    if end is not None:
        columns["cpu_ns"] = pa.array(end - start, mask=(start < 0) | (end < start))
    return columns


def series_rows(chunk: Chunk, spec: SeriesEvent, threads: Threads) -> pa.Table:
    """Points of one series. A value below zero is the JVM's word for "not known" and no point."""
    starts = longs(chunk, spec.name, "startTime")
    columns = [floats(chunk, spec.name, field) for field in spec.fields]
    if starts is None or any(column is None for column in columns):
        return SERIES.empty()
    time_ns, untimed = times_ns(chunk.header, starts)
    if spec.is_time:
        values, absent = _spans_ms(chunk, spec, starts)
    else:
        values = sum((column for column in columns if column is not None), np.zeros(len(starts)))
        absent = ~(values >= 0)
    kept = ~(untimed | absent)
    labels = [texts(chunk, spec.name, label) for label in spec.labels]
    label = [pa.compute.take(words, pa.array(np.flatnonzero(kept))) for words in labels if words is not None]
    length = int(kept.sum())
    keys = longs(chunk, spec.name, spec.thread) if spec.thread else None
    thread_id = threads.java_ids(keys, threads.rows(keys)).filter(pa.array(kept)) if keys is not None else None
    return SERIES.from_columns(
        {
            "name": fixed(spec.series, length),
            "time_ns": time_ns[kept],
            "value": values[kept],
            "label": _joined(label) if label else fixed(None, length),
            "thread_id": thread_id if thread_id is not None else pa.nulls(length, pa.int64()),
        }
    )


def mark_rows(chunk: Chunk, spec: MarkEvent, threads: Threads) -> pa.Table:
    """What a process says of a moment or a span of time."""
    count = chunk.rows(spec.name)
    starts = longs(chunk, spec.name, "startTime")
    if starts is None:
        return MARKS.empty()
    durations = longs(chunk, spec.name, "duration")
    keys = longs(chunk, spec.name, spec.thread)
    thread_keys = keys if keys is not None else np.full(count, -1, np.int64)
    columns: dict[str, Any] = {
        "mark": fixed(spec.mark, count),
        "time_ns": masked(*times_ns(chunk.header, starts), count, pa.int64()),
        "thread_id": threads.java_ids(thread_keys, threads.rows(thread_keys)),
    }
    if durations is not None:
        columns["end_ns"] = masked(*ends_ns(chunk.header, starts, durations), count, pa.int64())
    for column, field in (("name", spec.label), ("text", spec.text)):
        found = texts(chunk, spec.name, field) if field else None
        columns[column] = found.cast(pa.string()) if found is not None else pa.nulls(count, pa.string())
    return MARKS.from_columns(columns)


def heap_rows(chunk: Chunk) -> pa.Table:
    """What looks at the heap found. Classes that are told apart by numbers alone are one."""
    looks, instances, sizes = (longs(chunk, HEAP_CLASS, field) for field in ("look", "instances", "bytes"))
    names = chunk.texts(HEAP_CLASS, "className")
    if looks is None or instances is None or sizes is None or names is None:
        return HEAP_CLASSES.empty()
    spelled = [None if name is None else class_name(name) for name in names]
    rows = pa.table({"look": looks, "object_class": spelled, "instances": instances, "bytes": sizes})
    rows = rows.filter(pa.compute.less(pa.compute.abs(rows["look"]), FARTHEST_MS))
    summed = rows.group_by(["look", "object_class"], use_threads=False).aggregate(
        [("instances", "sum"), ("bytes", "sum")]
    )
    return HEAP_CLASSES.from_columns(
        {
            "time_ns": pa.compute.multiply(summed["look"], 1_000_000),
            "object_class": summed["object_class"].cast(pa.string()).combine_chunks().dictionary_encode(),
            "instances": summed["instances_sum"],
            "size_bytes": summed["bytes_sum"],
        }
    )


def _spans_ms(chunk: Chunk, spec: SeriesEvent, starts: Longs) -> tuple[Any, Any]:
    """Time spans in ms, summed over the fields, and which are not known."""
    total = np.zeros(len(starts))
    absent = np.zeros(len(starts), np.bool_)
    for field in spec.fields:
        spans = longs(chunk, spec.name, field)
        if spans is None:
            return total, np.ones(len(starts), np.bool_)
        ns, outside = spans_ns(chunk.header, spans, chunk.metadata.timespan_unit(spec.name, field) or "TICKS")
        total += ns / 1e6
        absent |= outside | (spans < 0)
    return total, absent


def _joined(labels: list[pa.DictionaryArray]) -> pa.Array:
    if len(labels) == 1:
        return labels[0]
    rows = zip(*(label.to_pylist() for label in labels), strict=True)
    return pa.array([" ".join(filter(None, row)) or None for row in rows], pa.string()).dictionary_encode()
