"""Executors as the cluster sees them: heap, the memory beside it, and the container that holds both. All in MiB."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.settings import MIB, bytes_setting, number_setting
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.tables.run import Run

LEAST_OVERHEAD_MIB: Final = 384  # Spark's own
OVERHEAD_RATIO: Final = 0.10  # Spark's own
EMR_OVERHEAD_RATIO: Final = 0.1875  # EMR's


class Shape(Struct, frozen=True):
    """One executor: `explicit` where the overhead was set in MiB, else it is `ratio` of the heap. `cores` is None where
    neither the setting nor the executors tell."""

    heap_mib: int
    overhead_mib: int
    explicit: bool
    ratio: float
    beside_mib: int
    cores: int | None

    @property
    def container_mib(self) -> int:
        return self.heap_mib + self.overhead_mib + self.beside_mib


@once
def shape_of(run: Run) -> Shape:
    """The shape that the settings of this run ask for."""
    heap = (bytes_setting(run, "spark.executor.memory", "1g", unit="m") // MIB) or 1024  # no JVM runs in nothing
    ratio = EMR_OVERHEAD_RATIO if run.application.vendor == "emr" else OVERHEAD_RATIO
    for factor in ("spark.yarn.executor.memoryOverheadFactor", "spark.executor.memoryOverheadFactor"):  # EMR's, Spark's
        ratio = number_setting(run, factor, ratio)
    key = "spark.executor.memoryOverhead"
    old = "spark.yarn.executor.memoryOverhead"
    set_as = key if run.setting(key) is not None else old if run.setting(old) is not None else None
    overhead = bytes_setting(run, set_as, "0", unit="m") // MIB if set_as else overhead_mib(heap, ratio)
    beside = bytes_setting(run, "spark.executor.pyspark.memory", "0", unit="m") // MIB
    if (run.setting("spark.memory.offHeap.enabled") or "").strip().lower() == "true":
        beside += bytes_setting(run, "spark.memory.offHeap.size", "0") // MIB
    return Shape(heap, overhead, set_as is not None, ratio, beside, _cores(run))


def overhead_mib(heap_mib: float, ratio: float) -> int:
    """What Spark asks for beside a heap where nothing was set."""
    return max(LEAST_OVERHEAD_MIB, int(heap_mib * ratio))


def largest_heap_mib(container_mib: int, ratio: float) -> int:
    """The largest heap that fits into a container with its overhead: the container over (1 + ratio), not times
    (1 - ratio), which gives some of it away."""
    heap = math.floor(container_mib / (1 + ratio))
    return heap if overhead_mib(heap, ratio) > LEAST_OVERHEAD_MIB else max(0, container_mib - LEAST_OVERHEAD_MIB)


def _cores(run: Run) -> int | None:
    """Cores of one executor: as set, else the commonest number that executors came with."""
    cores = int(number_setting(run, "spark.executor.cores", 0))
    if cores > 0:
        return cores
    executors = run.tables.get("executors")
    known = [count for count in executors["cores"].to_pylist() if count] if executors is not None else []
    return max(set(known), key=known.count) if known else None
