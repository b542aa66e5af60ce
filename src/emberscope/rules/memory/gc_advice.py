"""What to do about garbage collection: room where the heap is full, less garbage where it is not."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.rules.base import Advice, set_conf
from emberscope.rules.memory.heap import heap_setting
from emberscope.rules.settings import MIB, is_local, memory_words, number_setting
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# The heap is raised by half, and doubled where collection takes a fifth of the time and more: enough to see a change,
# not so much that nodes do not hold it (proposal).
_MORE_HEAP: Final = ((0.2, 2.0), (0.0, 1.5))
# A task that has so much heap already is not helped by more (a core with 8 GiB is called well served by others).
_ENOUGH_BYTES: Final = 8192 * MIB
# G1 pays from here on (proposal).
_LARGE_HEAP_BYTES: Final = 4096 * MIB
_OLD_COLLECTORS: Final = re.compile(r"-XX:\+Use(Serial|Parallel|ParallelOld|ConcMarkSweep)GC")


def advice_for(run: Run, ratio: float, *, has_room: bool) -> Iterator[Advice]:
    """`ratio` is the share of task time in collection; with `has_room` the heap is known not to have been full."""
    key, heap = heap_setting(run)
    cores = int(number_setting(run, "spark.executor.cores", 1))
    yield from _collector(run, heap)
    if not has_room and heap / max(1, cores) < _ENOUGH_BYTES:
        factor = next(factor for least, factor in _MORE_HEAP if ratio >= least)
        value = memory_words(math.ceil(factor * heap / (256 * MIB)) * 256 * MIB)
        more = "Half more room than" if factor < 2 else "Twice the room of"
        yield set_conf(key, value, f"{more} the {format_bytes(heap)} of now.")
    if not has_room and cores > 1 and not is_local(run):
        yield set_conf(
            "spark.executor.cores",
            max(1, cores // 2),
            f"Or, in place of more memory: fewer tasks at one time share the heap (now {cores}).",
        )
    if has_room:
        yield Advice(
            "check",
            "The heap never got half full, so more memory is no cure: look at who makes the garbage (the allocation "
            "samples of the stage): objects, boxed numbers and strings made per row.",
        )
    else:
        yield Advice(
            "check",
            "Look at what stays alive: cached data that nothing reads again (`unpersist`), lists collected per key, "
            "large broadcasts. The allocation samples of the stage show who makes the garbage.",
        )


def _collector(run: Run, heap: int) -> Iterator[Advice]:
    side = "driver" if is_local(run) else "executor"
    key = f"spark.{side}.extraJavaOptions"
    options = run.setting(key) or ""
    found = _OLD_COLLECTORS.search(options)
    if found is not None and heap >= _LARGE_HEAP_BYTES:
        yield set_conf(
            key,
            _OLD_COLLECTORS.sub("-XX:+UseG1GC", options),
            f"{found[0]} "
            + (
                "is gone from Java 14 on, and stops all tasks for a full collection where it cannot keep up; G1 clears "
                "a large heap piece by piece."
                if found[1] == "ConcMarkSweep"
                else "stops all tasks for each full collection; G1 does most of that work beside them."
            ),
        )
