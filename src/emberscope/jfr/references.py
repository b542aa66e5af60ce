"""What keys of constant pools stand for, a whole column at once: threads, classes and texts of one chunk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from emberscope.jfr.chunk import Chunk
from emberscope.jfr.layout import KEY
from emberscope.kernel.ops import STRING
from emberscope.tables.frame_names import class_name, frame_name

THREAD: Final = "java.lang.Thread"
CLASS: Final = "java.lang.Class"
METHOD: Final = "jdk.types.Method"
SYMBOL: Final = "jdk.types.Symbol"
_FORMATS: Final = {"q": np.int64, "i": np.int32, "h": np.int16, "H": np.uint16, "b": np.int8, "B": np.uint8}

Longs = npt.NDArray[np.int64]
Rows = npt.NDArray[np.int32]


def longs(chunk: Chunk, name: str, path: str) -> Longs | None:
    """A column of whole numbers or keys as int64; None where the type has none such."""
    view = chunk.numbers(name, path)
    if view is None or view.format not in _FORMATS:
        return None
    return np.frombuffer(view, _FORMATS[view.format]).astype(np.int64)


def floats(chunk: Chunk, name: str, path: str) -> npt.NDArray[np.float64] | None:
    """A column of numbers of any width as float64; None where the type has none such."""
    view = chunk.numbers(name, path)
    if view is None:
        return None
    kind: Any = _FORMATS.get(view.format) or (np.float32 if view.format == "f" else np.float64)
    return np.frombuffer(view, kind).astype(np.float64)


def rows_of(chunk: Chunk, pool: str, keys: Longs) -> Rows:
    """The row in a pool of each key; -1 where there is none."""
    view: Any = np.ascontiguousarray(keys)
    found = chunk.lookup(pool, memoryview(view))
    return np.full(len(keys), -1, np.int32) if found is None else np.frombuffer(found, np.int32)


def words(rows: Rows, values: Iterable[str | None]) -> pa.DictionaryArray:
    """A column of words: `values[row]` for each row; null for row -1 and where the value is None."""
    numbers: dict[str, int] = {}
    lut = np.array([-1 if v is None else numbers.setdefault(v, len(numbers)) for v in values] + [-1], np.int32)
    codes = lut[rows]
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), pa.array(list(numbers), pa.string()))


def fixed(word: str | None, length: int) -> pa.DictionaryArray:
    """A column of one word."""
    return words(np.zeros(length, np.int32), [word])


def masked(
    values: npt.NDArray[Any] | None, absent: npt.NDArray[np.bool_] | None, length: int, kind: pa.DataType
) -> Any:
    """An Arrow array of numbers, null where `absent` is true; all null for None."""
    if values is None:
        return pa.nulls(length, kind)
    return pa.array(values, kind, mask=absent, from_pandas=False)


class Threads:
    """The threads of one chunk: `names` and ids by row of its pool."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        java, system = chunk.texts(THREAD, "javaName"), chunk.texts(THREAD, "osName")
        count = chunk.rows(THREAD)
        self.names = [j or s for j, s in zip(java or [None] * count, system or [None] * count, strict=True)]
        self._java_ids = longs(chunk, THREAD, "javaThreadId")
        self._os_ids = longs(chunk, THREAD, "osThreadId")

    def rows(self, keys: Longs) -> Rows:
        return rows_of(self._chunk, THREAD, keys)

    def java_ids(self, keys: Longs, rows: Rows) -> pa.Array:
        """Java thread ids: 0 for a thread that is not Java's, null where the recording does not know it."""
        ids = np.append(self._java_ids if self._java_ids is not None else np.zeros(len(self.names), np.int64), 0)
        unknown = (rows < 0) & (keys != 0)
        if self._java_ids is None:
            unknown |= rows >= 0
        return pa.array(np.maximum(ids[rows], 0), mask=unknown)

    def os_ids(self, rows: Rows) -> pa.Array:
        """Thread ids of the operating system, null where the recording does not know it."""
        if self._os_ids is None:
            return pa.nulls(len(rows), pa.int64())
        return pa.array(np.append(self._os_ids, 0)[rows], mask=rows < 0)


def classes(chunk: Chunk, keys: Longs) -> pa.DictionaryArray:
    """Names of classes, spelled as in table frames; null where the recording does not hold them."""
    symbols = longs(chunk, CLASS, "name")
    texts = chunk.texts(SYMBOL, "string")
    if symbols is None or texts is None:
        return fixed(None, len(keys))
    of_class = rows_of(chunk, CLASS, keys)
    rows = np.append(rows_of(chunk, SYMBOL, symbols), np.int32(-1))[of_class]
    names: list[str | None] = [None] * len(texts)
    for row in np.unique(rows[rows >= 0]).tolist():
        text = texts[row]
        names[row] = None if text is None else class_name(text)
    return words(rows, names)


def methods(chunk: Chunk, keys: Longs) -> pa.DictionaryArray:
    """Names of methods, spelled as in table frames; null where the recording does not hold them."""
    owners, names = longs(chunk, METHOD, "type"), longs(chunk, METHOD, "name")
    symbols = chunk.texts(SYMBOL, "string")
    class_symbols = longs(chunk, CLASS, "name")
    if owners is None or names is None or symbols is None or class_symbols is None:
        return fixed(None, len(keys))
    rows = rows_of(chunk, METHOD, keys)
    full: list[str | None] = [None] * len(owners)
    known = np.unique(rows[rows >= 0])
    of_class = rows_of(chunk, CLASS, owners[known])
    owner_rows = rows_of(chunk, SYMBOL, np.append(class_symbols, 0)[of_class])
    name_rows = rows_of(chunk, SYMBOL, names[known])
    for row, owner, name in zip(known.tolist(), owner_rows.tolist(), name_rows.tolist(), strict=True):
        owner_text = symbols[owner] if owner >= 0 else None
        name_text = symbols[name] if name >= 0 else None
        if owner_text is not None and name_text is not None:
            full[row] = frame_name(owner_text, name_text)
    return words(rows, full)


def texts(chunk: Chunk, name: str, path: str) -> pa.DictionaryArray | None:
    """A field as words: a text, a number, the name of a thread, class or method, or a pooled struct with one text.

    None for others.
    """
    count = chunk.rows(name)
    every = np.arange(count, dtype=np.int32)
    plain = chunk.texts(name, path)
    if plain is not None:
        return words(every, plain)
    numbers = longs(chunk, name, path)
    if numbers is None:
        return None
    type_id = chunk.metadata.by_name[name].id
    pool = chunk.layouts[type_id].columns[path].pool
    if pool is None:
        return words(every, [str(number) for number in numbers.tolist()])
    pool_name = chunk.metadata.name_of(pool)
    rows = rows_of(chunk, pool_name, numbers)
    if pool_name == THREAD:
        return words(rows, Threads(chunk).names)
    if pool_name == CLASS:
        return classes(chunk, numbers)
    if pool_name == METHOD:
        return methods(chunk, numbers)
    layout = chunk.layouts.get(pool)
    strings = [c.path for c in layout.columns.values() if c.operation == STRING and c.path != KEY] if layout else []
    values = chunk.texts(pool_name, strings[0]) if len(strings) == 1 else None
    return words(rows, values) if values is not None else fixed(None, count)
