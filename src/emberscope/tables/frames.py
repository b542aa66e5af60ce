"""Distinct frames of all stacks."""

from typing import Final

from emberscope.tables.table import Column, Table

FRAMES: Final = Table(
    "frames",
    "one frame",
    (
        Column(
            "name",
            "string",
            "name",
            "package.Class.method for Java, symbol for native, module.function for Python",
            "JFR method",
        ),
        Column(
            "kind",
            "category",
            "java interpreted c1 jit inlined native cpp kernel python",
            "what the frame is; how Java was compiled is told apart only where it was asked for",
            "JFR frame type",
        ),
        Column(
            "line", "int32", "number", "source line; 0 where it was not asked for or is not known", "JFR lineNumber"
        ),
    ),
)
