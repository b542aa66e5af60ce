"""Distinct frames of all stacks, and how the classes in their names are spelled."""

import re
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
            "java native kernel python",
            "what the frame is; compilation does not matter",
            "JFR frame type",
        ),
        Column(
            "line", "int32", "number", "source line; 0 where it was not asked for or is not known", "JFR lineNumber"
        ),
    ),
)

_HIDDEN_CLASS: Final = re.compile(r"(?:[+/.]0x[0-9a-f]+|/\d+)+$")
_LAMBDA: Final = re.compile(r"\$\$Lambda(?:\$\d+(?:\.\d+)?|_)?$")


def class_name(symbol: str) -> str:
    """`package.Outer$Inner` of a class as the JVM spells it.

    Hidden classes (lambdas, method handles) carry a number or an address that differs from JVM to JVM; without it,
    equal code of all executors meets in one frame.
    """
    name = symbol
    if "/0x" in name or "+0x" in name or ".0x" in name or "$$Lambda" in name or name[-1:].isdigit():
        name = _LAMBDA.sub("$$Lambda", _HIDDEN_CLASS.sub("", name))
    return name.replace("/", ".")
