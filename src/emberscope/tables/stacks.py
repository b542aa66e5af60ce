"""The prefix tree of all stacks: a stack is one node, its frames lie on the way up to the root."""

from typing import Final

from emberscope.tables.table import Column, Table

STACKS: Final = Table(
    "stacks",
    "one node; node 0 is the root and has no frame",
    (
        Column("parent", "int32", "node", "node of the caller; -1 for the root", "JFR stackTrace.frames"),
        Column("frame", "int32", "frame", "row of table frames; -1 for the root", "JFR stackTrace.frames"),
    ),
)
