"""One prefix tree over many chunks."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Final

from emberscope.kernel.plain.stacks import Frame, Stacks

_INTS: Final = range(1 << 31)


class Tree:
    """`emberscope.kernel._native` says what this and its methods do."""

    def __init__(self) -> None:
        self._parents = array("i", [-1])
        self._frames = array("i", [-1])
        self._nodes: dict[tuple[int, int], int] = {}
        self._ids: dict[Frame, int] = {}

    def unknown(self, stacks: Stacks) -> list[tuple[int, str | None, str | None, int, int]]:
        seen: set[Frame] = set()
        found = []
        for local, frame in enumerate(stacks.frames):
            if frame not in self._ids and frame not in seen:
                seen.add(frame)
                found.append((local, *frame))
        return found

    def learn(self, stacks: Stacks, local_frame: int, frame: int) -> None:
        if not 0 <= local_frame < len(stacks.frames):
            raise IndexError(f"there is no local frame {local_frame}")
        self._ids[stacks.frames[local_frame]] = _checked(frame)

    def graft(self, stacks: Stacks) -> memoryview:
        ids = [self._ids[frame] for frame in stacks.frames]
        nodes, grafted = self._nodes, array("i", [0])
        for parent, frame in zip(stacks.node_parents[1:], stacks.node_frames[1:], strict=True):
            place = (grafted[parent], ids[frame])
            node = nodes.get(place)
            grafted.append(node if node is not None else self._grow(place))
        return memoryview(grafted)

    def child(self, parent: int, frame: int) -> int:
        if not 0 <= parent < len(self._parents):
            raise IndexError(f"there is no node {parent}")
        place = (parent, _checked(frame))
        node = self._nodes.get(place)
        return node if node is not None else self._grow(place)

    def node(self, frames_root_first: Sequence[int]) -> int:
        node = 0
        for frame in frames_root_first:
            node = self.child(node, frame)
        return node

    def _grow(self, place: tuple[int, int]) -> int:
        node = self._nodes[place] = len(self._parents)
        self._parents.append(place[0])
        self._frames.append(place[1])
        return node

    def size(self) -> int:
        return len(self._parents)

    def parents(self) -> memoryview:
        return memoryview(self._parents[:])

    def frames(self) -> memoryview:
        return memoryview(self._frames[:])


def _checked(frame: int) -> int:
    if frame not in _INTS:
        raise ValueError(f"a frame is a number of 0 to {_INTS[-1]}, not {frame}")
    return frame
