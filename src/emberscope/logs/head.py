"""The head of a record: the time, level, thread and class that log4j, logback, Python and the vendors write."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from msgspec import Struct, structs

from emberscope.logs.clock import stamp_of

_LEVELS: Final = {
    "FATAL": "FATAL",
    "CRITICAL": "FATAL",
    "SEVERE": "ERROR",
    "ERROR": "ERROR",
    "ERR": "ERROR",
    "WARN": "WARN",
    "WARNING": "WARN",
    "INFO": "INFO",
    "NOTICE": "INFO",
    "DEBUG": "DEBUG",
    "TRACE": "TRACE",
}
_NAMES: Final = "|".join(sorted(_LEVELS, key=len, reverse=True))
_KLOG: Final = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL"}

# What container runtimes, docker and `kubectl logs --prefix` put before the line that the process wrote.
_RUNTIME: Final = re.compile(
    r"(?:\[pod/(?P<pod>[\w.-]+)/[\w.-]+\] )?"
    r"(?:(?P<stamp>\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)) (?P<stream>std(?:out|err) [FP] )?)?"
)
_BETWEEN: Final = re.compile(r"[\s\]\|:,-]*")
_LEVEL: Final = re.compile(rf"[\[(<]?(?P<level>{_NAMES})\b[\])>]?")
# Levels behind a thread, a class or a number: `[main] ERROR c.e.X`, `name - ERROR - message`.
_LATE_LEVEL: Final = re.compile(
    rf"(?P<before>\[[^\]\n]{{1,200}}\] ?|[\w.$-]{{1,120}} (?:- )?)[-:| ]{{0,3}}[\[(]?(?P<level>{_NAMES})[\])]?[-:| ]"
)
_THREAD: Final = re.compile(r"[-\s]*\[(?P<thread>[^\]\n]{1,300})\]")
_LOGGER: Final = re.compile(
    r"[-\s:]*(?P<logger>[A-Za-z_][\w.$/-]{0,200}(?:\([\w.$:<>]+\))?(?: \([^()\s]*\([^()]*\)\))?)"
    r"(?::\d+(?= - ))?(?: ?\[[^\]]*\])?\s*(?::| - |-\s)\s*"
)
# A level at the very start stands for itself where what follows is a class, a thread or a mark: not prose.
_BARE: Final = re.compile(rf"\[?(?P<level>{_NAMES})\]?(?:\s*[:\]]|\s+\[|\s+[\w.$]+:|\s)")


class Head(Struct, frozen=True):
    """What stands before a message; `length` characters of the line. `in_utc` where the time named its zone."""

    length: int
    time_ms: int | None = None
    in_utc: bool = False
    level: str | None = None
    thread: str | None = None
    logger: str | None = None
    message: str | None = None
    more: str = ""
    pod: str | None = None


def head_of(line: str, year: int | None = None) -> Head | None:
    """The head with which a line begins, or None where the line has none and belongs to the record before it. `year`
    is that of times that name none.

    Of a line that is a JSON object, `message` and `more` (stack trace) are what its members say.
    """
    if not line or line[0] in " \t\r>":
        return _of_quoted(line, year)
    if line[0] == "{":
        return _of_json(line, year)
    at, pod = 0, None
    runtime = _RUNTIME.match(line)
    if runtime is not None and runtime.end():
        inner = head_of(line[runtime.end() :], year)
        pod = runtime["pod"]
        if inner is not None and (runtime["stream"] or pod or inner.time_ms is not None):
            stamp = stamp_of(runtime["stamp"]) if runtime["stamp"] and inner.time_ms is None else None
            if stamp is not None:
                inner = structs.replace(inner, time_ms=stamp[1], in_utc=True)
            return structs.replace(inner, length=inner.length + runtime.end(), pod=pod or inner.pod)
        if runtime["stream"]:
            # What the process wrote goes on: the line belongs to the record before it.
            return None
        at = runtime.start("stamp") if runtime["stamp"] else runtime.end()
    if line[at : at + 1].isdigit() or line[at : at + 1] in "[IWEFMTSJAOND":
        opened = line.startswith("[", at)
        stamp = stamp_of(line[at + opened : at + opened + 48], year)
        if stamp is not None:
            return _after_stamp(line, at + opened, stamp, pod)
    bare = _BARE.match(line, at)
    if bare is None:
        return Head(at, pod=pod) if at else None
    return _after_level(line, bare.end("level"), None, False, _LEVELS[bare["level"]], pod)


def _of_quoted(line: str, year: int | None) -> Head | None:
    """The head of a line that somebody indented or quoted for others to read: time and level must both be there, since
    what goes on is indented too."""
    inner = line.lstrip(" \t\r>")
    if not inner[:1].isdigit():
        return None
    head = head_of(inner, year)
    if head is None or head.time_ms is None or head.level is None:
        return None
    return structs.replace(head, length=head.length + len(line) - len(inner))


def _after_stamp(line: str, at: int, stamp: tuple[int, int | None, bool], pod: str | None) -> Head | None:
    length, time_ms, in_utc = stamp
    if line[at] in _KLOG and line[at + 1 : at + 5].isdigit():
        source = re.compile(r"\s+\d+\s+(?P<logger>[\w.-]+:\d+)\]\s*").match(line, at + length)
        end = source.end() if source else at + length
        return Head(end, time_ms, in_utc, _KLOG[line[at]], None, source["logger"] if source else None, pod=pod)
    between = _BETWEEN.match(line, at + length)
    position = between.end() if between else at + length
    level = _LEVEL.match(line, position)
    if level is not None:
        return _after_level(line, level.end(), time_ms, in_utc, _LEVELS[level["level"]], pod)
    late = _LATE_LEVEL.match(line, position)
    if late is not None:
        before = late["before"].strip(" -")
        head = _after_level(line, late.end() - 1, time_ms, in_utc, _LEVELS[late["level"]], pod)
        if before.startswith("["):
            return Head(head.length, time_ms, in_utc, head.level, before.strip("[]"), head.logger, pod=pod)
        return Head(head.length, time_ms, in_utc, head.level, head.thread, before, pod=pod)
    if line[at + length : at + length + 1] == "]" and line[at + length + 1 : at + length + 2].isalpha():
        # YARN's diagnostics within a record of the driver: `[2018-07-12 10:00:00.123]Container killed on request.`
        return None
    return Head(position, time_ms, in_utc, pod=pod)


def _after_level(line: str, at: int, time_ms: int | None, in_utc: bool, level: str, pod: str | None) -> Head:
    """Thread and class behind the level, in either order, and where the message begins."""
    position = at + 1 if line[at : at + 1] in "])>" else at
    thread = logger = None
    found = _THREAD.match(line, position)
    if found is not None:
        thread, position = found["thread"], found.end()
        # `[dispatcher-Executor:o.a.s.i.Logging@98]` and `[o.a.s.s.DAGScheduler:61]` name a class in the brackets.
        inside = re.search(r"(?:^|:)((?:[a-z]\.|\w+\.)*[A-Z][\w$]+)[@:]\d+$", thread)
        if inside is not None:
            logger = inside[1]
    found = _LOGGER.match(line, position)
    if found is not None and found.end() > position:
        logger, position = logger or found["logger"].partition(" ")[0], found.end()
        found = _THREAD.match(line, position)
        if found is not None and thread is None and re.match(r"\s*-\s", line[found.end() :]):
            thread, position = found["thread"], found.end()
    rest = _BETWEEN.match(line, position)
    return Head(rest.end() if rest else position, time_ms, in_utc, level, thread, logger, pod=pod)


def _of_json(line: str, year: int | None) -> Head | None:
    """Spark 4's structured logs, docker's and those of collectors: one object a line."""
    try:
        document = json.loads(line)
    except ValueError:
        return None
    if not isinstance(document, dict):
        return None
    wrapped = document.get("log")
    if isinstance(wrapped, str) and ("stream" in document or "time" in document or "kubernetes" in document):
        inner = head_of(wrapped, year)
        stamp = stamp_of(str(document.get("time") or document.get("@timestamp") or ""))
        time_ms = inner.time_ms if inner and inner.time_ms is not None else stamp[1] if stamp else None
        text = wrapped.rstrip("\n")
        if inner is None:
            return Head(0, time_ms, bool(stamp), message=text) if not text[:1].isspace() else None
        message = inner.message or text[inner.length :]
        return Head(0, time_ms, inner.in_utc, inner.level, inner.thread, inner.logger, message, inner.more)
    message = _first(document, "msg", "message", "@message", "event")
    level = _LEVELS.get(str(_first(document, "level", "severity", "levelname", "log.level") or "").upper())
    when = _first(document, "ts", "timestamp", "@timestamp", "time", "instant", "asctime")
    if message is None or (level is None and when is None):
        return None
    stamp = stamp_of(str(when)) if when is not None else None
    more = _trace_of(document.get("exception") or _first(document, "stack_trace", "stacktrace", "exc_info", "thrown"))
    context = document.get("context")
    if isinstance(context, dict) and context:
        more = "\n".join(filter(None, (more, " ".join(f"{key}={value}" for key, value in context.items()))))
    return Head(
        0,
        stamp[1] if stamp else None,
        stamp is not None and stamp[2],
        level,
        _text(document.get("thread") or document.get("thread_name")),
        _text(document.get("logger") or document.get("logger_name") or document.get("name")),
        str(message),
        more,
    )


def _first(document: dict[str, Any], *keys: str) -> Any:
    return next((document[key] for key in keys if document.get(key) is not None), None)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _trace_of(exception: Any) -> str:
    """A stack trace as log4j would print it, of the object that Spark 4 writes."""
    if isinstance(exception, str):
        return exception
    if not isinstance(exception, dict):
        return ""
    said = f"{exception.get('class', '')}: {exception.get('msg', '')}".strip(": ")
    frames = exception.get("stacktrace")
    lines = [said] if said else []
    if isinstance(frames, str):
        lines.append(frames)
    for frame in frames if isinstance(frames, list) else ():
        if isinstance(frame, dict):
            place = f"{frame.get('file', '')}:{frame.get('line', '')}".strip(":")
            lines.append(f"\tat {frame.get('class', '')}.{frame.get('method', '')}({place})")
    return "\n".join(lines)
