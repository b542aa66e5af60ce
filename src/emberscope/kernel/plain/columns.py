"""The columns of one type: what its readers append to, and how a record that broke is taken back."""

from __future__ import annotations

import sys
from array import array
from typing import Any, Final, TypeAlias

from emberscope.kernel.ops import DOUBLE, FLOAT, STRING
from emberscope.kernel.plain.program import FORMATS, Step
from emberscope.kernel.plain.reader import Adds, stored

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


class Columns:
    """All columns of a type, and how many records they hold."""

    __slots__ = ("_order", "_records", "_swapped", "adds", "broken", "operations", "program", "rows", "storages", "top")

    def __init__(self, program: tuple[Step, ...]) -> None:
        self.program = program
        self.rows = 0
        self.broken = 0
        self.operations: dict[int, int] = {}
        self.storages: dict[int, Storage] = {}
        self.top = frozenset(step.column for step in program)
        """Columns outside of arrays."""
        self._swapped: dict[int, int] = {}
        self._records = _Group(None, array("q"))
        self._order: list[tuple[_Group, Storage]] = []
        adds: list[Any] = []
        self._lay_out(program, self._records, adds)
        self.adds: Adds = tuple(adds)

    def _lay_out(self, program: tuple[Step, ...], group: _Group, adds: list[Any]) -> None:
        for step in program:
            if step.column < 0 and not stored(step.element):
                continue
            operation = step.operation
            storage: Storage = [] if operation == STRING else array(FORMATS[operation])
            self._order.append((group, storage))
            if isinstance(storage, array) and operation in (FLOAT, DOUBLE):
                adds.append(storage.frombytes)
            else:
                adds.append(storage.append)
            if step.column >= 0:
                self.storages[step.column] = storage
                self.operations[step.column] = operation
            if step.element and isinstance(storage, array):
                self._lay_out(step.element, _Group(group, storage), adds)

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

    def numbers(self, column: int) -> array[Any]:
        """A numeric column. Raises `KeyError`, or `TypeError` for one of strings."""
        storage = self.storages[column]
        if not isinstance(storage, array):
            raise TypeError(f"column {column} holds strings")
        done = self._swapped.get(column, 0)
        if self.operations[column] in _SWAPPED and done < len(storage):
            fresh = storage[done:]
            fresh.byteswap()
            storage[done:] = fresh
            self._swapped[column] = len(storage)
        return storage

    def strings(self, column: int) -> list[str | int | None]:
        """A column of strings, with the keys of those that are references. Raises `KeyError` or `TypeError`."""
        storage = self.storages[column]
        if isinstance(storage, array):
            raise TypeError(f"column {column} holds numbers")
        return storage
