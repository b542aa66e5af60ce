"""Work on one piece after another in threads, with the results in the order of the pieces."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from functools import partial
from itertools import chain, islice
from typing import Final, Generic, TypeVar

from emberscope import kernel

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_BYTES_A_THREAD: Final = 64 << 20
MOST_THREADS: Final = 4
"""More would hold more chunks in memory at a time, and whoever takes the results is one thread."""


def useful_threads(work_bytes: int) -> int:
    """How many threads decode so many bytes of chunks side by side.

    The kernel in Python holds the interpreter's lock. And memory that is touched first by two threads costs more than
    by one: below some 100 MB one thread is as quick as two, for less work.
    """
    if not kernel.NATIVE:
        return 1
    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1)
    return min(len(allowed), MOST_THREADS, 1 + work_bytes // _BYTES_A_THREAD)


def in_order(
    function: Callable[[_Item], _Result], items: Iterable[_Item], threads: int
) -> Generator[_Result, None, None]:
    """The results of `function` for the items, in their order, made by so many threads (`useful_threads`).

    At most `threads` items are in memory, the one that the caller works on among them: the caller is as good as one of
    the threads. With one thread, or one item, all is done in the caller's thread when its result is asked for. An
    exception is raised in place of its result and ends the iteration. Closing the iterator early waits for the items
    in work and drops the others.
    """
    rest = iter(items)
    first = list(islice(rest, 2))
    if threads <= 1 or len(first) < 2:
        yield from map(function, chain(first, rest))
        return
    rest = chain(first, rest)
    working = deque(_started(function, item) for item in islice(rest, threads))
    try:
        while working:
            yield working.popleft().result()
            working.extend(_started(function, item) for item in islice(rest, 1))
    finally:
        for call in working:
            call.join()


class _Call(threading.Thread, Generic[_Result]):
    """One call in a thread of its own: to start one costs next to nothing beside the work on a chunk.

    A pool of the standard library would take longer to import than a small recording to read.
    """

    def __init__(self, function: Callable[[], _Result]) -> None:
        super().__init__(name="emberscope-jfr", daemon=True)
        self._function = function
        self._error: BaseException | None = None
        self._value: list[_Result] = []

    def run(self) -> None:
        try:
            self._value.append(self._function())
        except BaseException as error:
            self._error = error

    def result(self) -> _Result:
        self.join()
        if self._error is not None:
            raise self._error
        return self._value.pop()


def _started(function: Callable[[_Item], _Result], item: _Item) -> _Call[_Result]:
    call = _Call(partial(function, item))
    call.start()
    return call
