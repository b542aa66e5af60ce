"""SIGTERM and SIGHUP while Emberscope itself is at work: it ends by its own hand, so that temporary files go."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Ended(BaseException):
    """We were told to end by the signal of this name. No `Exception`: nothing that catches those is to go on."""


@contextmanager
def told_to_end() -> Iterator[None]:
    """While the block runs SIGTERM and SIGHUP raise `Ended`, once; a SIGHUP that is ignored (`nohup`) stays ignored."""
    told = False

    def end(number: int, _frame: FrameType | None) -> None:
        nonlocal told
        if not told:
            told = True
            raise Ended(signal.Signals(number).name)

    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
