"""`kubectl describe` of pods, nodes and Spark applications, and the tables of `kubectl get pods|events`.

What `describe` prints is brought into the shape that the API has, so that both are told in the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from emberscope.logs.application_description import application_statements, is_application
from emberscope.logs.node_description import is_node, node_statements
from emberscope.logs.pod_words import event_statement, pod_statements
from emberscope.logs.statement import Statement
from emberscope.tables.coverage import Coverage

_POD: Final = re.compile(r"^Name:[ \t]+(\S+)[ \t]*$", re.M)
_DESCRIBED: Final = re.compile(rb"^Name:[ \t]+\S+[ \t]*\r?$", re.M)
_COMMAND: Final = re.compile(rb"\A(?:[ \t]*(?:[$#>]|kubectl\b).*\n|[ \t\r]*\n)*")
_MOST_HEADING: Final = 1000
_SECTIONS: Final = re.compile(
    rb"^(?:Containers|Events|Conditions|Node|Namespace|Status|QoS Class|Allocatable|Spec):", re.M
)
_EVENT_TABLE: Final = re.compile(r"^(?:NAMESPACE +)?LAST SEEN +(?:.* )?TYPE +REASON +OBJECT +.*MESSAGE", re.M)
_POD_TABLE: Final = re.compile(r"^(?:NAMESPACE +)?NAME +READY +STATUS +RESTARTS +AGE", re.M)
_FIELD: Final = re.compile(r"^( *)([A-Za-z][\w .()/-]*?):(?:[ \t]+(.*))?$")
_HEALTHY: Final = frozenset(
    {"Running", "Completed", "Succeeded", "Pending", "ContainerCreating", "PodInitializing", "Terminating"}
)
_EXECUTOR: Final = re.compile(r"-exec-(\d+)$")
_EXIT_OF: Final = re.compile(r"^(?:Init:)?ExitCode:(\d+)$")


def looks_like_pod_description(head: bytes) -> bool:
    """Whether it begins as `kubectl describe` or one of the tables of `kubectl get` does, behind the command itself.

    Where other text comes first it is a log or a letter, in which such output stands too.
    """
    begin = _COMMAND.sub(b"", head, count=1)
    if _DESCRIBED.match(begin) is not None and len(set(_SECTIONS.findall(begin))) >= 3:
        return True
    text = begin[:_MOST_HEADING].decode("utf-8", "replace")
    return _EVENT_TABLE.match(text) is not None or _POD_TABLE.match(text) is not None


def read_pod_description(text: str) -> tuple[list[Statement], Coverage]:
    """What every pod and every table in a text says. Events have an age and no time, so that theirs is null."""
    text = text.replace("\r\n", "\n")
    found: list[Statement] = []
    starts = [match.start() for match in _POD.finditer(text)]
    for begin, end in pairwise([*starts, len(text)]):
        found += _described(text, begin, end)
    found += _tables(text)
    return found, Coverage()


def _described(text: str, begin: int, end: int) -> Iterator[Statement]:
    first = text.count("\n", 0, begin) + 1
    lines = text[begin:end].split("\n")

    def line_of(words: str) -> int | None:
        return next((first + number for number, line in enumerate(lines) if words in line), first)

    pod = _pod(lines)
    name = pod["metadata"].get("name", "")
    if is_node(lines):
        yield from node_statements(name, lines, line_of)
        pod["metadata"]["kind"] = "Node"
    elif is_application(lines):
        yield from application_statements(name, lines, line_of)
        pod["metadata"]["kind"] = "SparkApplication"
    else:
        yield from pod_statements(pod, line_of)
    for event in _events(lines, pod["metadata"]):
        said = event_statement(event, line_of, pod["spec"].get("nodeName"))
        if said is not None:
            labels = pod["metadata"]["labels"]
            yield _of_pod(said, labels)


def _of_pod(said: Statement, labels: Mapping[str, str]) -> Statement:
    from msgspec.structs import replace

    role = labels.get("spark-role")
    executor = "driver" if role == "driver" else labels.get("spark-exec-id")
    role = role if role in ("driver", "executor") else said.role
    return replace(said, role=role, executor_id=executor, app_id=labels.get("spark-app-selector"))


def _pod(lines: Sequence[str]) -> dict[str, Any]:
    """The pod in the shape of the API."""
    pod: dict[str, Any] = {"metadata": {"labels": {}}, "spec": {"containers": []}, "status": {}}
    metadata, spec, status = pod["metadata"], pod["spec"], pod["status"]
    section, block = "", ""
    container: dict[str, Any] = {}
    state: dict[str, Any] = {}
    for line in lines:
        field = _FIELD.match(line)
        if section == "Conditions":
            words = line.split()
            if len(words) == 2 and words[1] in ("True", "False"):
                status.setdefault("conditions", []).append({"type": words[0], "status": words[1]})
        if field is None:
            if section == "Labels" and "=" in line and line.startswith(" "):
                _label(metadata["labels"], line)
            continue
        depth, name, value = len(field[1]), field[2], (field[3] or "").strip()
        if depth == 0:
            section, block = name, ""
            match name:
                case "Name":
                    metadata["name"] = value
                case "Namespace":
                    metadata["namespace"] = value
                case "Node":
                    spec["nodeName"] = value.partition("/")[0] if value != "<none>" else ""
                case "Start Time":
                    status["startTime"] = value
                case "Status":
                    status["phase"] = value
                case "Reason" | "Message":
                    status[name.lower()] = value
                case "Labels":
                    _label(metadata["labels"], value)
        elif section in ("Containers", "Init Containers"):
            if depth == 2 and not value:
                key = "containerStatuses" if section == "Containers" else "initContainerStatuses"
                container = {"name": name}
                status.setdefault(key, []).append(container)
                spec["containers"].append({"name": name, "resources": {"limits": {}}})
                block = ""
            elif depth == 4:
                block = name
                if name in ("State", "Last State"):
                    state = {}
                    kind = value.split(" ")[0].lower()
                    container["state" if name == "State" else "lastState"] = {kind: state} if kind else {}
                elif name == "Image":
                    container["image"] = value
            elif depth >= 6 and block in ("State", "Last State"):
                _state(state, name, value)
            elif depth >= 6 and block == "Limits" and spec["containers"]:
                spec["containers"][-1]["resources"]["limits"][name] = value
        elif section == "Labels" and "=" in line:
            _label(metadata["labels"], line)
    return pod


def _state(state: dict[str, Any], name: str, value: str) -> None:
    keys = {"Reason": "reason", "Message": "message", "Started": "startedAt", "Finished": "finishedAt"}
    if name == "Exit Code" and value.lstrip("-").isdigit():
        state["exitCode"] = int(value)
    elif name in keys:
        state[keys[name]] = value


def _label(labels: dict[str, str], line: str) -> None:
    name, _, value = line.strip().partition("=")
    if name and value:
        labels[name] = value


def _events(lines: Sequence[str], metadata: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The events under a pod: `Type Reason Age From Message`, the message in all the rest of the line."""
    start = next((number for number, line in enumerate(lines) if line.startswith("Events:")), len(lines))
    about = {"kind": metadata.get("kind", "Pod"), "name": metadata.get("name"), "namespace": metadata.get("namespace")}
    for line in lines[start + 1 :]:
        cells = re.split(r"\s{2,}", line.strip(), maxsplit=4)
        if len(cells) == 5 and cells[0] in ("Normal", "Warning"):
            yield {
                "type": cells[0],
                "reason": cells[1],
                "message": cells[4],
                "involvedObject": about,
                "source": {"component": cells[3]},
            }


def _tables(text: str) -> Iterator[Statement]:
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if _EVENT_TABLE.match(line):
            yield from _event_rows(lines, number)
        elif _POD_TABLE.match(line):
            yield from _pod_rows(lines, number)


def _event_rows(lines: Sequence[str], head: int) -> Iterator[Statement]:
    for number, cells in _rows(lines, head):
        kind, _, name = cells.get("OBJECT", "").partition("/")
        event = {
            "type": cells.get("TYPE"),
            "reason": cells.get("REASON"),
            "message": cells.get("MESSAGE"),
            "involvedObject": {
                "kind": kind.capitalize(),
                "name": name,
                "namespace": cells.get("NAMESPACE"),
            },
        }
        said = event_statement(event, lambda _, here=number: here + 1)  # type: ignore[misc]
        if said is not None:
            from msgspec.structs import replace

            executor = _EXECUTOR.search(name)
            yield replace(said, executor_id=executor[1]) if executor else said


def _pod_rows(lines: Sequence[str], head: int) -> Iterator[Statement]:
    for number, cells in _rows(lines, head):
        name, state = cells.get("NAME", ""), cells.get("STATUS", "")
        if not name or not state or state in _HEALTHY or (state.startswith("Init:") and "/" in state):
            continue
        executor = _EXECUTOR.search(name)
        exit_code = _EXIT_OF.match(state)
        place = "/".join(part for part in (cells.get("NAMESPACE"), name) if part)
        who = f"Pod {place}" + (f" (executor {executor[1]})" if executor else "")
        lines_below = [f"Reason: {state}", f"termination reason: {state}"]
        if exit_code:
            lines_below.append(f"Exit Code: {exit_code[1]}")
        message = f"{who}: {state}, {cells.get('RESTARTS', '0')} restarts"
        yield Statement(
            message,
            "\n".join((message, *lines_below)),
            number + 1,
            None,
            "ERROR",
            "kubernetes",
            "executor" if executor else "driver" if name.endswith("-driver") else None,
            executor[1] if executor else "driver" if name.endswith("-driver") else None,
            place,
        )


def _rows(lines: Sequence[str], head: int) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows under a heading, each by the columns' names: `kubectl` sets columns apart by three blanks."""
    names = [(match.start(), match[0]) for match in re.finditer(r"\S+(?: \S+)*", lines[head])]
    for number in range(head + 1, len(lines)):
        line = lines[number]
        if not line.strip() or _EVENT_TABLE.match(line) or _POD_TABLE.match(line):
            return
        ends = [start for start, _ in names[1:]] + [len(line)]
        yield number, {name: line[start:end].strip() for (start, name), end in zip(names, ends, strict=True)}
