"""Java's properties format, in which `spark-defaults.conf` and `--properties-file` are written."""

from __future__ import annotations

import re
from typing import Final

_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_KEY: Final = re.compile(r"(?:\\.|[^\\\s=:])*", re.S)
_SEPARATOR: Final = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")


def parse(text: str) -> dict[str, str]:
    """The Spark settings of a properties text, as `java.util.Properties` and Spark read them.

    Key and value are separated by white space, `=` or `:`; a backslash at the end continues the line; the last of
    several values counts; Spark trims values. Keys outside `spark.` are left out, as Spark leaves them out.
    """
    found: dict[str, str] = {}
    for line in _logical_lines(text):
        key = _KEY.match(line)
        if key is None or not key[0]:
            continue
        separator = _SEPARATOR.match(line, key.end())
        value = line[separator.end() :] if separator else ""
        found[_unescape(key[0])] = _unescape(value).strip(" \t\f")
    return {key: value for key, value in found.items() if key.startswith("spark.")}


def line(key: str, value: str) -> str:
    """One line that `parse` and Java read back as this key and value."""
    escaped = value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    if escaped[:1] == " ":
        escaped = "\\" + escaped
    escaped_key = re.sub(r"([\\\s=:#!])", r"\\\1", key)
    return f"{escaped_key}={escaped}\n"


def _logical_lines(text: str) -> list[str]:
    lines: list[str] = []
    pending: str | None = None
    for natural in re.split(r"\r\n|\n|\r", text):
        stripped = natural.lstrip(" \t\f")
        if pending is None and (not stripped or stripped[0] in "#!"):
            continue
        logical = (pending or "") + stripped
        backslashes = len(logical) - len(logical.rstrip("\\"))
        if backslashes % 2:
            pending = logical[:-1]
            continue
        pending = None
        lines.append(logical)
    if pending:
        lines.append(pending)
    return lines


def _unescape(text: str) -> str:
    def one(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return _ESCAPES.get(found[2], found[2])

    return re.sub(r"\\(?:u([0-9a-fA-F]{4})|(.))", one, text, flags=re.S)
