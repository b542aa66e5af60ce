"""The prefix tree of stacks while it is being built: readers intern frames and stacks into it, root first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from emberscope.kernel import Tree

if TYPE_CHECKING:
    import pyarrow as pa

    from emberscope.kernel import Stacks

ROOT: Final = 0
"""The node of the empty stack. A sample without a stack stands here."""

NameFrame = Callable[[str | None, str | None, int], tuple[str, str]]
"""(class, method, kind number) as a reader's file has them, to name and kind as in table frames."""


class StackTree:
    """Interns frames to frame ids and stacks to nodes. One tree may serve many chunks and files."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.kinds: list[str] = []
        self.lines: list[int] = []
        self._frame_ids: dict[tuple[str, str, int], int] = {}
        self._tree = Tree()
        self.child = self._tree.child
        """(parent, frame) to the node of `frame` called from node `parent`."""

    def __len__(self) -> int:
        """Nodes, the root among them."""
        return self._tree.size()

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

    def node(self, frames_root_first: Iterable[int]) -> int:
        """The node of a whole stack of frame ids, root first."""
        return self._tree.node(list(frames_root_first))

    def graft(self, stacks: Stacks, name_frame: NameFrame) -> memoryview:
        """All stacks of a chunk: the node (int32) of each of its local nodes.

        `name_frame` is asked once for each frame that no chunk before had.
        """
        for local, owner, method, kind, line in self._tree.unknown(stacks):
            self._tree.learn(stacks, local, self.frame(*name_frame(owner, method, kind), line))
        return self._tree.graft(stacks)

    def parents(self) -> memoryview:
        """The caller of each node, int32; -1 for the root."""
        return self._tree.parents()

    def frames(self) -> memoryview:
        """The frame of each node, int32; -1 for the root."""
        return self._tree.frames()

    def labels(self) -> list[str]:
        """The name of each frame with its line, where it has one."""
        return [f"{name}:{line}" if line else name for name, line in zip(self.names, self.lines, strict=True)]

    def tables(self) -> tuple[pa.Table, pa.Table]:
        """The tables `stacks` and `frames` as they stand now."""
        import numpy as np

        from emberscope.tables.frames import FRAMES
        from emberscope.tables.stacks import STACKS

        stacks = STACKS.from_columns(
            {"parent": np.frombuffer(self.parents(), np.int32), "frame": np.frombuffer(self.frames(), np.int32)}
        )
        frames = FRAMES.from_columns({"name": self.names, "kind": self.kinds, "line": self.lines})
        return stacks, frames
