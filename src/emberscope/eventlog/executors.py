"""Executors: when they came and went, and the largest heap that any event shows of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from emberscope.eventlog.events import (
    ABSENT,
    BlockManagerAdded,
    ExecutorAdded,
    ExecutorMetricsUpdate,
    ExecutorRemoved,
    StageExecutorMetrics,
)
from emberscope.redact import Redactor, shorten
from emberscope.tables.executors import EXECUTORS


class ExecutorColumns:
    """Collects the events of executors. `peak_heap` also knows a driver that is no executor."""

    def __init__(self, redactor: Redactor) -> None:
        self.peak_heap: dict[str, int] = {}
        self._redactor = redactor
        self._executors: dict[str, dict[str, Any]] = {}
        self._memory: dict[str, int | None] = {}

    def added(self, event: ExecutorAdded) -> None:
        self._executors[event.executor_id] = {
            "executor_id": event.executor_id,
            "host": event.info.host,
            "cores": event.info.cores,
            "added_ms": event.time_ms,
            "resource_profile_id": event.info.resource_profile_id,
        }

    def removed(self, event: ExecutorRemoved) -> None:
        row = self._executors.get(event.executor_id)
        if row is not None:
            row["removed_ms"] = event.time_ms
            row["removed_reason"] = self._redactor.text(shorten(event.reason))

    def block_manager(self, event: BlockManagerAdded) -> None:
        self._memory[event.block_manager.executor_id] = event.max_memory_bytes

    def stage_metrics(self, event: StageExecutorMetrics) -> None:
        self.peak(event.executor_id, event.peaks.peak_jvm_heap_bytes)

    def metrics_update(self, event: ExecutorMetricsUpdate) -> None:
        for update in event.updates:
            self.peak(event.executor_id, update.peaks.peak_jvm_heap_bytes)

    def peak(self, executor_id: str, heap_bytes: int) -> None:
        if heap_bytes != ABSENT:
            self.peak_heap[executor_id] = max(heap_bytes, self.peak_heap.get(executor_id, 0))

    def table(self) -> pa.Table:
        """The table `executors`. A peak of 0 means that nothing was polled: null."""
        return EXECUTORS.from_rows(
            [
                row
                | {
                    "max_storage_memory_bytes": self._memory.get(executor_id),
                    "peak_jvm_heap_bytes": self.peak_heap.get(executor_id) or None,
                }
                for executor_id, row in self._executors.items()
            ]
        )
