"""Stack traces of one chunk: what the kernel has to know to resolve them, and how their frames are named."""

from __future__ import annotations

from typing import Final

from emberscope.jfr.chunk import Choice, Chunk
from emberscope.jfr.layout import KEY
from emberscope.kernel import Stacks
from emberscope.kernel.ops import TRUNCATED
from emberscope.tables.frame_kinds import C1, CPP, INLINED, INTERPRETED, JAVA, JIT, KERNEL, NATIVE, java_kind
from emberscope.tables.frame_names import NO_NAME, frame_name
from emberscope.tables.stack_tree import NameFrame

TRACE: Final = "jdk.types.StackTrace"
METHOD: Final = "jdk.types.Method"
CLASS: Final = "java.lang.Class"
SYMBOL: Final = "jdk.types.Symbol"
FRAME_TYPE: Final = "jdk.types.FrameType"
STRING: Final = "java.lang.String"

UNRESOLVED_FRAME: Final = "[unresolved]"
"""The name of a frame whose method the recording does not hold."""

IS_TRUNCATED, IS_UNRESOLVED, IS_EMPTY = 1, 2, 4
"""Flags of the kernel about a sample's stack."""

KINDS: Final = (JAVA, INTERPRETED, JIT, INLINED, C1, NATIVE, CPP, KERNEL)
"""Kinds of frames by the number that the kernel keeps."""
_FIRST_NATIVE: Final = KINDS.index(NATIVE)
_NATIVE_TYPES: Final = {"Native": NATIVE, "C++": CPP, "Kernel": KERNEL}

_TYPE_PATH: Final = "frames[].type"
_TRACE_PATHS: Final = ("truncated", "frames[].method", _TYPE_PATH)
_LINE_PATH: Final = "frames[].lineNumber"


def stack_pools(lines: bool) -> Choice:
    """The pools that stacks need, with the paths of their values; line numbers only where they are asked for."""
    return {
        TRACE: frozenset((*_TRACE_PATHS, _LINE_PATH) if lines else _TRACE_PATHS),
        METHOD: frozenset(("type", "name")),
        CLASS: frozenset(("name",)),
        SYMBOL: frozenset(("string",)),
        FRAME_TYPE: frozenset(("description",)),
        STRING: frozenset(("value",)),
    }


def stacks_of(chunk: Chunk, compilation: bool) -> Stacks | None:
    """The stacks of a chunk; None where it describes none (its types have other names, or other fields).

    With `compilation`, frames that were interpreted, compiled or inlined are of different kinds.
    """
    ids = {
        name: chunk.metadata.by_name[name].id
        for name in (TRACE, METHOD, CLASS, SYMBOL)
        if name in chunk.metadata.by_name
    }
    if len(ids) < 4:
        return None
    number = chunk.column_number
    lengths, methods = number(TRACE, "frames"), number(TRACE, "frames[].method")
    trace = (
        ids[TRACE],
        number(TRACE, "truncated"),
        lengths,
        methods,
        number(TRACE, _TYPE_PATH),
        number(TRACE, _LINE_PATH),
    )
    owner, name = number(METHOD, "type"), number(METHOD, "name")
    class_name_column, text = number(CLASS, "name"), number(SYMBOL, "string")
    if min(lengths, methods, owner, name, class_name_column, text) < 0:
        return None
    try:
        return Stacks(
            chunk.decoder,
            trace,
            (ids[METHOD], owner, name),
            (ids[CLASS], class_name_column),
            (ids[SYMBOL], text),
            chunk.string_pool(),
            _kinds(chunk, compilation),
        )
    except (TypeError, ValueError):  # the fields have the right names and other types
        return None


def name_frame(owner: str | None, method: str | None, kind: int) -> tuple[str, str]:
    """Name and kind, as in table frames, of a frame as the file has it."""
    if kind < 0:
        return TRUNCATED, JAVA
    if method is None:
        return UNRESOLVED_FRAME, JAVA
    if kind < _FIRST_NATIVE:
        return frame_name(owner or "", method), KINDS[kind]
    return method or NO_NAME, KINDS[kind]  # the class of a native frame is its library


_: NameFrame = name_frame


def raw_name(owner: str, method: str) -> str:
    """A method as the recording spells it, but with dots."""
    if not method:
        return UNRESOLVED_FRAME
    return f"{owner.replace('/', '.')}.{method}" if owner else method


def _kinds(chunk: Chunk, compilation: bool) -> dict[int, int]:
    """Numbers of `KINDS` by the keys of frame types.

    "Native" is a Java native method to the JDK and a C function to async-profiler, which alone knows "Kernel".
    """
    keys, texts = chunk.numbers(FRAME_TYPE, KEY), chunk.texts(FRAME_TYPE, "description")
    if keys is None or texts is None:
        return {}
    native = _NATIVE_TYPES if "Kernel" in texts else {}
    kinds = [native.get(text or "") or (java_kind(text or "") if compilation else JAVA) for text in texts]
    return {key: KINDS.index(kind) for key, kind in zip(keys.tolist(), kinds, strict=True) if kind != JAVA}
