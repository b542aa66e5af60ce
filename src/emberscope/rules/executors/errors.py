"""What the text of a failure says: the exception in one line, and the line of the user's program it came from."""

from __future__ import annotations

import re
from typing import Final

_MOST: Final = 160

# Where Spark's own words about a failure end and the exception begins.
_BEFORE: Final = re.compile(
    r"^.*?(most recent failure: )?Lost task [\d.]+ in stage [\d.]+ \(TID \d+\)\s*(\([^)]*\))?:\s*", re.DOTALL
)
_PYTHON_LINE: Final = re.compile(r'File "([^"]+)", line (\d+), in ([^\s]+)')
_JAVA_LINE: Final = re.compile(r"^\s*at ([\w.$]+)\(([\w$]+\.(?:scala|java|kt)):(\d+)\)", re.MULTILINE)
_PYTHON_OWN: Final = re.compile(r"/(pyspark|py4j|site-packages|dist-packages|lib/python[\d.]*)[/.]")
_JAVA_OWN: Final = (
    "org.apache.",
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "scala.",
    "com.databricks.",
    "org.sparkproject.",
    "io.netty.",
    "net.jpountz.",
    "com.github.luben.",
    "org.xerial.",
    "com.google.",
)
# A line of a Python traceback that names its exception: `ValueError: again`, `MemoryError`.
_PYTHON_ERROR: Final = re.compile(r"^[A-Za-z_][\w.]*(: |$)|^[A-Za-z_][\w.]*:$")


# A path with more than three folders: its end tells enough.
_LONG_PATH: Final = re.compile(r"(?:/[^\s/:()]+){4,}/(?=[^\s/:()]+)")


def exception_line(error_class: str | None, message: str | None) -> str:
    """The exception in one line: of a Python error its last line, of a Java error its class and the first line."""
    text = _LONG_PATH.sub("…/", _BEFORE.sub("", message or "", count=1).strip())
    if "Traceback (most recent call last)" in text:
        lines = text.split("\nJVM stacktrace", 1)[0].splitlines()
        named = [line for line in lines if not line.startswith((" ", "\t")) and _PYTHON_ERROR.match(line)]
        named = [line for line in named if not line.startswith(("[", "SQLSTATE", "org.apache.spark"))]
        if named:
            return cut(named[-1])
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    name = (error_class or "").rpartition(".")[2]
    first = first.removeprefix(f"{error_class}: ")
    if not name or name in first:
        return cut(first)
    return cut(f"{name}: {first}" if first else name)


def program_line(message: str | None) -> str | None:
    """`job.py:45 in flaky`: the innermost line of the traceback that is neither Spark's nor a library's."""
    text = message or ""
    for path, line, function in reversed(_PYTHON_LINE.findall(text)):
        if not _PYTHON_OWN.search(path) and not path.startswith("<"):
            return f"{path.rpartition('/')[2]}:{line} in {function}"
    for method, file, line in _JAVA_LINE.findall(text):
        if not method.startswith(_JAVA_OWN):
            return f"{file}:{line} in {method.rpartition('.')[0].rpartition('.')[2]}.{method.rpartition('.')[2]}"
    return None


def cut(text: str, most: int = _MOST) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
