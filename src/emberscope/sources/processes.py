"""Work on many things side by side, in processes, with the results in the order of the things."""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

MOST_PROCESSES: Final = 16
_AHEAD: Final = 2
"""Results that wait for their turn, per process: they are in memory."""


def useful_processes() -> int:
    """How many processes have a core each; one where this is such a process already."""
    if multiprocessing.parent_process() is not None:
        return 1
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return min(len(allowed), MOST_PROCESSES)


def in_processes(
    function: Callable[[_Item], _Result],
    items: Sequence[_Item],
    lost: Callable[[_Item], _Result],
    processes: int,
) -> Iterator[_Result]:
    """The results of `function` for the items, in their order, made by so many processes.

    With one, all is done here, when its result is asked for. `function`, items and results must be picklable. Where a
    process dies, of memory for one, its item is tried once more with nothing beside it; `lost` makes the result of an
    item that kills its process again. Temporary files of the processes are gone at the end, however they ended.
    """
    if processes <= 1 or len(items) <= 1:
        yield from map(function, items)
        return
    with tempfile.TemporaryDirectory(prefix="emberscope-work-") as scratch:
        position = 0
        while position < len(items):
            for result in _until_broken(function, items[position:], processes, scratch):
                position += 1
                yield result
            if position < len(items):
                yield from _alone(function, items[position], lost, scratch)
                position += 1


def _until_broken(
    function: Callable[[_Item], _Result], items: Sequence[_Item], processes: int, scratch: str
) -> Iterator[_Result]:
    from concurrent.futures.process import BrokenProcessPool

    pool = _pool(min(processes, len(items)), scratch, function)
    working: deque[Future[_Result]] = deque()
    rest = iter(items)
    try:
        for item in rest:
            working.append(pool.submit(function, item))
            if len(working) >= processes * _AHEAD:
                yield working.popleft().result()
        while working:
            yield working.popleft().result()
    except BrokenProcessPool:
        return
    finally:
        pool.shutdown(cancel_futures=True)


def _alone(
    function: Callable[[_Item], _Result], item: _Item, lost: Callable[[_Item], _Result], scratch: str
) -> Iterator[_Result]:
    from concurrent.futures.process import BrokenProcessPool

    with _pool(1, scratch, function) as pool:
        try:
            yield pool.submit(function, item).result()
        except BrokenProcessPool:
            yield lost(item)


def _pool(processes: int, scratch: str, function: Callable[..., object]) -> ProcessPoolExecutor:
    from concurrent.futures import ProcessPoolExecutor

    # Not `fork`: Arrow's threads may hold locks that nobody would give back.
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    if "forkserver" in methods:
        # What all of them need is imported once, before they part.
        context.set_forkserver_preload(["emberscope.sources.load", *sorted(_modules(function))])
    return ProcessPoolExecutor(processes, context, initializer=_prepare, initargs=(scratch,))


def _modules(function: object) -> set[str]:
    """The modules of a function and of those that were bound to it."""
    if isinstance(function, partial):
        return {module for each in (function.func, *function.args) for module in _modules(each)}
    module = getattr(function, "__module__", None)
    return {module} if module and module != "__main__" else set()


def _prepare(scratch: str) -> None:
    tempfile.tempdir = scratch
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the caller tells of the interruption, once
