from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

A = TypeVar("A")
B = TypeVar("B")


def in_order(function: Callable[[A], B], items: Iterable[A], threads: int | None = None) -> Iterator[B]:
    yield from map(function, items)
