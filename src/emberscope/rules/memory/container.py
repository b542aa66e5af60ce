"""The container of an executor: how much it may take, and how much its processes took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from msgspec import Struct

from emberscope.rules.memory.heap import heap_setting
from emberscope.rules.memory.recorded import RSS, recorded_peaks
from emberscope.rules.settings import MIB, bytes_setting, is_on, number_setting
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

# What YARN, Kubernetes and Spark say of an executor that was ended for its memory.
KILLED: Final = (
    r"(?i)exceeding (?:physical |virtual )?memory limits|beyond the '(?:PHYSICAL|VIRTUAL)' memory limit"
    r"|possible container OOM|OOMKilled"
)
PYSPARK_MEMORY: Final = "spark.executor.pyspark.memory"
OVERHEAD: Final = "spark.executor.memoryOverhead"
_PROCESSES: Final = ("process_jvm_rss_bytes", "process_python_rss_bytes", "process_other_rss_bytes")
# What vendors and cluster managers add to the heap where nothing is set: Spark's own tenth, a bit more for programs
# that are not Java on Kubernetes, and what EMR sets.
_FACTOR, _KUBERNETES_PYTHON_FACTOR, _EMR_FACTOR = 0.1, 0.4, 0.1875


class Container(Struct, frozen=True):
    """What a container of an executor holds, in bytes; each part is 0 where it was not asked for."""

    heap_bytes: int
    overhead_bytes: int
    off_heap_bytes: int
    python_bytes: int

    @property
    def limit_bytes(self) -> int:
        return self.heap_bytes + self.overhead_bytes + self.off_heap_bytes + self.python_bytes


class ProcessPeak(Struct, frozen=True):
    """The most memory that the processes of one executor took (resident, in bytes), all together and by kind.

    Each figure is a peak of its own, so `together_bytes` may be a little more than was ever taken at one time.
    `recorded`: a recording says it, which knows the JVM alone.
    """

    executor_id: str
    together_bytes: float
    jvm_bytes: float
    python_bytes: float
    recorded: bool = False


def has_container(run: Run) -> bool:
    """Whether a cluster manager ends an executor that takes more than it asked for: YARN and Kubernetes do."""
    master = run.application.master or run.setting("spark.master") or ""
    return master.startswith(("yarn", "k8s"))


def container(run: Run) -> Container:
    """The container that executors asked for, by the settings and the defaults of the cluster manager."""
    _, heap = heap_setting(run)
    off_heap = bytes_setting(run, "spark.memory.offHeap.size", "0")
    return Container(
        heap,
        overhead_bytes(run, heap),
        off_heap if is_on(run, "spark.memory.offHeap.enabled", default=False) else 0,
        bytes_setting(run, PYSPARK_MEMORY, "0", unit="m"),
    )


def overhead_bytes(run: Run, heap: int) -> int:
    """Memory beside the heap: as set, else a share of the heap and at least 384 MiB."""
    for key in (OVERHEAD, "spark.yarn.executor.memoryOverhead"):
        if run.setting(key) is not None:
            return bytes_setting(run, key, "384m", unit="m")
    least = bytes_setting(run, "spark.executor.minMemoryOverhead", "384m", unit="m")
    return max(least, round(_overhead_factor(run) * heap))


@once
def process_peaks(run: Run) -> Mapping[str, ProcessPeak]:
    """The peaks of each executor's processes; empty where Spark did not poll them and nothing was recorded."""
    return _polled(run) or {
        one: ProcessPeak(one, value, value, 0.0, recorded=True)
        for one, value in recorded_peaks(run, RSS).items()
        if one != "driver"
    }


def _polled(run: Run) -> Mapping[str, ProcessPeak]:
    table = run.tables.get("executor_metrics")
    if table is None or table.num_rows == 0:
        return {}
    values = [_amounts(table, name) for name in _PROCESSES]
    known = ~np.isnan(values[0])
    ids = np.array(table["executor_id"].cast(pa.string()).to_pylist(), dtype=object)[known]
    jvm, python, other = (np.nan_to_num(column[known]) for column in values)
    together = jvm + python + other
    found = {}
    for executor_id in sorted({one for one in ids.tolist() if one is not None and one != "driver"}):
        mine = ids == executor_id
        found[executor_id] = ProcessPeak(
            executor_id, float(together[mine].max()), float(jvm[mine].max()), float(python[mine].max())
        )
    return found


def _overhead_factor(run: Run) -> float:
    default = _FACTOR
    if run.application.vendor == "emr":
        default = _EMR_FACTOR
    elif (run.setting("spark.kubernetes.resource.type") or "java") not in ("java", "scala"):
        default = _KUBERNETES_PYTHON_FACTOR
    default = number_setting(run, "spark.kubernetes.memoryOverheadFactor", default)
    return number_setting(run, "spark.executor.memoryOverheadFactor", default)


def _amounts(table: pa.Table, name: str) -> NDArray[np.float64]:
    return np.asarray(table[name].cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def rounded_up(size_bytes: float, step_bytes: int = 128 * MIB) -> int:
    """A size for a setting: the next multiple of a step."""
    return -(-round(size_bytes) // step_bytes) * step_bytes
