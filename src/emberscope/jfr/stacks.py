"""Stack traces of one chunk as nodes of the prefix tree, built when a sample first refers to them."""

from __future__ import annotations

from typing import Final

from emberscope.jfr.constants import Pools
from emberscope.tables.frames import class_name
from emberscope.tables.stack_tree import ROOT, StackTree

UNRESOLVED_FRAME: Final = "[unresolved]"
"""The name of a frame whose method the recording does not hold."""

_KINDS: Final = {"Native": "native", "C++": "native", "Kernel": "kernel"}


class Stacks:
    """Resolves keys of stack traces against the pools of their chunk, into a tree that may serve many chunks."""

    def __init__(self, pools: Pools, tree: StackTree, lines: bool) -> None:
        self._pools = pools
        self._tree = tree
        self._lines = lines
        self._traces = pools.by_name["jdk.types.StackTrace"]
        self._methods = pools.by_name["jdk.types.Method"]
        self._classes = pools.by_name["java.lang.Class"]
        types = {key: pools.text(name) for key, name in pools.by_name["jdk.types.FrameType"].items()}
        # "Native" is a Java native method to the JDK and a C function to async-profiler, which alone knows "Kernel".
        native = "Kernel" in types.values()
        self._kinds = {key: _KINDS.get(name or "", "java") if native else "java" for key, name in types.items()}
        self._frames: dict[tuple[int, ...], int] = {}
        self._unresolved_frames: set[int] = set()
        self._nodes: dict[int, int] = {0: ROOT}
        self.unresolved: set[int] = set()
        """Keys that lead to no stack, or to one with a frame that could not be resolved."""

    def node(self, key: int | None) -> int:
        """The node of the stack with this key; the root for none, and where the recording does not hold it."""
        if key is None:
            return ROOT
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = self._build(key)
        return found

    def truncated(self, key: int | None) -> bool:
        """Whether the recorder cut the root side."""
        trace = self._traces.get(key)
        return trace is not None and bool(trace[0])

    def leaf(self, key: int | None) -> str | None:
        """The top frame's method, spelled as the recording has it but with dots."""
        trace = self._traces.get(key)
        if trace is None or not trace[1]:
            return None
        owner, name = self._method(trace[1][0])
        return f"{owner.replace('/', '.')}.{name}" if owner else name

    def _build(self, key: int) -> int:
        trace = self._traces.get(key)
        if trace is None:
            self.unresolved.add(key)
            return ROOT
        methods, types = trace[1] or (), trace[2] or ()
        columns = (methods, types, trace[3] or ()) if self._lines else (methods, types)
        places = list(zip(*columns, strict=False))
        known = self._frames
        frames = [known[place] if place in known else self._frame(place) for place in places]
        if len(frames) < len(methods) or not self._unresolved_frames.isdisjoint(frames):
            self.unresolved.add(key)
        frames.reverse()
        return self._tree.node(frames)

    def _frame(self, place: tuple[int, ...]) -> int:
        """The frame of a method, a frame type and, where they are asked for, a line."""
        method, frame_type, *line = place
        owner, name = self._method(method)
        kind = self._kinds.get(frame_type, "java")
        if kind == "java" and owner:
            name = f"{class_name(owner)}.{name}"
        frame = self._frames[place] = self._tree.frame(name, kind, *line)
        if name == UNRESOLVED_FRAME:
            self._unresolved_frames.add(frame)
        return frame

    def _method(self, key: int) -> tuple[str, str]:
        """Class and method as written; the class is the library where the frame is native."""
        owner_key, name_key = self._methods.get(key) or (None, None)
        name = self._pools.symbol(name_key)
        if name is None:
            return "", UNRESOLVED_FRAME
        return self._pools.symbol(self._classes.get(owner_key)) or "", name
