"""Which way a change pulls: settings by what they have more of, so that no patch pulls both ways at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from emberscope.settings.catalog import setting_of
from emberscope.tuning.situation import Situation, as_number


class Pull(Struct, frozen=True):
    """`axis`: what there is more of (+1) or less (-1)."""

    axis: str
    sign: int


# Setting to axis, and whether a larger value means more of it.
_AXES: Final[Mapping[str, tuple[str, int]]] = {
    "spark.executor.memory": ("memory of a task", 1),
    "spark.executor.cores": ("memory of a task", -1),
    "spark.task.cpus": ("memory of a task", 1),
    "spark.memory.fraction": ("memory of a task", 1),
    "spark.driver.memory": ("memory of the driver", 1),
    "spark.executor.memoryOverhead": ("memory beside the heap", 1),
    "spark.executor.memoryOverheadFactor": ("memory beside the heap", 1),
    "spark.executor.instances": ("executors", 1),
    "spark.dynamicAllocation.maxExecutors": ("executors", 1),
    "spark.dynamicAllocation.executorAllocationRatio": ("executors", 1),
    "spark.cores.max": ("executors", 1),
    "spark.sql.shuffle.partitions": ("rows of a shuffle partition", -1),
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum": ("rows of a shuffle partition", -1),
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": ("rows of a shuffle partition", 1),
    "spark.sql.adaptive.coalescePartitions.minPartitionSize": ("rows of a shuffle partition", 1),
    "spark.sql.files.maxPartitionBytes": ("bytes of a read partition", 1),
    "spark.sql.files.minPartitionNum": ("bytes of a read partition", -1),
    "spark.sql.files.maxPartitionNum": ("bytes of a read partition", 1),
    "spark.sql.autoBroadcastJoinThreshold": ("broadcasts", 1),
    "spark.sql.adaptive.autoBroadcastJoinThreshold": ("broadcasts", 1),
}

# Ways to the same end of which one at a time is enough: both together would give twice what was computed.
_LEVERS: Final[Mapping[str, str]] = {
    "spark.executor.memory": "memory",
    "spark.memory.fraction": "fraction",
    "spark.executor.cores": "cores",
    "spark.sql.shuffle.partitions": "partitions",
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum": "partitions",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "partitions",
}

# Settings that are only ever set with others: a finding that names one of them asks for a whole shape of executors.
_SHAPE: Final = frozenset({"spark.executor.memoryOverhead", "spark.executor.instances"})


def pull(key: str, value: str | None, situation: Situation) -> Pull | None:
    """Which way this value pulls from what held in the run; None where that cannot be told."""
    if key not in _AXES or value is None:
        return None
    axis, sign = _AXES[key]
    now, then = _effective(key, situation), as_number(key, value)
    if now is None or then is None or now == then:
        return None
    return Pull(axis, sign if then > now else -sign)


def _effective(key: str, situation: Situation) -> float | None:
    """The number that held; what Spark itself falls back on where nothing was set."""
    now = situation.number(key)
    if now is None and key == "spark.executor.instances":
        return 2.0  # what YARN and Kubernetes start without the setting
    if now is None and key == "spark.executor.memoryOverhead":
        heap = situation.number("spark.executor.memory")
        return max(384.0, 0.1 * heap) if heap is not None else None
    if now is None and key == "spark.sql.adaptive.autoBroadcastJoinThreshold":
        return situation.number("spark.sql.autoBroadcastJoinThreshold")
    if now is None and key == "spark.sql.adaptive.coalescePartitions.initialPartitionNum":
        return situation.number("spark.sql.shuffle.partitions")
    if now is None and (setting := setting_of(key)) is not None and key.endswith("maxExecutors"):
        return setting.high or float("inf")
    return now


def lever(key: str, situation: Situation) -> str | None:
    """By what a setting gives a task more memory: in local mode tasks run in the driver's."""
    if key == "spark.driver.memory" and situation.local:
        return "memory"
    return _LEVERS.get(key)


def is_shape(settings: frozenset[str]) -> bool:
    """Whether these settings of one finding are a shape of executors that belongs together."""
    return "spark.executor.cores" in settings and "spark.executor.memory" in settings and bool(settings & _SHAPE)
