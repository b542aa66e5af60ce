"""Stack traces of one chunk as a local prefix tree, built when a sample first refers to them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from emberscope.kernel.ops import LONG
from emberscope.kernel.plain.buffers import Ints, ints
from emberscope.kernel.plain.decoder import Decoder
from emberscope.kernel.plain.traces import of_records, traces

Frame: TypeAlias = tuple[str | None, str | None, int, int]
"""Class, method, kind, line."""

_TRUNCATED_FRAME: Final[Frame] = (None, None, -1, 0)
_TRUNCATED: Final = 1
_UNRESOLVED: Final = 2
_NO_STACK: Final = 4
_NUMBER: Final = -1
"""Under this key, which no frame has, a node keeps its own number among its children."""


class Stacks:
    """`emberscope.kernel._native` says what this and its methods do."""

    def __init__(
        self,
        decoder: Decoder,
        trace: tuple[int, int, int, int, int, int],
        method: tuple[int, int, int],
        klass: tuple[int, int],
        symbol: tuple[int, int],
        pool: tuple[int, int] | None,
        kinds: Mapping[int, int],
    ) -> None:
        if any(not 0 <= kind <= 255 for kind in kinds.values()):
            raise ValueError("a kind is a number of 0 to 255")
        self._kinds = kinds
        columns = decoder.columns(trace[0])
        self._rows = decoder.rows_by_key(trace[0])
        if columns is not None:
            self._traces = traces(columns, trace[1:])
        self._names = _Names(decoder, method, klass, symbol, pool)
        self._locals: dict[tuple[int, int, int] | None, int] = {}
        self._places: dict[Any, int] = {}
        self._unresolved: set[int] = set()
        self.frames: list[Frame] = []
        """Local frames as text."""
        self.node_parents = array("i", [-1])
        self.node_frames = array("i", [-1])
        self._root: dict[int, Any] = {_NUMBER: 0}
        self._nodes: dict[int, int] = {0: 0}
        self._flags: dict[int, int] = {0: _NO_STACK}

    def nodes(self, keys: Ints) -> tuple[memoryview, memoryview]:
        given = ints(keys, "q").tolist()
        nodes, flags = self._nodes, self._flags
        for key in dict.fromkeys(given):
            if key not in nodes:
                nodes[key], flags[key] = self._build(key)
        return (
            memoryview(array("i", map(nodes.__getitem__, given))),
            memoryview(array("B", map(flags.__getitem__, given))),
        )

    def _build(self, key: int) -> tuple[int, int]:
        """The node of a trace that was not asked for before, and its flags."""
        row = self._rows.get(key)
        if row is None:
            return 0, _UNRESOLVED
        flags = _TRUNCATED if self._traces.truncated(row) else 0
        places = self._traces.places(row)
        if not places:
            return 0, flags | _NO_STACK
        path = [self._local(None)] if flags else []
        places.reverse()
        known = self._places
        try:
            path += [known[place] for place in places]
        except KeyError:
            path += [known[place] if place in known else self._frame(place) for place in places]
        if self._unresolved and not self._unresolved.isdisjoint(path):
            flags |= _UNRESOLVED
        return self._walk(path), flags

    def _walk(self, path: list[int]) -> int:
        """The node at the end of a path of frames from the root; readers spend much of their time here."""
        node = self._root
        for frame in path:
            child = node.get(frame)
            if child is None:
                child = node[frame] = {_NUMBER: len(self.node_parents)}
                self.node_parents.append(node[_NUMBER])
                self.node_frames.append(frame)
            node = child
        number: int = node[_NUMBER]
        return number

    def _frame(self, place: Any) -> int:
        """The local frame of a place that was not met before."""
        method, frame_type, line = self._traces.values(place)
        kind = 0 if frame_type is None else self._kinds.get(frame_type, 0)
        local = self._places[place] = self._local((method, kind, line))
        return local

    def _local(self, frame: tuple[int, int, int] | None) -> int:
        """The number of a frame by method key, kind and line; None is the frame `TRUNCATED`."""
        local = self._locals.get(frame)
        if local is None:
            local = self._locals[frame] = len(self.frames)
            if frame is None:
                self.frames.append(_TRUNCATED_FRAME)
            else:
                owner, name = self._names.of(frame[0])
                self.frames.append((owner, name, frame[1], frame[2]))
                if name is None:
                    self._unresolved.add(local)
        return local

    def size(self) -> int:
        return len(self.node_parents)

    def leaves(self, nodes: Ints) -> list[tuple[str, str, int]]:
        counts: Counter[tuple[str, str]] = Counter()
        for node, times in Counter(ints(nodes, "i")).items():
            if not 0 <= node < len(self.node_frames):
                raise IndexError(f"there is no node {node}")
            owner, name, kind, _ = self.frames[self.node_frames[node]] if node else _TRUNCATED_FRAME
            if kind >= 0:
                counts[owner or "", name or ""] += times
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [(owner, name, times) for (owner, name), times in ordered]


class _Names:
    """Class and method of the keys of methods."""

    def __init__(
        self,
        decoder: Decoder,
        method: tuple[int, int, int],
        klass: tuple[int, int],
        symbol: tuple[int, int],
        pool: tuple[int, int] | None,
    ) -> None:
        methods, classes, symbols = (decoder.columns(type_id) for type_id in (method[0], klass[0], symbol[0]))
        self._methods = decoder.rows_by_key(method[0])
        self._classes = decoder.rows_by_key(klass[0])
        self._symbols = decoder.rows_by_key(symbol[0])
        self._owners = of_records(methods, method[1], LONG)
        self._method_names = of_records(methods, method[2], LONG)
        self._class_names = of_records(classes, klass[1], LONG)
        decoder.check_pool(pool)
        self._texts: list[str | None] = []
        if symbols is not None:
            self._texts = decoder.strings(*symbol, pool)
            symbols.outside(symbol[1])

    def of(self, key: int) -> tuple[str | None, str | None]:
        row = self._methods.get(key)
        if row is None:
            return None, None
        owner = self._classes.get(self._owners[row])
        return (
            None if owner is None else self._symbol(self._class_names[owner]),
            self._symbol(self._method_names[row]),
        )

    def _symbol(self, key: int) -> str | None:
        row = self._symbols.get(key)
        return None if row is None else self._texts[row]
