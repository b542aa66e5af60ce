"""Takes a recording through all of a kernel: what it gives back does not matter, only that it comes to an end."""

from __future__ import annotations

import functools
import struct
from typing import Any

from emberscope.kernel import ops

_OPERATIONS = {
    "long": ops.LONG,
    "int": ops.INT,
    "short": ops.SHORT,
    "char": ops.CHAR,
    "byte": ops.BYTE,
    "boolean": ops.BOOLEAN,
    "float": ops.FLOAT,
    "double": ops.DOUBLE,
    "java.lang.String": ops.STRING,
}
_MAGIC = b"FLR\0"
_HEADER_BYTES = 68
_KEEP_EVERY = 3

Columns = dict[str, int]


class _Type:
    def __init__(self, name: str, super_type: str) -> None:
        self.name = name
        self.is_event = super_type.endswith(".Event")
        self.fields: list[tuple[str, int, bool, bool]] = []


def drive(kernel: Any, data: bytes, whole: bytes, thrift: bool) -> list[Any]:
    """All of it, chunk by chunk; what was met, for comparing kernels. With `thrift` only some columns are kept.

    `whole` is the recording before the damage: its types are used where those of the damaged one cannot be read.
    """
    met: list[Any] = []
    tree = kernel.Tree()
    names: list[str] = []
    start = data.find(_MAGIC)
    while start >= 0 and len(data) - start >= _HEADER_BYTES:
        size = struct.unpack_from(">q", data, start + 8)[0]
        following = data.find(_MAGIC, start + 4)
        end = start + size if _HEADER_BYTES <= size <= len(data) - start else len(data)
        met.append(_chunk(kernel, data[start:end], _metadata(kernel, whole), thrift, tree, names))
        start = following
    return met


@functools.lru_cache(maxsize=64)
def _types(kernel: Any, body: bytes, compressed: bool) -> tuple[dict[int, _Type], int]:
    """The types that a metadata event describes, however wrong, and how many elements it has."""
    types: dict[int, _Type] = {}
    owner: _Type | None = None
    elements = kernel.elements(body, compressed)
    for _, element, pairs in elements:
        found = dict(zip(pairs[::2], pairs[1::2], strict=True))
        try:
            if element == "class":
                owner = types[int(found["id"])] = _Type(found.get("name", ""), found.get("superType", ""))
            elif element == "field" and owner is not None:
                pooled = found.get("constantPool") == "true"
                owner.fields.append((found["name"], int(found["class"]), pooled, "dimension" in found))
        except (KeyError, ValueError):
            continue
    return types, len(elements)


@functools.lru_cache(maxsize=4096)
def _program_of(kernel: Any, body: bytes, compressed: bool, type_id: int, thrift: bool) -> tuple[list[int], Columns]:
    types = _types(kernel, body, compressed)[0]
    columns: Columns = {}
    program: list[int] = []

    def column(path: str) -> int:
        if path in columns or (thrift and path and not path.startswith("frames") and len(columns) % _KEEP_EVERY == 1):
            return -1
        columns[path] = len(columns)
        return columns[path]

    def one(into: list[int], path: str, type_id: int, pooled: bool, depth: int) -> None:
        described = types.get(type_id)
        if len(program) > 3 * ops.MAX_OPS or depth > 2 * ops.MAX_NESTING:
            raise ValueError("too much of it")
        if pooled:
            into += [ops.LONG, column(path), 0]
        elif described is None:
            raise ValueError("not described")
        elif not described.fields and described.name in _OPERATIONS:
            into += [_OPERATIONS[described.name], column(path), 0]
        else:
            fields(into, path, described, depth)

    def fields(into: list[int], path: str, owner: _Type, depth: int) -> None:
        for name, field_type, pooled, is_array in owner.fields:
            inner = f"{path}.{name}" if path else name
            if is_array:
                into += [ops.ARRAY, column(inner), 0]
                place = len(into) - 1
                one(into, inner + "[]", field_type, pooled, depth + 1)
                into[place] = len(into) - 1 - place
            else:
                one(into, inner, field_type, pooled, depth + 1)

    if not types[type_id].is_event:
        program += [ops.LONG, column(""), 0]
    one(program, "value" if type_id in types and not types[type_id].fields else "", type_id, False, 0)
    return program, columns


def _chunk(kernel: Any, data: bytes, spare: bytes, thrift: bool, tree: Any, names: list[str]) -> list[Any]:
    checkpoint, metadata = struct.unpack_from(">qq", data, 16)
    compressed = bool(data[67] & 1)
    decoder = kernel.Decoder(data, compressed)
    met: list[Any] = []
    if not 0 <= metadata < len(data):
        probe = kernel.Decoder(data, compressed)
        met.append(probe.events(_HEADER_BYTES, len(data), None))
        metadata = (probe.positions(0) or [_HEADER_BYTES])[-1]
    body = _body(data, metadata, compressed)
    try:
        elements = _types(kernel, body, compressed)[1]
    except ValueError:
        elements = -1
        body = spare
    try:
        types = _types(kernel, body, compressed)[0]
    except ValueError:
        types = {}
    layouts = {}
    known = frozenset({0, 1, *(type_id for type_id, found in types.items() if found.is_event)})
    probe = kernel.Decoder(data, compressed)
    met.append(probe.events(_HEADER_BYTES, len(data), known))
    there = probe.counts()
    for type_id, described in types.items():
        if described.is_event and type_id not in there:
            continue
        try:
            program, columns = _program_of(kernel, body, compressed, type_id, thrift)
            decoder.program(type_id, program)
            layouts[type_id] = (program, columns)
        except ValueError:
            continue
    stopped = decoder.events(_HEADER_BYTES, len(data), known)
    met += [elements, stopped, decoder.events(min(stopped + 1, len(data)), len(data), None)]
    met.append(decoder.checkpoints([*decoder.positions(1), checkpoint, metadata, -1, len(data)]))
    met.append(sorted(decoder.counts().items()))
    by_name = {types[type_id].name: (type_id, columns) for type_id, (_, columns) in layouts.items()}
    pool = _named(by_name, "java.lang.String", "value")
    for type_id, (program, columns) in layouts.items():
        met += [decoder.rows(type_id), decoder.broken(type_id)]
        if decoder.rows(type_id):
            met += [_values(decoder, type_id, program, columns, pool)]
    met.append(_stacks(kernel, decoder, by_name, types, pool, tree, names))
    return met


@functools.lru_cache(maxsize=64)
def _metadata(kernel: Any, whole: bytes) -> bytes:
    """The body of the first metadata event of a recording that is sound."""
    start = whole.find(_MAGIC)
    if start < 0 or len(whole) - start < _HEADER_BYTES:
        return b""
    metadata = struct.unpack_from(">q", whole, start + 24)[0]
    if not 0 < metadata < len(whole) - start:
        probe = kernel.Decoder(whole[start:], True)
        probe.events(_HEADER_BYTES, len(whole) - start, None)
        metadata = (probe.positions(0) or [_HEADER_BYTES])[-1]
    return _body(whole[start:], metadata, True)


def _body(data: bytes, position: int, compressed: bool) -> bytes:
    """A metadata event from its string count on."""
    if not compressed:
        return data[position + 36 : position + 36 + int.from_bytes(data[position : position + 4], "big")]
    start = position
    for _ in range(5):
        last = position + 8
        while position < min(last, len(data) - 1) and data[position] > 127:
            position += 1
        position += 1
    size = sum((data[start + i] & 127) << 7 * i for i in range(min(4, len(data) - start)))
    return data[position : start + max(0, size)]


def _named(by_name: dict[str, tuple[int, Columns]], name: str, column: str) -> tuple[int, int] | None:
    type_id, columns = by_name.get(name, (0, {}))
    return (type_id, columns[column]) if column in columns else None


def _values(decoder: Any, type_id: int, program: list[int], columns: Columns, pool: tuple[int, int] | None) -> Any:
    words = dict(zip(program[1::3], program[::3], strict=True))
    seen = []
    for number in columns.values():
        if words[number] == ops.STRING:
            try:
                seen.append(hash(tuple(decoder.strings(type_id, number, pool))))
            except TypeError:
                seen.append(None)
        else:
            with decoder.column(type_id, number) as view:
                seen.append((view.format, hash(bytes(view))))
    return seen


def _stacks(
    kernel: Any,
    decoder: Any,
    by_name: dict[str, tuple[int, Columns]],
    types: dict[int, _Type],
    pool: tuple[int, int] | None,
    tree: Any,
    names: list[str],
) -> list[Any]:
    trace, frames = by_name.get("jdk.types.StackTrace", (0, {}))
    method, of_method = by_name.get("jdk.types.Method", (0, {}))
    klass, of_class = by_name.get("java.lang.Class", (0, {}))
    symbol, of_symbol = by_name.get("jdk.types.Symbol", (0, {}))
    numbers = [frames.get(path, -1) for path in ("truncated", "frames", "frames[].method", "frames[].type")]
    try:
        stacks = kernel.Stacks(
            decoder,
            (trace, *numbers, frames.get("frames[].lineNumber", -1)),
            (method, of_method.get("type", 99), of_method.get("name", 99)),
            (klass, of_class.get("name", 99)),
            (symbol, of_symbol.get("string", 99)),
            pool,
            {1: 1, 2: 2, -1: 3, 2**40: 4},
        )
    except (KeyError, TypeError, ValueError) as error:
        return [type(error).__name__]
    met: list[Any] = []
    asked = []
    for type_id, found in types.items():
        place = _named(by_name, found.name, "stackTrace")
        if found.is_event and place is not None and place[0] == type_id:
            try:
                keys = decoder.column(*place)
                nodes, flags = stacks.nodes(keys)
            except TypeError:
                continue
            met += [hash(bytes(nodes)), hash(bytes(flags)), stacks.leaves(nodes)]
            met.append(kernel.where(keys, frozenset(list(keys)[:3])).tolist())
            asked.append(nodes)
    for local, class_name, name, kind, _ in tree.unknown(stacks):
        tree.learn(stacks, local, len(names))
        names.append(f"{class_name}.{name} {kind}")
    grafted = tree.graft(stacks)
    total = memoryview(bytearray(8 * tree.size())).cast("q")
    for nodes in asked:
        kernel.add(total, grafted, kernel.tally(nodes, None, None, stacks.size()))
    if tree.size() < 50_000:
        met.append(hash(kernel.folded(tree.parents(), tree.frames(), total, names)))
    return met
