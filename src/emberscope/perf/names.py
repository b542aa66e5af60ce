"""Names of frames as text profiles spell them, in the spelling of table frames."""

from __future__ import annotations

import re
from typing import Final

from emberscope.tables.frame_kinds import ENDINGS, JAVA, KERNEL, NATIVE, PYTHON
from emberscope.tables.frame_names import class_name

# How agents that write the JIT map spell a method: perf-map-agent (`Lcom/foo/Bar;::baz`, with or without a signature),
# perf's own JVMTI agent (`Lcom/foo/Bar;baz(I)V`), and the JVM's `Compiler.perfmap` (`void com.foo.Bar.baz(int)`).
_DESCRIPTOR: Final = re.compile(r"L(?P<owner>[\w$/.+-]+);(?:::|\.)?(?P<method>[\w$<>]+)(?:\(.*)?")
_DECLARATION: Final = re.compile(r"(?:[\w$.\[\]]+ )+(?P<owner>[\w$/.+]+)\.(?P<method>[\w$<>]+)\(.*\)")
# The last of these is our own spelling of operators (`scala.collection.SeqOps.++`, `x_=`, `->$extension`).
_QUALIFIED: Final = re.compile(
    r"(?P<owner>[A-Za-z_$][\w$/.+-]*)\.(?P<method>[A-Za-z_$<][\w$<>]*|(?:[\w$]+_)?[-+*%=<>!?&|^~:@#\\]+(?:\$[\w$]*)?)"
)
_LIBRARY: Final = re.compile(r"(?:^|/)[\w.+-]+\.(?:so|ko|dll|dylib|exe)$")
# CPython's perf trampoline (`py::work:/app/job.py`), and py-spy (`work (job.py:12)`).
_TRAMPOLINE: Final = re.compile(r"py::(?P<function>.+):(?:.*/)?(?P<module>[^/:]+?)(?:\.py)?")
_PY_SPY: Final = re.compile(r".+ \([^()]*\.py(?::\d+)?\)")
_SUFFIXES: Final = re.compile(r"(?:_\[[jik01]\])+$")
_COMPILATIONS: Final = {ending: kind for kind, ending in ENDINGS.items()}


def jit_frame(symbol: str) -> tuple[str, str]:
    """Name and kind (java, python) of a symbol out of a JIT map; what is no method keeps its name."""
    python = _TRAMPOLINE.fullmatch(symbol)
    if python is not None:
        return f"{python['module']}.{python['function']}", PYTHON
    return _java_name(symbol, _DESCRIPTOR, _DECLARATION, _QUALIFIED) or symbol, JAVA


def collapsed_frame(written: str, compilation: bool = False) -> tuple[str, str]:
    """Name and kind (java, native, kernel, python) of a frame of collapsed stacks.

    async-profiler and FlameGraph tell the kind by an ending, which is taken off: `_[j]`, `_[i]`, `_[0]` and `_[1]` for
    Java (compiled, inlined, interpreted, by C1; kinds of their own with `compilation`), `_[k]` for the kernel. Without
    one the spelling tells: `package/Class.method` is Java, `work (job.py:12)` and `py::work:job.py` are Python, all
    else is native.
    """
    name = _SUFFIXES.sub("", written)
    if len(name) < len(written):
        if written.endswith("_[k]"):
            return name, KERNEL
        name, kind = jit_frame(name)
        return name, _COMPILATIONS[written[-4:]] if compilation and kind == JAVA else kind
    if _PY_SPY.fullmatch(name):
        return name, PYTHON
    if _TRAMPOLINE.fullmatch(name):
        return jit_frame(name)
    java = None if _LIBRARY.search(name) else _java_name(name, _DECLARATION, _QUALIFIED)
    return (java, JAVA) if java else (name, NATIVE)


def _java_name(symbol: str, *spellings: re.Pattern[str]) -> str | None:
    for spelling in spellings:
        found = spelling.fullmatch(symbol)
        if found is not None:
            return f"{class_name(found['owner'])}.{found['method']}"
    return None
