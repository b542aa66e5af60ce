"""Work in threads, results in order."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from emberscope.jfr.parallel import MOST_THREADS, in_order, useful_threads


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_results_are_in_the_order_of_the_items(threads: int, count: int) -> None:
    assert list(in_order(lambda n: n * n, range(count), threads)) == [n * n for n in range(count)]


@pytest.mark.parametrize(("threads", "count"), [(1, 9), (4, 1)])
def test_no_thread_is_started_for_nothing(threads: int, count: int) -> None:
    found = set(in_order(lambda _: threading.current_thread(), range(count), threads))
    assert found == {threading.current_thread()}


def test_threads_work_side_by_side() -> None:
    together = threading.Barrier(3, timeout=60)
    assert sorted(in_order(lambda _: together.wait(), range(3), 3)) == [0, 1, 2]


def test_few_items_are_taken_ahead() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for n in range(100):
            taken.append(n)
            yield n

    results = in_order(lambda n: n, items(), 2)
    for given in range(50):
        assert next(results) == given
        assert len(taken) <= given + 1 + 2
    results.close()
    assert len(taken) < 60
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("emberscope-jfr")]


@pytest.mark.parametrize("threads", [1, 3])
def test_an_exception_is_raised_in_its_place(threads: int) -> None:
    def fail(n: int) -> int:
        if n == 5:
            raise ValueError("five")
        return n

    results = in_order(fail, range(10), threads)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="five"):
        next(results)
    assert list(results) == []


def test_small_recordings_are_read_by_one_thread_and_none_by_more_than_there_are() -> None:
    assert useful_threads(0) == useful_threads(50_000_000) == 1
    assert 1 <= useful_threads(1 << 40) <= MOST_THREADS
