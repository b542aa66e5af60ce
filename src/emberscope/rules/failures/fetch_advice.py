"""What to do about shuffle output that could not be fetched, by the side that failed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.rules.base import Advice, set_conf
from emberscope.rules.failures.moved_away import moved_away
from emberscope.rules.memory.container import overhead_bytes
from emberscope.rules.settings import MIB, bytes_setting, is_on, memory_words, number_setting, version

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_STEP: Final = 256 * MIB
_IN_FLIGHT: Final = "spark.reducer.maxSizeInFlight"
_PER_ADDRESS: Final = "spark.reducer.maxBlocksInFlightPerAddress"
_RETRIES: Final = "spark.shuffle.io.maxRetries"


def fetch_advice(run: Run, side: str, direct_bytes: int | None) -> Iterator[Advice]:
    """`direct_bytes` is the most direct memory that the reader may have, where a line says it."""
    if side == "reader":
        yield from _reader(run, direct_bytes)
    elif side == "native":
        yield from _native(run)
    elif side == "busy":
        yield from _busy(run)
    elif side == "files":
        yield from _files(run)
    elif side == "corrupt":
        yield Advice(
            "cluster",
            "If all failures come from one host, take that machine out and look at its disks and its kernel log.",
        )
        yield Advice(
            "check", "If they come from many hosts, try another spark.io.compression.codec, and a newer release of it."
        )
    else:
        yield from _gone(run)


def _gone(run: Run) -> Iterator[Advice]:
    yield Advice(
        "check",
        "Look what took that executor away just before: “Lost executor” and ExecutorRemoved in the driver's log, then "
        "the exit code of its container and the events of its node. Mend that: more retries do not bring it back.",
    )
    yield from moved_away(run)
    if not is_on(run, "spark.shuffle.service.enabled", default=False):
        yield Advice(
            "cluster",
            "Where nodes stay but executors come and go, an external shuffle service (spark.shuffle.service.enabled) "
            "keeps the output of those that went.",
        )


def _reader(run: Run, direct_bytes: int | None) -> Iterator[Advice]:
    flight = bytes_setting(run, _IN_FLIGHT, "48m", unit="m")
    yield set_conf(
        _IN_FLIGHT,
        memory_words(max(8 * MIB, flight // 2)),
        f"Less in flight to one reader than {memory_words(flight)}.",
    )
    yield set_conf(_PER_ADDRESS, 128, "And fewer blocks at a time from one address.")
    heap = bytes_setting(run, "spark.executor.memory", "1g", unit="m")
    known = direct_bytes is not None or run.setting("spark.executor.memory") is not None
    size = f" (for example {memory_words(math.ceil(1.5 * (direct_bytes or heap) / _STEP) * _STEP)})" if known else ""
    yield Advice(
        "cluster",
        f"Or more direct memory: -XX:MaxDirectMemorySize{size} in spark.executor.extraJavaOptions (without it as much "
        "as the heap), and spark.executor.memoryOverhead by as much.",
    )


def _native(run: Run) -> Iterator[Advice]:
    heap = bytes_setting(run, "spark.executor.memory", "1g", unit="m")
    if run.setting("spark.executor.memory") is not None or run.setting("spark.executor.memoryOverhead") is not None:
        now = overhead_bytes(run, heap)
        key = (
            "spark.yarn.executor.memoryOverhead" if (0, 0) < version(run) < (2, 3) else "spark.executor.memoryOverhead"
        )
        value = math.ceil(1.5 * now / _STEP) * _STEP
        yield set_conf(key, memory_words(value), f"Half more than the {memory_words(now)} of now.")
    else:
        yield Advice("cluster", "Raise spark.executor.memoryOverhead: room for native memory beside the heap.")
    yield Advice(
        "cluster",
        "Or fewer executors per node, or smaller heaps: the sum of all processes must stay below the node's memory.",
    )


def _busy(run: Run) -> Iterator[Advice]:
    yield Advice(
        "check",
        "Look at the garbage collection of the serving executor, or at the log of the node manager for restarts and "
        "OutOfMemoryError: with an external shuffle service it is that process which serves.",
    )
    if is_on(run, "spark.shuffle.service.enabled", default=True):
        yield Advice("cluster", "Give the node manager more heap: YARN_NODEMANAGER_HEAPSIZE=10000 in yarn-env.")
    yield set_conf(_PER_ADDRESS, 128, "Fewer blocks asked of one address at a time.")
    retries = int(number_setting(run, _RETRIES, 3))
    yield set_conf(_RETRIES, max(10, 2 * retries), f"More tries than {retries}, for a server that comes back.")


def _files(run: Run) -> Iterator[Advice]:
    yield Advice(
        "check",
        "Look whether the node manager was restarted (yarn.nodemanager.recovery.enabled keeps what it knows), whether "
        "something cleans the local directories (a cleaner of /tmp), and whether a disk was taken out.",
    )
    yield Advice("cluster", "Put spark.local.dir on disks that nothing else cleans while applications run.")
