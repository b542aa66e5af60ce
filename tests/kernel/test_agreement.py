"""The two kernels give the same results, whatever they are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.kernel.ops import ARRAY, BOOLEAN, INT, LONG, STRING
from tests.kernel.conftest import HAS_NATIVE, KERNELS
from tests.kernel.records import CLASS, METHOD, POOLS, STRINGS, SYMBOL, TRACE, Writer, longs, numbers

pytestmark = pytest.mark.skipif(not HAS_NATIVE, reason="there is nothing to compare")

_TYPES = (7, 8, 200)
_BYTES = st.lists(st.sampled_from([*range(9), 0x41, 0x7F, 0x80, 0x81, 0xC3, 0xD8, 0xFF]), max_size=40).map(bytes)
_DATA = st.one_of(_BYTES, _BYTES, st.binary(max_size=40))
_KEYS = st.sampled_from([0, 1, 2, 3, 4, -1, 2**40])


def _numbered(tree: list[Any]) -> list[int]:
    """A program of a tree of (operation, is it kept, element); columns are numbered as they come."""
    column = 0

    def flat(tree: list[Any]) -> list[int]:
        nonlocal column
        ops: list[int] = []
        for operation, kept, element in tree:
            mine = column if kept else -1
            column += kept
            inner = flat(element)
            ops += [operation, mine, len(inner), *inner]
        return ops

    return flat(tree)


_PLAIN = st.tuples(st.integers(0, 8), st.booleans(), st.just([]))
_TREES = st.recursive(
    st.lists(_PLAIN, max_size=4),
    lambda inner: st.lists(st.one_of(_PLAIN, st.tuples(st.just(ARRAY), st.booleans(), inner)), max_size=4),
    max_leaves=8,
)
_PROGRAMS = st.fixed_dictionaries({}, optional={t: _TREES.map(_numbered) for t in _TYPES}).map(dict)


def _result(do: Callable[[], Any]) -> Any:
    """What comes out, memoryviews as format and bytes, or the kind of error."""
    try:
        found = do()
    except (KeyError, TypeError, ValueError, IndexError) as error:
        return type(error)
    if isinstance(found, memoryview):
        return found.format, bytes(found)
    if isinstance(found, tuple):
        return tuple(_result(lambda part=part: part) for part in found)
    return found


@st.composite
def _chunks(draw: st.DrawFn) -> tuple[Writer, list[int]]:
    """Events and checkpoints, some of them not quite right."""
    writer = Writer(draw(st.booleans()))
    for _ in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from([*_TYPES, *_TYPES, 0, 1, 1, 1, 99]))
        payload = draw(_DATA)
        if kind == 1:
            pools = draw(st.lists(st.tuples(st.sampled_from(_TYPES), st.integers(-1, 3), _DATA), max_size=3))
            payload = writer.long(0) * 3 + b"\0" + writer.int(draw(st.integers(0, 3)) or len(pools))
            payload += b"".join(writer.long(t) + writer.int(n) + records for t, n, records in pools)
        if draw(st.integers(0, 7)):
            writer.event(kind, payload)
        else:
            writer.event_of_size(draw(st.integers(-1, 60)), kind, payload)
    if not draw(st.integers(0, 3)):
        writer.body += draw(_DATA)
    return writer, draw(st.lists(st.integers(-1, 200), max_size=2))


def _decoded(
    kernel: Any, writer: Writer, programs: dict[int, list[int]], split: int, known: Any, more: list[int]
) -> Any:
    data = bytes(writer.body)
    decoder = kernel.Decoder(data, writer.compressed)
    seen: list[Any] = []
    for type_id, ops in programs.items():
        decoder.program(type_id, ops)
    stop = decoder.events(0, min(split, len(data)), known)
    seen += [stop, decoder.events(stop, len(data), known)]
    seen.append(decoder.checkpoints(decoder.positions(1) + more))
    seen += [decoder.counts(), decoder.positions(0), decoder.positions(1)]
    for type_id in _TYPES:
        seen += [decoder.rows(type_id), decoder.broken(type_id)]
        seen.append(_result(lambda t=type_id: decoder.lookup(t, longs(0, 1, 2, 3, -1, 2**40))))
        for column in range(len(programs.get(type_id, [])) // 3 + 1):
            seen.append(_result(lambda t=type_id, c=column: decoder.column(t, c)))
            seen.append(_result(lambda t=type_id, c=column: decoder.strings(t, c, None)))
            seen.append(_result(lambda t=type_id, c=column: decoder.strings(t, c, (7, 1))))
    return seen


@given(_chunks(), _PROGRAMS, st.integers(0, 200), st.sampled_from([None, frozenset({0, 1, *_TYPES}), frozenset({7})]))
def test_decoders(chunk: tuple[Writer, list[int]], programs: dict[int, list[int]], split: int, known: Any) -> None:
    writer, more = chunk
    plain, native = (_decoded(KERNELS[name], writer, programs, split, known, more) for name in ("plain", "native"))
    assert plain == native


@given(_DATA, _PROGRAMS, st.booleans())
def test_decoders_of_any_bytes(data: bytes, programs: dict[int, list[int]], compressed: bool) -> None:
    writer = Writer(compressed, body=bytearray(data))
    plain, native = (_decoded(KERNELS[name], writer, programs, 0, None, [0, 3]) for name in ("plain", "native"))
    assert plain == native


_TEXTS = st.sampled_from([None, "a", "b/C", "é😀"])
_FRAMES = st.lists(st.tuples(_KEYS, st.integers(-2, 2), st.integers(0, 3)), max_size=20)


@st.composite
def _stack_pools(draw: st.DrawFn) -> tuple[Writer, dict[int, list[int]]]:
    writer = Writer(draw(st.booleans()))
    with_texts = draw(st.booleans())
    text = writer.text("?") if with_texts else b""

    def frames(rows: list[tuple[int, int, int]]) -> bytes:
        parts = [writer.long(m) + text + writer.int(n) + writer.long(t) for m, n, t in rows]
        return writer.int(len(rows)) + b"".join(parts)

    traces = draw(st.lists(st.tuples(_KEYS, st.booleans(), _FRAMES), max_size=6))
    keys = st.lists(st.tuples(_KEYS, _KEYS, _KEYS), max_size=6)
    symbols = draw(st.lists(st.tuples(_KEYS, _TEXTS), max_size=6))
    pools = [
        (TRACE, [writer.long(k) + bytes([cut]) + frames(rows) for k, cut, rows in traces]),
        (METHOD, [b"".join(map(writer.long, row)) + b"\0" for row in draw(keys)]),
        (CLASS, [b"".join(map(writer.long, row[:2])) for row in draw(keys)]),
        (SYMBOL, [writer.long(k) + (b"\2" + writer.long(1) if t is None else writer.text(t)) for k, t in symbols]),
        (STRINGS, [writer.long(1) + writer.text("pooled")]),
    ]
    payload = writer.long(0) * 3 + b"\0" + writer.int(len(pools))
    payload += b"".join(writer.long(t) + writer.int(len(records)) + b"".join(records) for t, records in pools)
    if draw(st.booleans()):
        at = draw(st.integers(0, len(payload) - 1))
        payload = payload[:at] + draw(st.binary(min_size=1, max_size=2)) + payload[at + 1 :]
    writer.event(1, payload)
    frame = [LONG, 3, 0, *([STRING, -1, 0] if with_texts else []), INT, 5, 0, LONG, 4, 0]
    return writer, POOLS | {TRACE: [LONG, 0, 0, BOOLEAN, 1, 0, ARRAY, 2, len(frame), *frame]}


def _stacked(kernel: Any, pools: Any, keys: list[int], columns: tuple[int, int, int], kinds: dict[int, int]) -> Any:
    writer, programs = pools
    decoder = kernel.Decoder(bytes(writer.body), writer.compressed)
    for type_id, ops in programs.items():
        decoder.program(type_id, ops)
    seen = [decoder.checkpoints([0])]
    truncated, types, lines = columns
    trace = (TRACE, truncated, 2, 3, types, lines)
    stacks = kernel.Stacks(decoder, trace, (METHOD, 1, 2), (CLASS, 1), (SYMBOL, 1), (STRINGS, 1), kinds)
    nodes, flags = stacks.nodes(longs(*keys))
    seen += [nodes.tolist(), flags.tolist(), stacks.size(), stacks.leaves(nodes)]
    tree = kernel.Tree()
    for round_ in range(2):
        unknown = tree.unknown(stacks)
        seen.append(unknown)
        for local, owner, name, kind, _ in unknown:
            tree.learn(stacks, local, len(f"{owner}{name}{kind}"))
        grafted = tree.graft(stacks)
        seen += [grafted.tolist(), stacks.nodes(longs(*range(5)))[0].tolist(), round_]
        names = [f"n{i % 5}" for i in range(100)]
        weights = kernel.tally(numbers(*(grafted[node] for node in nodes)), None, None, tree.size())
        seen.append(kernel.folded(tree.parents(), tree.frames(), weights, names))
    return seen


@given(
    _stack_pools(),
    st.lists(_KEYS, max_size=8),
    st.tuples(st.sampled_from([1, -1]), st.sampled_from([4, -1]), st.sampled_from([5, -1])),
    st.dictionaries(st.integers(0, 3), st.integers(0, 2)),
)
def test_stacks(pools: Any, keys: list[int], columns: tuple[int, int, int], kinds: dict[int, int]) -> None:
    plain, native = (_stacked(KERNELS[name], pools, keys, columns, kinds) for name in ("plain", "native"))
    assert plain == native


@given(_DATA, st.booleans())
def test_elements(data: bytes, compressed: bool) -> None:
    plain, native = (_result(lambda k=k: KERNELS[k].elements(data, compressed)) for k in ("plain", "native"))
    assert plain == native


_WEIGHTS = st.one_of(st.integers(0, 3), st.integers(0, 2**63 - 1))


@st.composite
def _trees(draw: st.DrawFn) -> tuple[memoryview, memoryview, memoryview]:
    size = draw(st.integers(0, 12))
    parents = [-1, *(draw(st.integers(0, node - 1)) for node in range(1, size))][:size]
    frames = draw(st.lists(st.integers(-1, 4), min_size=size, max_size=size))
    weights = draw(st.lists(_WEIGHTS, min_size=size, max_size=size))
    return numbers(*parents), numbers(*frames), longs(*weights)


@given(_trees(), st.lists(st.text(max_size=3), min_size=5, max_size=5))
def test_folded(tree: tuple[memoryview, memoryview, memoryview], names: list[str]) -> None:
    plain, native = (_result(lambda k=k: KERNELS[k].folded(*tree, names)) for k in ("plain", "native"))
    assert plain == native


@given(st.binary(max_size=80), st.integers(0, 2**32 - 1))
def test_checksums(data: bytes, seed: int) -> None:
    assert KERNELS["plain"].xxh32(data, seed) == KERNELS["native"].xxh32(data, seed)


_ANY = st.one_of(st.integers(-4, 4), st.integers(-(2**63), 2**63 - 1))


@given(
    st.lists(st.tuples(st.integers(-1, 4), _ANY), max_size=8),
    st.one_of(st.none(), st.lists(st.integers(-1, 8), max_size=8)),
    st.booleans(),
    st.integers(0, 5),
)
def test_sums(pairs: list[tuple[int, int]], rows: list[int] | None, weighed: bool, size: int) -> None:
    nodes, weights = numbers(*(n for n, _ in pairs)), longs(*(w for _, w in pairs))
    chosen = None if rows is None else numbers(*rows)

    def sums(kernel: Any) -> Any:
        into = longs(*range(size))
        added = _result(lambda: kernel.add(into, nodes, weights))
        tallied = _result(lambda: kernel.tally(nodes, weights if weighed else None, chosen, size))
        return added, into.tolist(), tallied, _result(lambda: kernel.where(weights, frozenset(range(-2, 2))))

    assert sums(KERNELS["plain"]) == sums(KERNELS["native"])
