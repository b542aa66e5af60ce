"""Peaks of executors' memory: of stages, and of heartbeats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
from msgspec.structs import astuple, fields

from emberscope.eventlog.events import ABSENT, Id, Int, Record
from emberscope.tables.executor_metrics import EXECUTOR_METRICS

field: Final = msgspec.field
_NO_STAGE: Final = -1
PART_ROWS: Final = 20_000


class MetricPeaks(Record, frozen=True):
    """All metrics of an executor, in the order of the table's columns."""

    jvm_heap_bytes: Int = field(name="JVMHeapMemory", default=ABSENT)
    jvm_off_heap_bytes: Int = field(name="JVMOffHeapMemory", default=ABSENT)
    on_heap_execution_bytes: Int = field(name="OnHeapExecutionMemory", default=ABSENT)
    off_heap_execution_bytes: Int = field(name="OffHeapExecutionMemory", default=ABSENT)
    on_heap_storage_bytes: Int = field(name="OnHeapStorageMemory", default=ABSENT)
    off_heap_storage_bytes: Int = field(name="OffHeapStorageMemory", default=ABSENT)
    on_heap_unified_bytes: Int = field(name="OnHeapUnifiedMemory", default=ABSENT)
    off_heap_unified_bytes: Int = field(name="OffHeapUnifiedMemory", default=ABSENT)
    direct_pool_bytes: Int = field(name="DirectPoolMemory", default=ABSENT)
    mapped_pool_bytes: Int = field(name="MappedPoolMemory", default=ABSENT)
    process_jvm_virtual_bytes: Int = field(name="ProcessTreeJVMVMemory", default=ABSENT)
    process_jvm_rss_bytes: Int = field(name="ProcessTreeJVMRSSMemory", default=ABSENT)
    process_python_virtual_bytes: Int = field(name="ProcessTreePythonVMemory", default=ABSENT)
    process_python_rss_bytes: Int = field(name="ProcessTreePythonRSSMemory", default=ABSENT)
    process_other_virtual_bytes: Int = field(name="ProcessTreeOtherVMemory", default=ABSENT)
    process_other_rss_bytes: Int = field(name="ProcessTreeOtherRSSMemory", default=ABSENT)
    minor_gc_count: Int = field(name="MinorGCCount", default=ABSENT)
    minor_gc_ms: Int = field(name="MinorGCTime", default=ABSENT)
    major_gc_count: Int = field(name="MajorGCCount", default=ABSENT)
    major_gc_ms: Int = field(name="MajorGCTime", default=ABSENT)
    total_gc_ms: Int = field(name="TotalGCTime", default=ABSENT)
    concurrent_gc_count: Int = field(name="ConcurrentGCCount", default=ABSENT)
    concurrent_gc_ms: Int = field(name="ConcurrentGCTime", default=ABSENT)


class StageExecutorMetrics(Record, frozen=True):
    executor_id: str = field(name="Executor ID")
    stage_id: Id = field(name="Stage ID", default=_NO_STAGE)
    stage_attempt: Id = field(name="Stage Attempt ID", default=_NO_STAGE)
    peaks: MetricPeaks = field(name="Executor Metrics", default=MetricPeaks())


class ExecutorUpdate(Record, frozen=True):
    stage_id: Id = field(name="Stage ID", default=_NO_STAGE)
    stage_attempt: Id = field(name="Stage Attempt ID", default=_NO_STAGE)
    peaks: MetricPeaks = field(name="Executor Metrics", default=MetricPeaks())


class ExecutorMetricsUpdate(Record, frozen=True):
    executor_id: str = field(name="Executor ID")
    updates: list[ExecutorUpdate] = field(name="Executor Metrics Updated", default=[])


_PEAKS: Final = [f.name for f in fields(MetricPeaks)]
_PROCESS: Final = [name for name in _PEAKS if name.startswith("process_")]
_COLUMNS: Final = ["executor_id", "source", "stage_id", "stage_attempt", "after_ms", *_PEAKS]
_SOURCES: Final = ("stage", "heartbeat")


class ExecutorMetricColumns:
    """Collects peaks; `heap` is told each peak of the heap, and `clock` says the latest time known (`ABSENT`: none).

    Rows are passed to `into` a part at a time; without it they are kept for `table`, but only with `keep`.
    """

    def __init__(
        self,
        heap: Callable[[str, int], None],
        clock: Callable[[], int],
        into: Callable[[pa.Table], None] | None = None,
        *,
        keep: bool = True,
    ) -> None:
        self._heap = heap
        self._keep = keep
        self._into = into
        self._clock = clock
        self._executors: dict[str, int] = {}
        self._rows: list[tuple[int, ...]] = []
        self._blocks: list[Any] = []

    def stage_metrics(self, event: StageExecutorMetrics) -> None:
        self._add(0, event.executor_id, event.stage_id, event.stage_attempt, event.peaks)

    def metrics_update(self, event: ExecutorMetricsUpdate) -> None:
        for update in event.updates:
            self._add(1, event.executor_id, update.stage_id, update.stage_attempt, update.peaks)

    def _add(self, source: int, executor_id: str, stage_id: int, stage_attempt: int, peaks: MetricPeaks) -> None:
        self._heap(executor_id, peaks.jvm_heap_bytes)
        if not self._keep:
            return
        executor = self._executors.setdefault(executor_id, len(self._executors))
        stage = (ABSENT, ABSENT) if stage_id == _NO_STAGE else (stage_id, stage_attempt)
        self._rows.append((executor, source, *stage, self._clock(), *astuple(peaks)))
        if len(self._rows) >= PART_ROWS:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            self._blocks.append(np.ascontiguousarray(np.array(self._rows, dtype=np.int64).T))
            self._rows = []
            if self._into is not None:
                self._into(self._take())

    def table(self) -> pa.Table:
        """The table `executor_metrics`, or nothing of it where it was passed on.

        What was not polled, which Spark writes as 0, is null.
        """
        self._flush()
        return self._take() if self._blocks else EXECUTOR_METRICS.empty()

    def _take(self) -> pa.Table:
        at = {name: np.concatenate([block[i] for block in self._blocks]) for i, name in enumerate(_COLUMNS)}
        self._blocks = []
        not_polled = at["jvm_heap_bytes"] == 0
        no_processes = at["process_jvm_virtual_bytes"] == 0
        columns: dict[str, Any] = {
            "executor_id": _category(at.pop("executor_id"), list(self._executors)),
            "source": _category(at.pop("source"), list(_SOURCES)),
        }
        for name, values in at.items():
            unknown = values == ABSENT
            if name in _PROCESS:
                unknown |= no_processes
            elif name in _PEAKS:
                unknown |= not_polled
            columns[name] = pa.array(values, mask=unknown)
        return EXECUTOR_METRICS.from_columns(columns)


def _category(codes: Any, texts: list[str]) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(texts, pa.string()))
