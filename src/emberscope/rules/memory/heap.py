"""How large the heaps were that tasks ran in, how full they got, and which setting sizes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from emberscope.rules.memory.recorded import HEAP, recorded_peaks
from emberscope.rules.settings import MIB, bytes_setting, is_local, is_on, number_setting, version
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.simulate.stage_figures import StageFigures
    from emberscope.tables.run import Run

RESERVED_BYTES: Final = 300 * MIB
"""What Spark keeps of each heap for itself (UnifiedMemoryManager)."""

# A heap that is reckoned from storage memory and is further than this from the setting is one that Spark reckoned
# otherwise (a vendor's formula), unless the setting is not there to compare.
_LEAST_OF_SETTING, _MOST_OF_SETTING = 0.5, 1.1


class Heap(Struct, frozen=True):
    """The heap of one executor: how much it may hold, how much of it was in use at most (None where no event says),
    its task slots, and when it came and went (epoch ms; None where not known)."""

    executor_id: str
    limit_bytes: float
    peak_bytes: float | None
    cores: int
    added_ms: int | None
    removed_ms: int | None

    @property
    def full_ratio(self) -> float | None:
        return self.peak_bytes / self.limit_bytes if self.peak_bytes is not None and self.limit_bytes else None


def heap_setting(run: Run) -> tuple[str, int]:
    """Name and value in bytes of the setting: in local mode tasks run in the driver. Spark's default is 1g."""
    key = "spark.driver.memory" if is_local(run) else "spark.executor.memory"
    # Spark takes a bare number of these two for MiB. No JVM runs in nothing.
    return key, bytes_setting(run, key, "1g", unit="m") or 1 << 30


@once
def heaps(run: Run) -> Sequence[Heap]:
    """The heap of every executor that the log names; in local mode that of the driver, which runs the tasks.

    The limit is what the JVM said (Runtime.maxMemory), taken back from the storage memory that each executor offers:
    (limit - 300 MiB) * spark.memory.fraction; else it is the setting.
    """
    table = run.tables.get("executors")
    if table is None:
        return ()
    columns = ["executor_id", "cores", "added_ms", "removed_ms", "max_on_heap_storage_bytes", "peak_jvm_heap_bytes"]
    recorded = recorded_peaks(run, HEAP)
    return tuple(
        Heap(
            row["executor_id"],
            _limit_bytes(run, row),
            max(row["peak_jvm_heap_bytes"] or 0, recorded.get(row["executor_id"], 0)) or None,
            row["cores"] or 1,
            row["added_ms"],
            row["removed_ms"],
        )
        for row in table.select(columns).to_pylist()
        if row["executor_id"] is not None
    )


def full_ratio(run: Run) -> float | None:
    """How full the fullest heap of an executor got, as a share of what it may hold; None where no event says."""
    return max((heap.full_ratio for heap in heaps(run) if heap.full_ratio is not None), default=None)


def polled_ratio(run: Run, figures: StageFigures, column: str, least_ms: float = 0.0) -> float:
    """The share of a column of tasks that lies in tasks of at least this length during which Spark looked at the heap.

    It looks with each heartbeat, every ten seconds: of a job of short tasks it may never see the peak. A recording
    looks after each collection.
    """
    if recorded_peaks(run, HEAP):
        return 1.0
    values, columns = figures.columns.amounts(column), figures.columns
    total = float(values.sum())
    long = columns.numbers("finish_ms") - columns.numbers("launch_ms") >= least_ms
    return float(values[(columns.amounts("peak_jvm_heap_bytes") > 0) & long].sum()) / total if total > 0 else 0.0


def heap_bytes(run: Run) -> float:
    """The smallest heap of an executor; the setting where no executor is known."""
    return min((heap.limit_bytes for heap in heaps(run)), default=float(heap_setting(run)[1]))


def driver_heap_bytes(run: Run) -> float:
    """The heap of the driver by its setting; in local mode as the JVM said."""
    if is_local(run):
        return heap_bytes(run)
    return float(bytes_setting(run, "spark.driver.memory", "1g", unit="m") or 1 << 30)


def memory_fraction(run: Run) -> float:
    """The share of the heap less 300 MiB that execution and storage share."""
    return number_setting(run, "spark.memory.fraction", 0.75 if version(run) == (1, 6) else 0.6)


def execution_bytes(run: Run) -> float | None:
    """Unified memory of the smallest executor, which its tasks share with what is cached: on the heap, or off it where
    that is switched on. None where no executor is known."""
    if not heaps(run):
        return None
    if is_on(run, "spark.memory.offHeap.enabled", default=False):
        return float(bytes_setting(run, "spark.memory.offHeap.size", "0"))
    return max(0.0, (heap_bytes(run) - RESERVED_BYTES) * memory_fraction(run))


def task_memory_bytes(run: Run, task_cpus: int = 1) -> float | None:
    """What each task may have of it while all slots of the smallest executor are busy."""
    unified = execution_bytes(run)
    if unified is None:
        return None
    cores = min(heaps(run), key=lambda heap: heap.limit_bytes).cores
    return unified / max(1, cores // max(1, task_cpus))


def _limit_bytes(run: Run, row: dict[str, Any]) -> float:
    setting_key, setting_bytes = heap_setting(run)
    storage, fraction = row["max_on_heap_storage_bytes"], memory_fraction(run)
    if not storage or not 0 < fraction <= 1 or is_on(run, "spark.memory.useLegacyMode", default=False):
        return float(setting_bytes)
    limit = storage / fraction + RESERVED_BYTES
    share = limit / setting_bytes
    if run.setting(setting_key) is not None and not _LEAST_OF_SETTING <= share <= _MOST_OF_SETTING:
        return float(setting_bytes)
    return float(limit)
