"""What YARN reports of applications, attempts, containers and nodes: `yarn … -status`, and the same as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from emberscope.logs.statement import Statement
from emberscope.tables.coverage import Coverage, Note

_KINDS: Final = ("Application Report", "Application Attempt Report", "Container Report", "Node Report")
_HEADING: Final = re.compile(rf"^[ \t]*({'|'.join(_KINDS)})[ \t]*:[ \t]*$", re.M)
_MOST_BEFORE: Final = 8
"""Lines in which a report must have begun."""
_FIELD: Final = re.compile(r"^\s+([A-Z][\w /()-]*?)\s*:(?: (.*)|)$")
_JSON: Final = re.compile(rb'^\s*\{\s*"(?:apps?|appAttempts?|containers?|nodes?)"\s*:\s*[{\[]')

# The keys of the resource manager's JSON, by the words of the command's own report.
_KEYS: Final = {
    "id": "Application-Id",
    "name": "Application-Name",
    "user": "User",
    "queue": "Queue",
    "state": "State",
    "finalStatus": "Final-State",
    "diagnostics": "Diagnostics",
    "diagnosticsInfo": "Diagnostics",
    "startedTime": "Start-Time",
    "finishedTime": "Finish-Time",
    "amHostHttpAddress": "AM Host",
    "containerId": "Container-Id",
    "exitStatus": "ExitStatus",
    "containerExitStatus": "ExitStatus",
    "containerState": "State",
    "healthReport": "Health-Report",
    "nodeHostName": "Node-Id",
    "assignedNodeId": "Host",
    "appAttemptId": "ApplicationAttempt-Id",
    "appAttemptState": "State",
}
_BAD: Final = frozenset({"FAILED", "KILLED"})
_BAD_NODES: Final = frozenset({"UNHEALTHY", "LOST", "DECOMMISSIONED", "DECOMMISSIONING", "SHUTDOWN"})
# What a container ends with that was let go, or whose application ended.
_NO_FAULT: Final = frozenset({"0", "-105", "-107", "-1000"})


def looks_like_yarn_report(head: bytes) -> bool:
    """Whether it is what `yarn application|applicationattempt|container|node -status` or the REST interface gives.

    The command writes a line or two of its own log before its report.
    """
    first = b"\n".join(head.split(b"\n", _MOST_BEFORE)[:_MOST_BEFORE])
    return _HEADING.search(first.decode("utf-8", "replace")) is not None or _JSON.match(head) is not None


def read_yarn_report(text: str, path: str) -> tuple[list[Statement], Coverage]:
    """What the reports in a text say: of applications that ended well, and of healthy nodes, nothing."""
    if text.lstrip()[:1] == "{":
        return _read_json(text, path)
    text = text.replace("\r\n", "\n")
    headings = list(_HEADING.finditer(text))
    ends = [*(one.start() for one in headings), len(text)][1:]
    found: list[Statement] = []
    for heading, end in zip(headings, ends, strict=True):
        line = text.count("\n", 0, heading.start()) + 1
        found += _statements(heading[1], _fields(text[heading.end() : end]), line)
    return found, Coverage()


def _fields(body: str) -> dict[str, str]:
    """`Key : value` of each line; lines that have no key of their own belong to the one before, as diagnostics do."""
    fields: dict[str, str] = {}
    last = ""
    for line in body.split("\n"):
        # The first key of a name counts: diagnostics quote what looks like fields.
        field = _FIELD.match(line)
        if field is not None and field[1] not in fields and (last != "Diagnostics" or field[1] in _AFTER):
            last = field[1]
            fields[last] = (field[2] or "").strip()
        elif last and line.strip():
            fields[last] += "\n" + line.rstrip()
    return fields


_AFTER: Final = frozenset(
    {
        "Unmanaged Application",
        "Application Node Label Expression",
        "AM container Node Label Expression",
        "TimeoutType",
        "Log Aggregation Status",
        "LOG-URL",
        "NodeHttpAddress",
        "ExposedPorts",
    }
)


def _read_json(text: str, path: str) -> tuple[list[Statement], Coverage]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return [], Coverage((Note("cut", "The document is cut or damaged, and nothing of it was read.", path),))
    found: list[Statement] = []
    for kind, one in _objects(document):
        fields = {
            _KEYS[key]: str(value)
            for key, value in one.items()
            if key in _KEYS and value not in (None, "") and not isinstance(value, dict | list)
        }
        words = json.dumps(str(one.get("id") or one.get("containerId") or ""))
        place = max(0, text.find(words))
        found += _statements(kind, fields, text.count("\n", 0, place) + 1)
    return found, Coverage()


def _objects(document: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    names = {"app": _KINDS[0], "appAttempt": _KINDS[1], "container": _KINDS[2], "node": _KINDS[3]}
    if not isinstance(document, Mapping):
        return
    for key, value in document.items():
        if key in ("apps", "appAttempts", "containers", "nodes"):
            yield from _objects(value)
        elif key in names:
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, Mapping):
                    yield names[key], one


def _statements(kind: str, fields: Mapping[str, str], line: int) -> Iterator[Statement]:
    match kind:
        case "Application Report":
            yield from _application(fields, line)
        case "Application Attempt Report":
            yield from _attempt(fields, line)
        case "Container Report":
            yield from _container(fields, line)
        case "Node Report":
            yield from _node(fields, line)


def _application(fields: Mapping[str, str], line: int) -> Iterator[Statement]:
    ends = (fields.get("Final-State"), fields.get("State"))
    diagnostics = _diagnostics(fields)
    waits = fields.get("State") == "ACCEPTED" and diagnostics
    if not _BAD.intersection(ends) and not waits:
        return
    app_id = fields.get("Application-Id")
    bad = next((end for end in ends if end in _BAD), None)
    yield Statement(
        f"Application {app_id} {'ended ' + bad if bad else 'is accepted, and waits'}: {_first(diagnostics)}",
        f"Application {app_id}, State: {fields.get('State')}, Final-State: {fields.get('Final-State')}\n"
        f"Queue: {fields.get('Queue')}\nDiagnostics: {diagnostics}",
        line,
        _ms(fields.get("Finish-Time")) if bad else _ms(fields.get("Start-Time")),
        "ERROR" if bad else "WARN",
        "yarn",
        "am",
        app_id=app_id,
    )


def _attempt(fields: Mapping[str, str], line: int) -> Iterator[Statement]:
    state, diagnostics = fields.get("State"), _diagnostics(fields)
    if state not in _BAD or not diagnostics:
        return
    attempt = fields.get("ApplicationAttempt-Id", "")
    numbers = re.match(r"appattempt_(\d+_\d+)_\d+", attempt)
    yield Statement(
        f"Application attempt {attempt} ended {state}: {_first(diagnostics)}",
        f"Application attempt {attempt}, State: {state}\nDiagnostics: {diagnostics}",
        line,
        _ms(fields.get("Finish-Time")),
        "ERROR",
        "yarn",
        "am",
        app_id=f"application_{numbers[1]}" if numbers else None,
    )


def _container(fields: Mapping[str, str], line: int) -> Iterator[Statement]:
    code, diagnostics = fields.get("ExitStatus", fields.get("Exit-Status", "")), _diagnostics(fields)
    if not diagnostics and (not code or code in _NO_FAULT):
        return
    container = fields.get("Container-Id", "")
    numbers = re.match(r"container_(?:e\d+_)?(\d+_\d+)_\d+_(\d+)", container)
    yield Statement(
        f"Container {container} ended with exit status {code or 'unknown'}: {_first(diagnostics)}",
        f"Container {container}, State: {fields.get('State')}\nExit status: {code}. Diagnostics: {diagnostics}",
        line,
        _ms(fields.get("Finish-Time")),
        "WARN" if code in _NO_FAULT else "ERROR",
        "yarn",
        "am" if numbers and int(numbers[2]) == 1 else "executor",
        None,
        container or None,
        fields.get("Host", "").partition(":")[0] or None,
        f"application_{numbers[1]}" if numbers else None,
    )


def _node(fields: Mapping[str, str], line: int) -> Iterator[Statement]:
    state = fields.get("Node-State", fields.get("State"))
    if state not in _BAD_NODES:
        return
    host = fields.get("Node-Id", "").partition(":")[0]
    health = " ".join(fields.get("Health-Report", "").split())
    # The containers of such a node are gone; others may still end what they run.
    level = "ERROR" if state in ("LOST", "UNHEALTHY") else "WARN"
    said = f"Node {host} is {state}: {health or 'no health report'}"
    yield Statement(said, f"{said}\nHealth-Report: {health}", line, None, level, "yarn", "node", host=host or None)


def _diagnostics(fields: Mapping[str, str]) -> str:
    said = fields.get("Diagnostics", "").strip()
    return "" if said in ("N/A", "null", "[]") else said


def _first(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no diagnostics")


def _ms(text: str | None) -> int | None:
    """Epoch ms, as reports have it; dates in the local time of nobody knows whom are not taken."""
    return int(text) if text is not None and text.isdigit() and int(text) > 0 else None
