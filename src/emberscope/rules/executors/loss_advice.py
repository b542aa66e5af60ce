"""What to do about executors that go away: by why they went, with values of this run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.rules.base import Advice, set_conf
from emberscope.rules.executors.removals import Why
from emberscope.rules.settings import MIB, bytes_setting, is_on, memory_words, number_setting, version

if TYPE_CHECKING:
    from emberscope.rules.executors.lost_work import LostWork
    from emberscope.tables.run import Run

_STEP: Final = 256 * MIB


def loss_advice(run: Run, lost: LostWork, culprit: tuple[int, int] | None) -> Iterator[Advice]:
    if culprit is not None:
        yield Advice(
            "check",
            f"Find out what task {culprit[1]} of stage {culprit[0]} reads: a partition that is far larger than the "
            "others, or a value that makes native code crash. Its input, taken alone, should show it.",
        )
    whys = Counter(one.why for one in lost.removed)
    why: Why = whys.most_common(1)[0][0] if whys else "crash"
    if why == "memory":
        yield from _container_memory(run)
    elif why == "heap":
        yield from _heap(run)
    elif why in ("decommissioned", "preempted", "node", "terminated"):
        yield from _taken_back(run, why)
    elif why == "asked":
        yield from _let_go(run)
    elif why == "heartbeat":
        yield Advice(
            "check",
            "Look at the garbage collection of this executor and at the load of its machine: an executor that is "
            "silent for spark.network.timeout is given up.",
        )
    elif why == "disk":
        yield Advice("cluster", "Give the nodes more local disk (spark.local.dir), or more nodes with one each.")
    yield Advice(
        "check",
        "Read the end of the standard error of "
        + (f"executor {lost.removed[0].executor_id}" if lost.removed else "the executor")
        + " and the cluster manager's diagnostics: the event log holds no more than the reason above.",
    )


def _container_memory(run: Run) -> Iterator[Advice]:
    master = run.application.master or run.setting("spark.master") or ""
    heap = bytes_setting(run, "spark.executor.memory", "1g", unit="m")
    if master.startswith(("spark:", "local")):
        yield Advice(
            "check",
            "Exit code 137 is a kill by signal 9: look for the kernel's out-of-memory killer in `dmesg` of the host. "
            "Spark's standalone workers do not limit an executor's memory: where that killer ended it, the machine as "
            "a whole was full; where dmesg has no line of it, a person or a program sent the signal.",
        )
        return
    factor = number_setting(run, "spark.executor.memoryOverheadFactor", 0.1)
    usual = max(384 * MIB, factor * heap)
    now = bytes_setting(run, "spark.executor.memoryOverhead", f"{round(usual / MIB)}m", unit="m")
    value = math.ceil(1.5 * now / _STEP) * _STEP
    yield set_conf(
        "spark.executor.memoryOverhead",
        memory_words(value),
        f"Memory of the container beside the heap (Python workers, native buffers, threads): half as much again as the "
        f"{memory_words(now)} of this run.",
    )
    cores = int(number_setting(run, "spark.executor.cores", 1))
    if cores > 2:
        yield set_conf(
            "spark.executor.cores",
            max(2, cores - 1),
            f"Or fewer tasks that share the same memory: {cores} ran at one time in one executor.",
        )


def _heap(run: Run) -> Iterator[Advice]:
    heap = bytes_setting(run, "spark.executor.memory", "1g", unit="m")
    yield set_conf(
        "spark.executor.memory",
        memory_words(math.ceil(1.5 * heap / _STEP) * _STEP),
        f"Half as much heap again as the {memory_words(heap)} of this run; or more partitions, so that a task holds "
        "less.",
    )


def _taken_back(run: Run, why: Why) -> Iterator[Advice]:
    if version(run) >= (3, 1):
        for key, text in (
            ("spark.decommission.enabled", "Lets an executor that is told to go finish what it can."),
            ("spark.storage.decommission.enabled", "It hands its blocks to others before it goes."),
            ("spark.storage.decommission.shuffleBlocks.enabled", "Shuffle output too, so that no stage runs again."),
        ):
            default = key.endswith("shuffleBlocks.enabled") and version(run) >= (3, 4)
            if not is_on(run, key, default=default):
                yield set_conf(key, "true", text)
    if why != "decommissioned":
        yield Advice(
            "cluster",
            "Ask the cluster manager why the node or its place was taken (spot price, queue limits, a full disk), "
            "and keep what must not be lost on nodes that stay.",
        )


def _let_go(run: Run) -> Iterator[Advice]:
    tracked = is_on(run, "spark.dynamicAllocation.shuffleTracking.enabled", default=version(run) >= (3, 4))
    if not tracked and not is_on(run, "spark.shuffle.service.enabled", default=False):
        yield set_conf(
            "spark.dynamicAllocation.shuffleTracking.enabled",
            "true",
            "Dynamic allocation let executors go whose shuffle output was still needed; this keeps them.",
        )
        return
    yield set_conf(
        "spark.dynamicAllocation.executorIdleTimeout",
        "300s",
        "Dynamic allocation let executors go whose output was needed later; this lets them stay longer.",
    )
