"""Executors: when they came and went, what they have, and what befell them."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

import msgspec
import pyarrow as pa

from emberscope.eventlog.events import ABSENT, Id, Int, Record
from emberscope.redact import Redactor, shorten
from emberscope.tables.executor_events import EXECUTOR_EVENTS
from emberscope.tables.executors import EXECUTORS

field: Final = msgspec.field
_DECOMMISSIONED: Final = re.compile(r"decommission", re.IGNORECASE)

Row = dict[str, Any]


class Resource(Record, frozen=True):
    name: str | None = None
    addresses: list[str] = field(default=[])


class ExecutorInfo(Record, frozen=True):
    host: str | None = field(name="Host", default=None)
    cores: Id | None = field(name="Total Cores", default=None)
    resource_profile_id: Id | None = field(name="Resource Profile Id", default=None)
    requested_ms: Int | None = field(name="Request Time", default=None)
    registered_ms: Int | None = field(name="Registration Time", default=None)
    log_urls: dict[str, str] = field(name="Log Urls", default={})
    attributes: dict[str, str] = field(name="Attributes", default={})
    resources: dict[str, Resource] | None = field(name="Resources", default=None)


class ExecutorAdded(Record, frozen=True):
    executor_id: str = field(name="Executor ID")
    time_ms: Int | None = field(name="Timestamp", default=None)
    info: ExecutorInfo = field(name="Executor Info", default=ExecutorInfo())


class ExecutorRemoved(Record, frozen=True):
    executor_id: str = field(name="Executor ID")
    time_ms: Int | None = field(name="Timestamp", default=None)
    reason: str | None = field(name="Removed Reason", default=None)


class BlockManagerId(Record, frozen=True):
    executor_id: str = field(name="Executor ID")
    host: str | None = field(name="Host", default=None)


class BlockManagerAdded(Record, frozen=True):
    block_manager: BlockManagerId = field(name="Block Manager ID")
    max_memory_bytes: Int | None = field(name="Maximum Memory", default=None)
    max_on_heap_bytes: Int | None = field(name="Maximum Onheap Memory", default=None)
    max_off_heap_bytes: Int | None = field(name="Maximum Offheap Memory", default=None)
    time_ms: Int | None = field(name="Timestamp", default=None)


class BlockManagerRemoved(Record, frozen=True):
    block_manager: BlockManagerId | None = field(name="Block Manager ID", default=None)
    time_ms: Int | None = field(name="Timestamp", default=None)


class Exclusion(Record, frozen=True):
    """An executor or a node that gets no more tasks, or gets them again: all events that say so."""

    time_ms: Int | None = field(name="time", default=None)
    executor_id: str | None = field(name="executorId", default=None)
    host: str | None = field(name="hostId", default=None)
    stage_id: Id | None = field(name="stageId", default=None)
    stage_attempt: Id | None = field(name="stageAttemptId", default=None)
    task_failures: Id | None = field(name="taskFailures", default=None)
    executor_failures: Id | None = field(name="executorFailures", default=None)


class ProcessInfo(Record, frozen=True):
    host: str | None = field(name="hostPort", default=None)


class ProcessAdded(Record, frozen=True):
    time_ms: Int | None = field(name="time", default=None)
    process_id: str | None = field(name="processId", default=None)
    info: ProcessInfo = ProcessInfo()


EXCLUDED: Final = ("Excluded", "Blacklisted", "ExcludedForStage", "BlacklistedForStage")
UNEXCLUDED: Final = ("Unexcluded", "Unblacklisted")


class ExecutorColumns:
    """Collects the events of executors. `peak_heap` also knows a driver that is no executor."""

    def __init__(self, redactor: Redactor) -> None:
        self.peak_heap: dict[str, int] = {}
        self._redactor = redactor
        self._executors: dict[str, Row] = {}
        self._memory: dict[str, Row] = {}
        # Keyed by what they say: Spark 3.1 and later write an exclusion by its old name and by its new one.
        self._events: dict[tuple[Any, ...], None] = {}

    def added(self, event: ExecutorAdded) -> None:
        info = event.info
        self._executors[event.executor_id] = {
            "executor_id": event.executor_id,
            "host": info.host,
            "cores": info.cores,
            "added_ms": event.time_ms,
            "requested_ms": info.requested_ms,
            "registered_ms": info.registered_ms,
            "resource_profile_id": info.resource_profile_id,
            "resources": _resources(info.resources),
            "container_id": info.attributes.get("CONTAINER_ID"),
            "log_url": self._redactor.text(info.log_urls.get("stderr")),
        }
        self._event(event.time_ms, "added", event.executor_id, info.host)

    def removed(self, event: ExecutorRemoved) -> None:
        reason = self._redactor.text(shorten(event.reason))
        row = self._executors.get(event.executor_id, {})
        if row.get("removed_ms") is None:  # of one that was decommissioned Spark also tells the end of its process
            row["removed_ms"] = event.time_ms
            row["removed_reason"] = reason
            row["decommissioned"] = None if reason is None else _DECOMMISSIONED.search(reason) is not None
        self._event(event.time_ms, "removed", event.executor_id, row.get("host"), reason=reason)

    def block_manager(self, event: BlockManagerAdded) -> None:
        self._memory[event.block_manager.executor_id] = {
            "max_storage_memory_bytes": event.max_memory_bytes,
            "max_on_heap_storage_bytes": event.max_on_heap_bytes,
            "max_off_heap_storage_bytes": event.max_off_heap_bytes,
        }
        manager = event.block_manager
        self._event(event.time_ms, "block_manager_added", manager.executor_id, manager.host)

    def block_manager_removed(self, event: BlockManagerRemoved) -> None:
        if (manager := event.block_manager) is not None:
            self._event(event.time_ms, "block_manager_removed", manager.executor_id, manager.host)

    def excluded(self, event: Exclusion) -> None:
        self._exclusion("excluded", event)

    def unexcluded(self, event: Exclusion) -> None:
        self._exclusion("unexcluded", event)

    def process_added(self, event: ProcessAdded) -> None:
        host = event.info.host.rpartition(":")[0] if event.info.host else None
        self._event(event.time_ms, "process_added", event.process_id, host)

    def peak(self, executor_id: str, heap_bytes: int) -> None:
        if heap_bytes != ABSENT:
            self.peak_heap[executor_id] = max(heap_bytes, self.peak_heap.get(executor_id, 0))

    def _exclusion(self, what: str, event: Exclusion) -> None:
        failures = event.task_failures if event.executor_failures is None else event.executor_failures
        stage = (event.stage_id, event.stage_attempt)
        self._event(event.time_ms, what, event.executor_id, event.host, *stage, failures)

    def _event(
        self,
        time_ms: int | None,
        event: str,
        executor_id: str | None,
        host: str | None,
        stage_id: int | None = None,
        stage_attempt: int | None = None,
        failures: int | None = None,
        reason: str | None = None,
    ) -> None:
        self._events[time_ms, event, executor_id, host, stage_id, stage_attempt, failures, reason] = None

    def tables(self) -> dict[str, pa.Table]:
        """Tables `executors` and `executor_events`. A peak of 0 means that nothing was polled: null."""
        by_executor: Counter[str | None] = Counter()
        by_host: Counter[str | None] = Counter()
        for _, what, executor_id, host, *_ in self._events:
            if what == "excluded":
                (by_host if executor_id is None else by_executor)[host if executor_id is None else executor_id] += 1
        executors = [
            row
            | self._memory.get(executor_id, {})
            | {
                "excluded": by_executor[executor_id] + (by_host[row["host"]] if row["host"] is not None else 0),
                "peak_jvm_heap_bytes": self.peak_heap.get(executor_id) or None,
            }
            for executor_id, row in self._executors.items()
        ]
        names = [column.name for column in EXECUTOR_EVENTS.columns]
        events = [dict(zip(names, event, strict=True)) for event in sorted(self._events, key=_order)]
        for row in events:
            row["host"] = row["host"] or self._executors.get(row["executor_id"] or "", {}).get("host")
        return {"executors": EXECUTORS.from_rows(executors), "executor_events": _from_rows(events)}


def _from_rows(events: list[Row]) -> pa.Table:
    return EXECUTOR_EVENTS.from_rows(events) if events else EXECUTOR_EVENTS.empty()


def _order(event: tuple[Any, ...]) -> int:
    return event[0] if event[0] is not None else ABSENT


def _resources(resources: dict[str, Resource] | None) -> list[str] | None:
    if resources is None:
        return None
    return [f"{name}:{address}" for name, resource in resources.items() for address in resource.addresses]
