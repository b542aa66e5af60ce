"""The columns of one type: what its readers append to, and how a record that broke is taken back."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from emberscope.kernel.ops import DOUBLE, FLOAT, STRING
from emberscope.kernel.plain.flat import is_flat
from emberscope.kernel.plain.program import FORMATS, Step, steps
from emberscope.kernel.plain.reader import Adds, pool_reader, stores

Storage: TypeAlias = "array[Any] | list[str | int | None]"
_SWAPPED: Final = (FLOAT, DOUBLE) if sys.byteorder == "little" else ()
"""Operations whose values are stored as they are in the file and have to be turned round for this machine."""


class _Group:
    """Columns that grow together: those of the records themselves, or of the elements of one array.

    `size` of the values belong to the first `counted` of the array's counts; both are brought up to date only when a
    record has to be taken back. `kept` is the size while that goes on, else -1.
    """

    __slots__ = ("counted", "kept", "lengths", "parent", "size")

    def __init__(self, parent: _Group | None, lengths: array[int]) -> None:
        self.parent = parent
        self.lengths = lengths
        self.counted = 0
        self.size = 0
        self.kept = -1


class Flat:
    """A flat array of which something is wanted: where its elements are, and how many records' were read."""

    __slots__ = ("adds", "columns", "element", "lengths", "read", "starts", "stops")

    def __init__(self, element: tuple[Step, ...], lengths: array[int]) -> None:
        self.element = element
        self.lengths = lengths
        self.starts = array("q")
        self.stops = array("q")
        self.columns = [step.column for step in element if step.column >= 0]
        self.adds: Adds = ()
        self.read = 0


class Columns:
    """All columns of a type, and how many records they hold."""

    def __init__(self, b: bytes, compressed: bool, ops: Sequence[int]) -> None:
        self.bytes = b
        self.compressed = compressed
        self.program = steps(ops)
        self.rows = 0
        self.broken = 0
        self.operations: dict[int, int] = {}
        self.top = frozenset(step.column for step in self.program)
        """Columns outside of arrays."""
        self.flat: dict[int, Flat] = {}
        """By the columns within them."""
        self._storages: dict[int, Storage] = {}
        self._swapped: dict[int, int] = {}
        self._records = _Group(None, array("q"))
        self._order: list[tuple[_Group, Storage]] = []
        adds: list[Any] = []
        self._lay_out(self.program, self._records, adds)
        self.adds: Adds = tuple(adds)

    def _lay_out(self, program: tuple[Step, ...], group: _Group, adds: list[Any]) -> None:
        for step in program:
            if not stores(step):
                continue
            storage = self._storage(step, adds)
            self._order.append((group, storage))
            if not isinstance(storage, array) or not any(stores(inner) for inner in step.element):
                continue
            if group is self._records and is_flat(step):
                self._lay_out_flat(Flat(step.element, storage), adds)
            else:
                self._lay_out(step.element, _Group(group, storage), adds)

    def _lay_out_flat(self, flat: Flat, adds: list[Any]) -> None:
        for places in (flat.starts, flat.stops):
            adds.append(places.append)
            self._order.append((self._records, places))
        inner: list[Any] = []
        for step in flat.element:
            if step.column >= 0:
                self._storage(step, inner)
                self.flat[step.column] = flat
        flat.adds = tuple(inner)

    def _storage(self, step: Step, adds: list[Any]) -> Storage:
        operation = step.operation
        storage: Storage = [] if operation == STRING else array(FORMATS[operation])
        if isinstance(storage, array) and operation in (FLOAT, DOUBLE):
            adds.append(storage.frombytes)
        else:
            adds.append(storage.append)
        if step.column >= 0:
            self._storages[step.column] = storage
            self.operations[step.column] = operation
        return storage

    def take_back(self, rows: int) -> None:
        """Drop the values of a broken record after the first `rows`, which are whole."""
        records = self._records
        records.kept = rows
        seen = [records]
        for group, storage in self._order:
            if group is records and len(storage) == rows:
                break  # the record broke before it came here
            if group.kept < 0:
                assert group.parent is not None
                upto = group.parent.kept
                group.size += sum(group.lengths[group.counted : upto])
                group.counted = upto
                group.kept = group.size
                seen.append(group)
            del storage[group.kept :]
        for group in seen:
            group.kept = -1

    def refuse_views(self) -> None:
        """Raises `BufferError` if somebody holds a view of a column that would grow only when it is asked for again."""
        for column, flat in self.flat.items():
            storage = self._storages[column]
            if flat.read and isinstance(storage, array):
                storage.append(0)
                storage.pop()

    def check(self, column: int, operation: int) -> None:
        """Raises `KeyError` for a column that is not there, `TypeError` for one of another operation."""
        if self.operations[column] != operation:
            raise TypeError(f"column {column} is of operation {self.operations[column]}, not {operation}")

    def outside(self, column: int) -> None:
        """Raises `TypeError` for a column within an array."""
        if column not in self.top:
            raise TypeError(f"column {column} is within an array")

    def numbers(self, column: int) -> array[Any]:
        """A numeric column. Raises `KeyError`, or `TypeError` for one of strings."""
        storage = self._storages[column]
        if not isinstance(storage, array):
            raise TypeError(f"column {column} holds strings")
        if column in self.flat:
            self._read_flat(self.flat[column])
        done = self._swapped.get(column, 0)
        if self.operations[column] in _SWAPPED and done < len(storage):
            fresh = storage[done:]
            fresh.byteswap()
            storage[done:] = fresh
            self._swapped[column] = len(storage)
        return storage

    def _read_flat(self, flat: Flat) -> None:
        read = pool_reader(flat.element, self.compressed)
        for row in range(flat.read, self.rows):
            read(self.bytes, flat.starts[row], flat.stops[row], iter(range(flat.lengths[row])), flat.adds)
        flat.read = self.rows

    def strings(self, column: int) -> list[str | int | None]:
        """A column of strings, with the keys of those that are references. Raises `KeyError` or `TypeError`."""
        storage = self._storages[column]
        if isinstance(storage, array):
            raise TypeError(f"column {column} holds numbers")
        return storage
