"""Which task a sample belongs to: a join on process, thread and time with the task spans of the same recording.

Never by thread name: a recorder keeps one name per thread and chunk, and Spark renames its threads with every task.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.profile.ancestry import nodes_holding
from emberscope.tables.spans import SPANS

_COPIED: Final = ("stage_id", "stage_attempt", "task_id", "partition", "sql_execution_id")
_PROCESS: Final = ("role", "executor_id")
_FOREVER: Final = np.iinfo(np.int64).max


def intervals(spans: pa.Table) -> pa.Table:
    """One row per task and thread: the sightings of `spans` put together, ordered by process, thread and start.

    A task is seen when it starts (end null) and again when it ends, in another chunk or never. The earliest start and
    the latest end count. A task that was never seen to end stays open: its `end_ns` is that of the next start on its
    thread, and where nothing follows it is null, "until the end of the recording". A lost chunk can hide both an end
    and what followed it; then the open span reaches to the next start that was seen.
    """
    if spans.num_rows == 0:
        return SPANS.empty()
    table = spans.unify_dictionaries().combine_chunks()
    key = codes([table[name] for name in (*_PROCESS, "thread_id", "task_id")])
    start = table["start_ns"].to_numpy()
    end = table["end_ns"].fill_null(-1).to_numpy()
    # The sighting that knows the most is the row that stays: one with an end, else the first start.
    order = np.lexsort((start, -end, key))
    first = np.flatnonzero(np.r_[True, np.diff(key[order]) != 0])
    kept = order[first]
    starts = np.minimum.reduceat(start[order], first)
    ends = end[kept]
    cpu_starts, cpus = _thread_cpu(table, order, first)
    thread = codes([table[name].take(pa.array(kept)) for name in (*_PROCESS, "thread_id")])
    order = np.lexsort((kept, starts, thread))
    kept, starts, ends, thread = kept[order], starts[order], ends[order], thread[order]
    cpu_starts, cpus = cpu_starts[order], cpus[order]
    follows = np.r_[thread[1:] == thread[:-1], False]
    next_start = np.where(follows, np.r_[starts[1:], 0], -1)
    ends = np.where(ends < 0, next_start, ends)
    result = table.take(pa.array(kept))
    for name, values in (
        ("start_ns", pa.array(starts)),
        ("end_ns", pa.array(ends, mask=ends < 0)),
        ("cpu_start_ns", pa.array(cpu_starts, mask=cpu_starts < 0)),
        ("cpu_ns", pa.array(cpus, mask=cpus < 0)),
    ):
        result = result.set_column(result.schema.get_field_index(name), SPANS.schema().field(name), values)
    return result


def _thread_cpu(
    table: pa.Table, order: npt.NDArray[np.int64], first: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """CPU time of its thread at the first sighting of each task, and from there to its end; -1 where not known."""
    cpu_start = table["cpu_start_ns"].fill_null(_FOREVER).to_numpy()[order]
    used = table["cpu_ns"].fill_null(-1).to_numpy()[order][first]
    earliest = np.minimum.reduceat(cpu_start, first)
    known = used >= 0
    used = np.where(known, used + np.where(known, cpu_start[first], 0) - np.where(known, earliest, 0), -1)
    return np.where(earliest == _FOREVER, -1, earliest), used


def attribute(samples: pa.Table, spans: pa.Table, stacks: pa.Table, frames: pa.Table) -> pa.Table:
    """`samples` with stage_id, stage_attempt, task_id, partition, sql_execution_id and in_span filled in.

    A sample that has a task_id is of that task: its sampler asked what ran on the thread, before and after. Any other
    belongs to the task that was the last to start on its thread of its process (role, executor) at or before its time,
    if that task had not ended then (`start <= time < end`). In both cases `in_span` is true.

    Spark calls the hook that opens a span after the task was deserialised, and closes it before the result is
    serialised. A sample outside any span whose stack holds `Executor$TaskRunner.run` is therefore given to the next
    span of its thread, or to the previous one where none follows, with `in_span` false. The possible error is bounded:
    between two spans of a thread lie only the end of the one task (its result) and the beginning of the next, and a
    task that failed before its body began, which has no span of its own.

    All other samples (helper threads, the driver) keep what they have: null, from a reader. Row order stays. `stacks`
    and `frames` are those that `samples` refers to.
    """
    is_told = samples["task_id"].is_valid().to_numpy()
    if spans.num_rows == 0:
        return _fill(samples, "in_span", pa.array(is_told), pa.array(is_told)) if is_told.any() else samples
    if samples.num_rows == 0:
        return samples
    spans = intervals(spans)
    samples = samples.unify_dictionaries()
    thread = codes([pa.chunked_array([*plain(spans[n]), *plain(samples[n])]) for n in (*_PROCESS, "thread_id")])
    span_thread, sample_thread = thread[: spans.num_rows], thread[spans.num_rows :]
    starts, times = spans["start_ns"].to_numpy(), samples["time_ns"].to_numpy()
    ends = spans["end_ns"].fill_null(_FOREVER).to_numpy()

    # One integer orders thread and time together: the rank of a time among all starts never overflows, as a
    # timestamp shifted beside a thread number would.
    distinct = np.unique(starts)
    width = len(distinct) + 1
    keys = span_thread * width + np.searchsorted(distinct, starts, side="right")
    order = np.argsort(keys, kind="stable")
    wanted = sample_thread * width + np.searchsorted(distinct, times, side="right")
    last = np.searchsorted(keys[order], wanted, side="right") - 1

    before = _on_thread(order, last, span_thread, sample_thread)
    in_span = (before >= 0) & (times < ends[before])
    after = _on_thread(order, last + 1, span_thread, sample_thread)
    neighbour = np.where(after >= 0, after, before)
    of_task = nodes_holding(stacks, frames)[samples["stack"].fill_null(0).to_numpy()]
    row = np.where(in_span, before, np.where(of_task, neighbour, -1))
    row = np.where(is_told, _of_told_task(samples, spans), row)
    in_span |= is_told

    found = pa.array(row >= 0)
    taken = pa.array(row, mask=row < 0)
    for name in _COPIED:
        samples = _fill(samples, name, found, spans[name].take(taken))
    return _fill(samples, "in_span", pa.array((row >= 0) | is_told), pa.array(in_span))


def _of_told_task(samples: pa.Table, spans: pa.Table) -> npt.NDArray[np.int64]:
    """The span of the task that each sample names, or -1 where no span of its process is of that task."""
    task = codes([pa.chunked_array([*plain(spans[n]), *plain(samples[n])]) for n in (*_PROCESS, "task_id")])
    of_spans, of_samples = task[: spans.num_rows], task[spans.num_rows :]
    order = np.argsort(of_spans, kind="stable")
    place = np.searchsorted(of_spans[order], of_samples)
    span = np.append(order, -1)[place]
    is_same = np.append(of_spans, -1)[span] == of_samples
    return np.where(is_same, span, -1)


def _on_thread(
    order: npt.NDArray[np.int64],
    position: npt.NDArray[np.int64],
    span_thread: npt.NDArray[np.int64],
    sample_thread: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """The span at each position of `order`, or -1 where there is none or it ran on another thread."""
    inside = (position >= 0) & (position < len(order))
    span = order[np.where(inside, position, 0)]
    return np.where(inside & (span_thread[span] == sample_thread), span, -1)


def _fill(table: pa.Table, name: str, found: pa.Array, values: pa.Array) -> pa.Table:
    index = table.schema.get_field_index(name)
    field = table.schema.field(index)
    return table.set_column(index, field, pc.if_else(found, values, table[name]).cast(field.type))


def plain(column: pa.ChunkedArray) -> list[pa.Array]:
    """The chunks of a column without dictionaries, so that columns of two tables compare by value."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(pa.string())
    return column.chunks  # type: ignore[no-any-return]


def codes(columns: list[pa.ChunkedArray]) -> npt.NDArray[np.int64]:
    """One small integer per distinct combination of values; null is a value like any other."""
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        encoded = pc.dictionary_encode(pa.chunked_array(plain(column), type=_plain_type(column)))
        encoded = encoded.combine_chunks()
        part = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False).astype(np.int64)
        code = np.unique(code * (len(encoded.dictionary) + 1) + part, return_inverse=True)[1].astype(np.int64)
    return code


def _plain_type(column: pa.ChunkedArray) -> pa.DataType:
    return pa.string() if pa.types.is_dictionary(column.type) else column.type
