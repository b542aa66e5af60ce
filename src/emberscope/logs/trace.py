"""Stack traces in the lines of a record: exceptions with their causes, and the frames of the innermost."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

MOST_FRAMES: Final = 30
_MOST_CAUSES: Final = 20
_MOST_LINE: Final = 2000
"""Characters of a line that are looked at: names of classes are found in a time that grows with the square of them."""
_MOST_TEXT: Final = 2000

_JAVA: Final = re.compile(
    r"(?:^|(?P<caused>Caused by: )|(?P<also>Suppressed: )|[\s:>(])"
    r"(?P<class>(?:[a-z_][\w-]*\.)+[A-Z][\w.$]*(?:Exception|Error|Throwable|Failure|Interrupt)\w*)"
    r"(?:: (?P<text>.*)|\s*$|(?=[\s,;)]))"
)
_FRAME: Final = re.compile(r"^\s*at (?P<frame>[\w.$/<>@-]+\([^()\n]*\))")
_PYTHON: Final = re.compile(
    r"^(?P<class>(?:[\w]+\.)*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Warning|Failure))(?:: (?P<text>.*))?$"
)
_PYTHON_FRAME: Final = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>\S+)')


class Trace(Struct, frozen=True):
    """`causes` are `class: message`, the outermost first; `frames` those of the innermost, innermost first."""

    exception: str | None
    causes: tuple[str, ...]
    frames: tuple[str, ...]


def trace_of(lines: list[str]) -> Trace:
    """What the lines of one record say of exceptions; the first line is the message."""
    causes: list[str] = []
    frames: list[str] = []
    exception: str | None = None
    suppressed = python = False
    for number, whole in enumerate(lines):
        line = whole[:_MOST_LINE]
        frame = _FRAME.match(line)
        if frame is not None:
            if not suppressed and len(frames) < MOST_FRAMES:
                frames.append(frame["frame"])
            continue
        if line.startswith("Traceback (most recent call last)"):
            python = True
            frames = []
            continue
        within = _PYTHON_FRAME.match(line) if python else None
        if within is not None:
            frames = [f"{within['name']} ({within['file']}:{within['line']})", *frames][:MOST_FRAMES]
            continue
        found = _JAVA.search(line)
        if found is None and python:
            found = _PYTHON.match(line)
            python = found is None
        if found is None:
            continue
        head = number == 0 or found.start("class") <= len("Caused by: ") or line.lstrip().startswith("Caused by: ")
        suppressed = line.lstrip().startswith("Suppressed: ")
        if suppressed or not head:
            continue
        said = f"{found['class']}: {found['text'] or ''}".rstrip(": ")[:_MOST_TEXT]
        if causes and causes[-1] == said:
            continue
        if len(causes) < _MOST_CAUSES:
            causes.append(said)
        exception = exception or found["class"]
        frames = []
    return Trace(exception, tuple(causes), tuple(frames))
