"""What the kernel in C does without the GIL."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from emberscope.kernel.ops import ARRAY, INT, LONG, STRING

native = pytest.importorskip("emberscope.kernel._native")

EVENT = b"\x03\x07\x05"
EVENTS = 3_000_000


def _decoder(data: bytes) -> native.Decoder:
    decoder = native.Decoder(data, True)
    decoder.program(7, [INT, 0, 0])
    return decoder


def _met_meanwhile(work: Callable[[], object], look: Callable[[], object]) -> bool:
    """Whether `look` was refused while `work` went on in another thread: it let go of the GIL and held the object."""
    worker = threading.Thread(target=work)
    worker.start()
    refused = False
    while worker.is_alive() and not refused:
        try:
            look()
        except RuntimeError:
            refused = True
    worker.join()
    return refused


def test_two_threads_in_one_decoder_are_told_apart() -> None:
    data = EVENT * EVENTS
    for _ in range(20):
        decoder = _decoder(data)
        refused = _met_meanwhile(lambda d=decoder: d.events(0, len(data), None), lambda d=decoder: d.rows(7))
        assert decoder.rows(7) == EVENTS
        assert set(decoder.column(7, 0)[::100_000]) == {5}
        if refused:
            return
    pytest.fail("events() never let go of the GIL")


def _stack_pools(traces: int) -> tuple[native.Decoder, bytes]:
    """Many traces of ten frames without anything behind them."""
    records = b"".join(
        bytes(
            [
                0x80 | key & 0x7F,
                0x80 | key >> 7 & 0x7F,
                key >> 14,
                10,
                *(frame % 100 + 1 for frame in range(key, key + 10)),
            ]
        )
        for key in range(1, traces + 1)
    )
    body = b"\x01\0\0\0\0\x01\x14" + bytes([0x80 | traces & 0x7F, 0x80 | traces >> 7 & 0x7F, traces >> 14]) + records
    size = len(body) + 5
    head = bytes([0x80 | size >> shift & 0x7F for shift in (0, 7, 14, 21)]) + bytes([size >> 28])
    decoder = native.Decoder(head + body, True)
    decoder.program(20, [LONG, 0, 0, ARRAY, 1, 3, LONG, 2, 0])
    for type_id in (21, 22):
        decoder.program(type_id, [LONG, 0, 0, LONG, 1, 0, LONG, 2, 0])
    decoder.program(23, [LONG, 0, 0, STRING, 1, 0])
    assert decoder.checkpoints([0]) == []
    assert decoder.rows(20) == traces
    return decoder, bytes(decoder.column(20, 0))


def _stacks(decoder: native.Decoder) -> native.Stacks:
    return native.Stacks(decoder, (20, -1, 1, 2, -1, -1), (21, 1, 2), (22, 1), (23, 1), None, {})


def test_two_threads_in_one_object_of_stacks_are_told_apart() -> None:
    decoder, keys = _stack_pools(60_000)
    keys *= 20
    for _ in range(20):
        stacks = _stacks(decoder)
        if _met_meanwhile(lambda s=stacks: s.nodes(keys), stacks.size):
            assert stacks.size() > 100
            return
    pytest.fail("nodes() never let go of the GIL")


def test_objects_side_by_side_do_not_mix() -> None:
    decoder, keys = _stack_pools(5_000)
    expected = bytes(_stacks(decoder).nodes(keys)[0])
    data = EVENT * 200_000
    found: list[object] = []

    def decode() -> None:
        other = _decoder(data)
        other.events(0, len(data), None)
        found.append(sum(other.column(7, 0)))

    def stack() -> None:
        found.append(bytes(_stacks(decoder).nodes(keys)[0]) == expected)

    threads = [threading.Thread(target=work) for work in (decode, stack) * 8]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found, key=str) == [1_000_000] * 8 + [True] * 8
