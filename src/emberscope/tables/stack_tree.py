"""The prefix tree of stacks while it is being built: readers intern frames and stacks into it, root first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from emberscope.tables.frames import FRAMES
from emberscope.tables.stacks import STACKS

if TYPE_CHECKING:
    import pyarrow as pa

ROOT: Final = 0
"""The node of the empty stack. A sample without a stack stands here."""


class StackTree:
    """Interns frames to frame ids and stacks to nodes. One tree may serve many chunks and files."""

    def __init__(self) -> None:
        self.parents: list[int] = [-1]
        self.frames: list[int] = [-1]
        self.names: list[str] = []
        self.kinds: list[str] = []
        self.lines: list[int] = []
        self._frame_ids: dict[tuple[str, str, int], int] = {}
        self._nodes: dict[tuple[int, int], int] = {}

    def frame(self, name: str, kind: str = "java", line: int = 0) -> int:
        """The id of this frame; a new one where it is not known yet. `kind` as in table frames."""
        key = (name, kind, line)
        found = self._frame_ids.get(key)
        if found is None:
            found = self._frame_ids[key] = len(self.names)
            self.names.append(name)
            self.kinds.append(kind)
            self.lines.append(line)
        return found

    def child(self, parent: int, frame: int) -> int:
        """The node of `frame` called from node `parent`."""
        key = (parent, frame)
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = len(self.parents)
            self.parents.append(parent)
            self.frames.append(frame)
        return found

    def node(self, frames_root_first: Iterable[int]) -> int:
        """The node of a whole stack of frame ids, root first."""
        node = ROOT
        nodes = self._nodes
        for frame in frames_root_first:  # readers spend much of their time here, so known nodes cost no call
            found = nodes.get((node, frame))
            node = found if found is not None else self.child(node, frame)
        return node

    def tables(self) -> tuple[pa.Table, pa.Table]:
        """The tables `stacks` and `frames` as they stand now."""
        stacks = STACKS.from_columns({"parent": self.parents, "frame": self.frames})
        frames = FRAMES.from_columns({"name": self.names, "kind": self.kinds, "line": self.lines})
        return stacks, frames
