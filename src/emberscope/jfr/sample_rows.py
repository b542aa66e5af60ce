"""Rows of the table `samples` from the sample events of one chunk."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from emberscope.jfr.choice import MOST_SAMPLES, STATE, sleeping_keys
from emberscope.jfr.chunk import Chunk
from emberscope.jfr.clock import spans_ns, times_ns
from emberscope.jfr.events import EXECUTION_SAMPLE, SLEEPING, SampleEvent
from emberscope.jfr.references import Longs, Threads, classes, fixed, floats, longs, masked, rows_of, words
from emberscope.jfr.sampled import Traces
from emberscope.jfr.settings import cpu_period_ns, wall_period_ns
from emberscope.jfr.stacks import IS_TRUNCATED
from emberscope.tables.samples import SAMPLES

_LIMIT = 1 << 63


def counts_of(chunk: Chunk, spec: SampleEvent) -> Longs:
    """How many samples each event stands for."""
    counts = longs(chunk, spec.name, spec.count) if spec.count else None
    return np.ones(chunk.rows(spec.name), np.int64) if counts is None else np.clip(counts, 1, MOST_SAMPLES)


def sample_rows(
    chunk: Chunk, traces: Traces, threads: Threads, settings: dict[str, str], period_ns: int | None
) -> pa.Table:
    """The samples of one event type; `stack` holds nodes of the chunk's own stacks. Origin columns are null.

    `period_ns` is what a CPU sample stands for where `settings` do not say it.
    """
    spec, count = traces.spec, len(traces.keys)
    times = longs(chunk, spec.name, spec.time)
    time_ns, untimed = times_ns(chunk.header, times) if times is not None else (None, None)
    keys = longs(chunk, spec.name, spec.thread)
    thread_keys = keys if keys is not None else np.full(count, -1, np.int64)
    thread_rows = threads.rows(thread_keys)
    is_sleeping = _sleeping(chunk, spec, count)
    columns: dict[str, Any] = {
        "time_ns": masked(time_ns, untimed, count, pa.int64()),
        "event": words(is_sleeping.astype(np.int32), [spec.event, spec.sleeping or None]),
        "state": _state(chunk, spec, count),
        "variant": _variant(chunk, spec, count),
        "count": counts_of(chunk, spec),
        "value": _value(chunk, spec, settings, period_ns, is_sleeping),
        "stack": np.frombuffer(traces.nodes, np.int32),
        "truncated": (np.frombuffer(traces.flags, np.uint8) & IS_TRUNCATED) != 0,
        "thread_id": threads.java_ids(thread_keys, thread_rows),
        "os_thread_id": threads.os_ids(thread_rows),
        "thread_name": words(thread_rows, threads.names),
        "object_class": _class(chunk, spec, count),
        "task_id": _task(chunk, spec, count),
    }
    return SAMPLES.from_columns(columns)


def _sleeping(chunk: Chunk, spec: SampleEvent, count: int) -> npt.NDArray[np.bool_]:
    """Which samples are of a sleeping thread, where the type tells."""
    keys = longs(chunk, spec.name, spec.state) if spec.sleeping else None
    asleep = sleeping_keys(chunk, SLEEPING) if keys is not None else frozenset()
    if keys is None or not asleep:
        return np.zeros(count, np.bool_)
    return np.isin(keys, list(asleep))


def _state(chunk: Chunk, spec: SampleEvent, count: int) -> pa.DictionaryArray:
    keys, names = longs(chunk, spec.name, spec.state), chunk.texts(STATE, "name")
    if keys is None or names is None:
        return fixed(None, count)
    return words(rows_of(chunk, STATE, keys), names)


def _task(chunk: Chunk, spec: SampleEvent, count: int) -> Any:
    """The task that the sampler saw on the thread; null where it saw none, or does not know of tasks."""
    ids = longs(chunk, spec.name, spec.task) if spec.task else None
    return masked(ids, None if ids is None else ids < 0, count, pa.int64())


def _variant(chunk: Chunk, spec: SampleEvent, count: int) -> pa.DictionaryArray:
    number = np.full(count, 0, np.int32)
    for place, (field, _) in reversed(list(enumerate(spec.flags, 1))):
        is_set = longs(chunk, spec.name, field)
        if is_set is not None:
            number[is_set != 0] = place
    return words(number, [spec.variant or None, *(word for _, word in spec.flags)])


def _class(chunk: Chunk, spec: SampleEvent, count: int) -> pa.DictionaryArray:
    field, _, inner = spec.class_of.partition(".")
    keys = longs(chunk, spec.name, field) if field else None
    if keys is None:
        return fixed(None, count)
    if inner:  # through the pool of the struct that the field refers to
        column = chunk.layouts[chunk.metadata.by_name[spec.name].id].columns[field]
        pool = chunk.metadata.name_of(column.pool) if column.pool is not None else ""
        within = longs(chunk, pool, inner)
        if within is None:
            return fixed(None, count)
        keys = np.append(within, 0)[rows_of(chunk, pool, keys)]
    return classes(chunk, keys)


def _value(
    chunk: Chunk,
    spec: SampleEvent,
    settings: dict[str, str],
    period_ns: int | None,
    is_sleeping: npt.NDArray[np.bool_],
) -> Any:
    """The weight in ns or bytes, null where it is not said or does not fit."""
    count = len(is_sleeping)
    if spec.name == EXECUTION_SAMPLE:
        periods = [cpu_period_ns(settings) or period_ns, wall_period_ns(settings)]
        which = is_sleeping.astype(np.int8)
        absent = np.array([period is None for period in periods])[which]
        return pa.array(np.array([period or 0 for period in periods], np.int64)[which], mask=absent)
    values = longs(chunk, spec.name, spec.value) if spec.value else None
    if values is None:
        return pa.nulls(count, pa.int64())
    if spec.unit:
        unit = chunk.metadata.timespan_unit(spec.name, spec.value) or spec.unit
        return masked(*spans_ns(chunk.header, values, unit), count, pa.int64())
    factors = floats(chunk, spec.name, spec.times) if spec.times else None
    if factors is None:
        return pa.array(values)
    with np.errstate(all="ignore"):
        product = np.rint(values * factors)
    outside = ~(np.abs(product) < _LIMIT)
    return pa.array(np.where(outside, 0, product).astype(np.int64), mask=outside)
