"""What the state of a pod says, in the words of Spark's driver and of `kubectl describe`.

Spark's driver writes the state of a lost executor's pod in its log; the same words here let one signature find a
trouble in that log, in `kubectl get pod -o json` and in `kubectl describe pod`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from emberscope.logs.statement import Statement

# Pods are made, pulled and started in these states; nothing is wrong with them.
_ON_THE_WAY: Final = frozenset({"ContainerCreating", "PodInitializing"})
_SIGNALS: Final = {
    126: "not executable, possibly perm or arch",
    127: "command not found",
    134: "SIGABRT",
    137: "SIGKILL, possible container OOM",
    139: "SIGSEGV: that's unexpected",
    143: "SIGTERM",
}
_ROLES: Final = {"driver": "driver", "executor": "executor"}

LineOf = Callable[[str], int | None]
"""The first line of a pod's own text that holds these words; None where it is not there."""


def pod_statements(pod: Mapping[str, Any], line_of: LineOf) -> Iterator[Statement]:
    """What is worth knowing of one pod, as Kubernetes' API has it: nothing of one that runs or has ended well."""
    metadata, spec, status = (_map(pod.get(key)) for key in ("metadata", "spec", "status"))
    who = _Who(metadata, spec)
    limits = {one.get("name"): _map(_map(one.get("resources")).get("limits")) for one in _maps(spec.get("containers"))}
    reason, message = _text(status.get("reason")), _text(status.get("message"))
    containers = [one for key in ("initContainerStatuses", "containerStatuses") for one in _maps(status.get(key))]
    described = "\n".join(line for one in containers for line in _container_lines(one))
    told = False
    for container in containers:
        for key in ("state", "lastState"):
            ended = _map(_map(container.get(key)).get("terminated"))
            if ended and not _ended_well(ended):
                yield who.container_ended(container, ended, limits, reason, message, described, line_of)
                told = True
        waiting = _map(_map(container.get("state")).get("waiting"))
        if waiting.get("reason") and waiting["reason"] not in _ON_THE_WAY:
            yield who.said(
                f"container {container.get('name')} is waiting: {waiting['reason']}",
                (f"pending reason: {waiting['reason']}", f"Message: {_text(waiting.get('message'))}"),
                "ERROR",
                _time(metadata.get("creationTimestamp")),
                line_of(str(waiting["reason"])),
            )
    for condition in _maps(status.get("conditions")):
        kind, is_so = condition.get("type"), condition.get("status")
        if (kind == "PodScheduled" and is_so == "False") or (kind == "DisruptionTarget" and is_so == "True"):
            why = _text(condition.get("reason"))
            words = "cannot be scheduled" if kind == "PodScheduled" else "is taken away"
            yield who.said(
                f"{words}: {why}",
                (f"Reason: {why}", f"Message: {_text(condition.get('message'))}"),
                # Executors wait for room now and then; without its driver nothing runs.
                "ERROR" if kind == "DisruptionTarget" or who.role == "driver" else "WARN",
                _time(condition.get("lastTransitionTime")),
                line_of(why),
            )
    if reason and not (told and reason in ("OOMKilled", "Error")):
        yield who.said(
            f"{_text(status.get('phase')).lower() or 'ended'}: {reason}",
            (
                f"The API gave the following brief reason: {reason}",
                f"The API gave the following message: {message}",
                f"Reason: {reason}",
                f"Message: {message}",
            ),
            "ERROR",
            _last_end(containers) or _time(status.get("startTime")),
            line_of(reason),
        )
    elif status.get("phase") == "Failed" and not told and not reason:
        end_ms = _last_end(containers)
        yield who.said("failed, and says no reason", (message,), "ERROR", end_ms, line_of("Failed"))


class _Who:
    """A pod by the names that people and Spark know it by."""

    def __init__(self, metadata: Mapping[str, Any], spec: Mapping[str, Any]) -> None:
        labels = _map(metadata.get("labels"))
        self.name = "/".join(part for part in (_text(metadata.get("namespace")), _text(metadata.get("name"))) if part)
        self.role = _ROLES.get(_text(labels.get("spark-role")))
        self.executor = _text(labels.get("spark-exec-id")) or None
        self.app_id = _text(labels.get("spark-app-selector")) or None
        self.host = _text(spec.get("nodeName")) or None
        if self.role == "driver":
            self.executor = "driver"

    @property
    def words(self) -> str:
        """`Pod spark/job-exec-6 (executor 6)`."""
        known = "driver" if self.role == "driver" else f"executor {self.executor}" if self.executor else ""
        return f"Pod {self.name}" + (f" ({known})" if known else "")

    def said(self, words: str, lines: tuple[str, ...], level: str, time_ms: int | None, line: int | None) -> Statement:
        message = f"{self.words}: {words}"
        below = [part for part in lines if part and not part.endswith(": ")]
        text = "\n".join((message, *below))
        return Statement(
            message,
            text,
            line,
            time_ms,
            level,
            "kubernetes",
            self.role,
            self.executor,
            self.name,
            self.host,
            self.app_id,
        )

    def container_ended(
        self,
        container: Mapping[str, Any],
        ended: Mapping[str, Any],
        limits: Mapping[Any, Mapping[str, Any]],
        reason: str,
        message: str,
        described: str,
        line_of: LineOf,
    ) -> Statement:
        code, why = ended.get("exitCode"), _text(ended.get("reason"))
        limit = _text(limits.get(container.get("name"), {}).get("memory"))
        words = f"container {container.get('name')} terminated: {why or 'Error'}, exit code {code}"
        lines = [f"Reason: {why}", f"Exit Code: {code}", f"Message: {_text(ended.get('message'))}"]
        if self.executor and self.role != "driver":
            explained = f"{code}({_SIGNALS[code]})" if code in _SIGNALS else f"{code}"
            lines += [
                f"The executor with id {self.executor} exited with exit code {explained}.",
                f"The API gave the following brief reason: {reason}",
                f"The API gave the following message: {message}",
            ]
        lines += [
            f"memory limit: {limit}" if limit else "",
            "The API gave the following container statuses:",
            described,
        ]
        at_ms = _time(ended.get("finishedAt"))
        return self.said(
            f"{words}, memory limit {limit}" if limit and why == "OOMKilled" else words,
            tuple(lines),
            "ERROR",
            at_ms,
            line_of(why) if why else line_of(str(code)),
        )


def _container_lines(container: Mapping[str, Any]) -> Iterator[str]:
    """One container as Spark's driver writes it."""
    yield f"\t container name: {container.get('name')}"
    yield f"\t container image: {container.get('image')}"
    for key in ("state", "lastState"):
        state = _map(container.get(key))
        before = "container" if key == "state" else "last container"
        if running := _map(state.get("running")):
            yield f"\t {before} state: running"
            yield f"\t {before} started at: {_text(running.get('startedAt'))}"
        elif waiting := _map(state.get("waiting")):
            yield f"\t {before} state: waiting"
            yield f"\t pending reason: {_text(waiting.get('reason'))}"
        elif ended := _map(state.get("terminated")):
            yield f"\t {before} state: terminated"
            yield f"\t {before} started at: {_text(ended.get('startedAt'))}"
            yield f"\t {before} finished at: {_text(ended.get('finishedAt'))}"
            yield f"\t exit code: {_text(ended.get('exitCode'))}"
            yield f"\t termination reason: {_text(ended.get('reason'))}"


def event_statement(event: Mapping[str, Any], line_of: LineOf, host: str | None = None) -> Statement | None:
    """One event of Kubernetes; None for one that tells of nothing but the ordinary life of a pod."""
    about = _map(event.get("involvedObject") or event.get("regarding"))
    reason, message = _text(event.get("reason")), _text(event.get("message") or event.get("note"))
    is_warning = event.get("type") == "Warning"
    if not is_warning and reason not in _NORMAL_TOLD:
        return None
    name = "/".join(part for part in (_text(about.get("namespace")), _text(about.get("name"))) if part)
    said = f"{_text(about.get('kind')) or 'Pod'} {name}: {reason}: {' '.join(message.split())}"
    time_ms = next(
        (
            at
            for key in ("lastTimestamp", "eventTime", "firstTimestamp", "deprecatedLastTimestamp")
            if (at := _time(event.get(key))) is not None
        ),
        None,
    )
    source = _map(event.get("source") or event.get("deprecatedSource"))
    is_node = about.get("kind") == "Node"
    return Statement(
        said,
        f"{said}\nReason: {reason}\nMessage: {message}",
        line_of(reason),
        time_ms,
        "ERROR" if reason in _KILLING else "WARN" if is_warning else "INFO",
        _text(source.get("component")) or "kubernetes",
        "node" if is_node else None,
        None,
        None if is_node else name or None,
        _text(about.get("name")) if is_node else _text(source.get("host")) or host,
    )


# Events by which a process went away or never came.
_KILLING: Final = frozenset(
    {"Evicted", "OOMKilling", "SystemOOM", "Preempted", "TaintManagerEviction", "NodeNotReady", "ErrImageNeverPull"}
)
# Events of type Normal that say that something was taken away.
_NORMAL_TOLD: Final = frozenset(
    {
        "Killing",
        "Preempted",
        "Preempting",
        "TaintManagerEviction",
        "NodeNotReady",
        "RemovingNode",
        "DeletingNode",
        "NodeHasDiskPressure",
        "NodeHasInsufficientMemory",
        "SpotInterruption",
        "ScaleDown",
    }
)


def _ended_well(ended: Mapping[str, Any]) -> bool:
    return ended.get("exitCode") == 0 and ended.get("reason") in (None, "", "Completed")


def _last_end(containers: list[Mapping[str, Any]]) -> int | None:
    ends = [
        _time(_map(_map(one.get(key)).get("terminated")).get("finishedAt"))
        for one in containers
        for key in ("state", "lastState")
    ]
    return max((end for end in ends if end is not None), default=None)


def _time(text: Any) -> int | None:
    """Epoch ms of a time of Kubernetes: RFC 3339, or RFC 1123 as `describe` writes it."""
    if not isinstance(text, str) or not text:
        return None
    try:
        at = datetime.fromisoformat(text) if text[:1].isdigit() else parsedate_to_datetime(text)
        return round(at.timestamp() * 1000) if at.tzinfo is not None else None
    except (ValueError, TypeError, OverflowError, OSError):
        return None


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _maps(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, Mapping | list) else str(value)
