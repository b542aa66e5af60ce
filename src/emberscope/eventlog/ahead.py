"""Work that is done ahead of who needs it, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from queue import SimpleQueue
from typing import Final, TypeVar

T = TypeVar("T")

_DEPTH: Final = 3
"""How many results wait: blocks of lines may be large."""


def ahead(items: Iterator[T], depth: int = _DEPTH) -> Generator[T, None, None]:
    """The items in their order, made in a thread while the caller works on those before. What it raises, this raises.

    The thread has ended when this has: by its end, by an error, or closed.
    """
    results: SimpleQueue[tuple[T] | BaseException | None] = SimpleQueue()
    room = threading.Semaphore(depth)
    stopped = threading.Event()

    def work() -> None:
        try:
            for item in items:
                results.put((item,))
                del item
                room.acquire()
                if stopped.is_set():
                    return
            results.put(None)
        except BaseException as error:  # the caller gets it
            results.put(error)

    thread = threading.Thread(target=work, name="emberscope-ahead", daemon=True)
    thread.start()
    try:
        while (result := results.get()) is not None:
            if isinstance(result, BaseException):
                raise result
            room.release()
            yield result[0]
    finally:
        stopped.set()
        room.release()
        thread.join()
