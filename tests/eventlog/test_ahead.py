"""Work in a thread: order, errors, and an end in every case."""

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from emberscope.eventlog.ahead import ahead


def _threads() -> int:
    return sum(thread.name == "emberscope-ahead" for thread in threading.enumerate())


@pytest.mark.parametrize("count", [0, 1, 2, 100])
@pytest.mark.parametrize("depth", [1, 3])
def test_all_come_in_order(count: int, depth: int) -> None:
    assert list(ahead(iter(range(count)), depth)) == list(range(count))
    assert not _threads()


def test_no_more_is_made_than_waits() -> None:
    made = []

    def items() -> Iterator[int]:
        for number in range(100):
            made.append(number)
            yield number

    with closing(ahead(items(), 3)) as results:
        for number in results:
            # Three wait, one is being made, and this one is with us.
            assert len(made) <= number + 5
    assert not _threads()


def test_errors_come_after_what_was_made() -> None:
    def items() -> Iterator[int]:
        yield 1
        yield 2
        raise OSError("no more")

    got = []
    with pytest.raises(OSError, match="no more"):  # noqa: PT012 - the loop is what is tested
        for number in ahead(items()):
            got.append(number)
    assert got == [1, 2]
    assert not _threads()


def test_the_thread_ends_with_who_asked() -> None:
    with closing(ahead(iter(range(100)))) as results:
        assert next(results) == 0
    assert not _threads()
