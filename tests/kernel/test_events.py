from __future__ import annotations

from typing import Any

import pytest

from emberscope.kernel.ops import LONG
from tests.kernel.records import Writer


def _decoder(kernel: Any, writer: Writer) -> Any:
    decoder = kernel.Decoder(bytes(writer.body), writer.compressed)
    decoder.program(7, [LONG, 0, 0])
    return decoder


def _stopped(kernel: Any, writer: Writer, known: set[int] | None) -> tuple[int, dict[int, int]]:
    decoder = _decoder(kernel, writer)
    return decoder.events(0, len(writer.body), None if known is None else frozenset(known)), decoder.counts()


def test_all_types_are_counted(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    writer.event(0, b"m")
    writer.event(7, writer.long(1))
    writer.event(1, b"c")
    writer.event(200, bytes(300))
    writer.event(7, writer.long(2))
    writer.event(2**40)
    writer.event(-3)
    end = len(writer.body)
    second = writer.event(1, b"d")
    decoder = _decoder(kernel, writer)
    assert decoder.events(0, end, None) == end
    assert decoder.counts() == {0: 1, 1: 1, 7: 2, 200: 1, 2**40: 1, -3: 1}
    assert decoder.positions(0) == [0]
    assert decoder.events(end, len(writer.body), None) == len(writer.body)
    assert decoder.positions(1)[1:] == [second]
    assert decoder.column(7, 0).tolist() == [1, 2]


@pytest.mark.parametrize("size", [0, 1, -1, -(2**31), 2**31 - 1, 60])
def test_a_size_that_cannot_be_right(kernel: Any, compressed: bool, size: int) -> None:
    writer = Writer(compressed)
    writer.event(7, writer.long(1))
    position = len(writer.body)
    writer.event_of_size(size, 7, writer.long(2))
    writer.event(7, writer.long(3))
    assert _stopped(kernel, writer, None) == (position, {7: 1})


def test_sizes_in_all_their_lengths(kernel: Any) -> None:
    for size in (4, 127, 128, 16383, 16384, 2**21, 2**21 + 5):
        for padding in range(8):
            head = bytearray()
            rest = size
            while rest > 127 or len(head) < padding:
                head.append(rest & 127 | 128)
                rest >>= 7
            head.append(rest)
            if len(head) + 2 > size:
                continue
            data = bytes(head) + b"\7\5" + bytes(size - len(head) - 2) + b"\3\7\6"
            decoder = kernel.Decoder(data, True)
            decoder.program(7, [LONG, 0, 0])
            assert decoder.events(0, len(data), None) == len(data)
            assert decoder.column(7, 0).tolist() == [5, 6]


def test_the_smallest_event(kernel: Any) -> None:
    decoder = kernel.Decoder(b"\2\7\2\7", True)
    decoder.program(7, [])
    assert decoder.events(0, 4, None) == 4
    assert decoder.rows(7) == 2


def test_an_event_shorter_than_its_head_is_broken(kernel: Any) -> None:
    decoder = kernel.Decoder(b"\2\x87\x00" + b"\3\7\1", True)
    decoder.program(7, [])
    assert decoder.events(0, 2, None) == 2
    assert (decoder.broken(7), decoder.rows(7), decoder.counts()) == (1, 0, {7: 1})
    raw = kernel.Decoder(b"\0\0\0\2" + (7).to_bytes(8, "big"), False)
    raw.program(7, [])
    assert raw.events(0, 2, None) == 2
    assert (raw.broken(7), raw.counts()) == (1, {7: 1})


@pytest.mark.parametrize("cut", [1, 2, 3, 4])
def test_data_that_ends_within_an_event(kernel: Any, compressed: bool, cut: int) -> None:
    writer = Writer(compressed)
    writer.event(7, writer.long(1))
    position = writer.event(300, bytes(200))
    del writer.body[position + cut :]
    assert _stopped(kernel, writer, None) == (position, {7: 1})


def test_limits(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    writer.event(7, writer.long(1))
    second = writer.event(7, writer.long(2))
    end = len(writer.body)
    decoder = _decoder(kernel, writer)
    assert decoder.events(5, 5, None) == 5
    assert decoder.events(9, 4, None) == 9
    assert decoder.counts() == {}
    assert decoder.events(0, second + 1, None) == end  # an event that begins before the limit may end after it
    assert decoder.events(end, end + 10, None) == end
    with pytest.raises(ValueError, match=r"\w"):
        decoder.events(-1, end, None)
    assert decoder.column(7, 0).tolist() == [1, 2]


def test_an_unknown_type_before_a_sound_event(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    writer.event(99, b"?")
    writer.event(7, writer.long(1))
    assert _stopped(kernel, writer, {7}) == (len(writer.body), {99: 1, 7: 1})


def test_an_unknown_type_before_the_end(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    writer.event(7, writer.long(1))
    position = writer.event(99, b"?")
    end = len(writer.body)
    assert _stopped(kernel, writer, {7}) == (end, {99: 1, 7: 1})
    decoder = _decoder(kernel, writer)  # with a limit before its end, nothing vouches for the event
    assert decoder.events(0, end - 1, frozenset({7})) == position
    assert decoder.counts() == {7: 1}


@pytest.mark.parametrize("follower", ["unknown", "size", "cut", "beyond"])
def test_an_unknown_type_before_something_unsound(kernel: Any, compressed: bool, follower: str) -> None:
    writer = Writer(compressed)
    writer.event(7, writer.long(1))
    position = writer.event(99, b"?")
    if follower == "unknown":
        writer.event(98)
        writer.event(7, writer.long(1))
    elif follower == "size":
        writer.event_of_size(1, 7)
    elif follower == "cut":
        writer.body += b"\x80"
    else:
        writer.event_of_size(300, 7, bytes(20))
    assert _stopped(kernel, writer, {7}) == (position, {7: 1})


def test_a_type_accepted_once_stays_so(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    writer.event(99, b"?")
    writer.event(7, writer.long(1))
    middle = len(writer.body)
    writer.event(99, b"!")
    position = writer.event(98, b"!")
    writer.event_of_size(1, 7)
    assert _stopped(kernel, writer, {7}) == (position, {99: 2, 7: 1})
    decoder = _decoder(kernel, writer)
    decoder.events(0, middle, frozenset({7}))
    assert decoder.events(middle, len(writer.body), frozenset({7})) == position


def test_types_0_and_1_are_not_known_by_themselves(kernel: Any, compressed: bool) -> None:
    writer = Writer(compressed)
    writer.event(1, b"c")
    writer.event_of_size(1, 7)
    assert _stopped(kernel, writer, {7})[0] == 0
    assert _stopped(kernel, writer, {1, 7, 2**70})[1] == {1: 1}
