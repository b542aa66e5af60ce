"""Where in the user's program something was asked for, as far as a log tells."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

# Frames of Spark, the JVM and what calls it from Python or a notebook: they say nothing about the user's program.
_NOT_THE_USERS: Final = (
    *("org.apache.spark.", "java.", "javax.", "java.base/", "jdk.", "sun.", "scala.", "py4j.", "com.databricks."),
    *("org.apache.livy.", "org.apache.zeppelin.", "com.sun."),
)
_FRAME: Final = re.compile(r"^(?P<method>[^\s(]+)\((?P<file>[^():\s]+|<console>):(?P<line>\d+)\)$")
# Files of call sites that Spark makes itself.
_NO_FILE: Final = re.compile(
    r"NativeMethodAccessorImpl|DirectMethodHandleAccessor|CompletableFuture|ThreadPoolExecutor|SQLExecution\.scala"
    r"|DriverLocal\.scala|PythonRDD\.scala|\$anonfun|<unknown>"
)
_PLACE: Final = re.compile(r" at (?:\S*/)?([^/\s]+:\d+)\s*$")


def call_site(shorts: Iterable[str | None], details: str | None) -> str:
    """`collect at daily.py:23`: the first of the short call sites that names a line of the user's, else that of the
    first frame of his in the long one. Where no line is known the action alone, `collect`; empty where not even that.
    """
    action = ""
    for short in shorts:
        one_line = " ".join((short or "").split())
        found = _PLACE.search(one_line)
        if found is None:
            continue
        verb = one_line[: found.start()]
        if not _NO_FILE.search(one_line):
            return f"{verb} at {found[1]}"
        if "$anonfun" not in verb:
            action = action or verb
    return _from_frames(details or "", action) or action


def line_of(site: str) -> str | None:
    """`daily.py:23` of a call site; None where it names no line."""
    found = _PLACE.search(site)
    return found[1] if found else None


def _from_frames(details: str, action: str) -> str:
    for line in details.splitlines():
        found = _FRAME.match(line.strip())
        if found is None:
            continue
        if found["method"].startswith(_NOT_THE_USERS):
            action = action or found["method"].rpartition(".")[2]
        else:
            return f"{action or found['method'].rpartition('.')[2]} at {found['file']}:{found['line']}"
    return ""
