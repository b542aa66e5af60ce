"""What a frame is: the words of column `kind` of table frames.

Usually all Java is one kind, so that a method is one frame however it was compiled, and a flame graph does not fork
where the compiler stepped in. Asked for, the ways in which Java runs are told apart.
"""

from __future__ import annotations

from typing import Final

JAVA: Final = "java"
INTERPRETED: Final = "interpreted"
C1: Final = "c1"
JIT: Final = "jit"
INLINED: Final = "inlined"
NATIVE: Final = "native"
CPP: Final = "cpp"
KERNEL: Final = "kernel"
PYTHON: Final = "python"

COMPILATIONS: Final = {
    INTERPRETED: "interpreted",
    C1: "compiled by C1",
    JIT: "compiled",
    INLINED: "inlined into its caller",
}
"""Kinds of Java frames where compilation is told apart, with the words for people."""

ENDINGS: Final = {INTERPRETED: "_[0]", C1: "_[1]", JIT: "_[j]", INLINED: "_[i]"}
"""What async-profiler puts after the name of such a frame in folded stacks."""

_FRAME_TYPES: Final = {
    "Interpreted": INTERPRETED,
    "C1 compiled": C1,
    "JIT compiled": JIT,
    "Inlined": INLINED,
}


def java_kind(frame_type: str) -> str:
    """The kind of a Java frame from the description of its frame type in JFR, by the JDK or async-profiler.

    `java` for a type that says nothing of compilation: the JDK's `Native` is a method of Java written in C.
    """
    return _FRAME_TYPES.get(frame_type, JAVA)
