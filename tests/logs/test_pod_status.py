"""The state of pods. Its shape is that of the Kubernetes API reference (PodStatus, ContainerStateTerminated, Event)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.logs.pod_status import looks_like_pod_status, read_pod_status
from emberscope.logs.signature import Signature
from emberscope.logs.statement import table_of

LABELS = {"spark-role": "executor", "spark-exec-id": "6", "spark-app-selector": "spark-0a1b"}


def pod(name: str = "job-exec-6", labels: Any = LABELS, **status: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "jobs", "labels": labels},
        "spec": {
            "nodeName": "node-3",
            "containers": [{"name": "executor", "resources": {"limits": {"memory": "1408Mi"}}}],
        },
        "status": status,
    }


def ended(code: int, reason: str, **more: Any) -> dict[str, Any]:
    state = {
        "exitCode": code,
        "reason": reason,
        "startedAt": "2026-11-30T10:00:00Z",
        "finishedAt": "2026-11-30T10:42:07Z",
        **more,
    }
    return {"name": "executor", "image": "spark:4", "state": {"terminated": state}}


KILLED = pod(phase="Failed", containerStatuses=[ended(137, "OOMKilled")])
EVICTED = pod(
    "job-exec-2",
    {**LABELS, "spark-exec-id": "2"},
    phase="Failed",
    reason="Evicted",
    message="Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ",
    startTime="2026-11-30T10:00:00Z",
)
RUNNING = pod("job-exec-1", phase="Running", containerStatuses=[{"name": "executor", "state": {"running": {}}}])
DONE = pod("job-exec-3", phase="Succeeded", containerStatuses=[ended(0, "Completed")])


def list_of(*items: Any) -> str:
    return json.dumps({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {}}, indent=4)


def test_a_container_that_was_killed_is_told_as_sparks_driver_tells_it() -> None:
    (said,), coverage = read_pod_status(json.dumps(KILLED), "pods.json")
    assert said.message == (
        "Pod jobs/job-exec-6 (executor 6): container executor terminated: OOMKilled, exit code 137, memory limit 1408Mi"
    )
    assert "The executor with id 6 exited with exit code 137(SIGKILL, possible container OOM)." in said.text
    assert "termination reason: OOMKilled" in said.text
    assert (said.time_ms, said.level) == (1_796_035_327_000, "ERROR")
    assert (said.role, said.executor_id, said.host, said.app_id) == ("executor", "6", "node-3", "spark-0a1b")
    assert coverage.complete


def test_an_eviction_has_its_reason_and_its_message() -> None:
    (said,), _ = read_pod_status(json.dumps(EVICTED), "pods.json")
    assert "Evicted" in said.message
    assert "The API gave the following message: Pod ephemeral local storage usage exceeds" in said.text


def test_pods_that_are_well_say_nothing() -> None:
    assert read_pod_status(list_of(RUNNING, DONE), "pods.json")[0] == []
    waiting = pod(containerStatuses=[{"name": "executor", "state": {"waiting": {"reason": "ContainerCreating"}}}])
    assert read_pod_status(json.dumps(waiting), "pods.json")[0] == []


@pytest.mark.parametrize("reason", ["ImagePullBackOff", "CrashLoopBackOff", "CreateContainerConfigError"])
def test_a_container_that_cannot_start_is_told(reason: str) -> None:
    waiting = {"name": "executor", "state": {"waiting": {"reason": reason, "message": "Back-off"}}}
    (said,), _ = read_pod_status(json.dumps(pod(phase="Pending", containerStatuses=[waiting])), "pods.json")
    assert f"pending reason: {reason}" in said.text


def test_what_cannot_be_scheduled_or_is_taken_away_is_told() -> None:
    conditions = [
        {"type": "Ready", "status": "False", "reason": "PodFailed"},
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes: no memory."},
        {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "x"},
    ]
    said, _ = read_pod_status(json.dumps(pod(conditions=conditions)), "pods.json")
    assert ["Unschedulable" in said[0].text, "PreemptionByScheduler" in said[1].text] == [True, True]
    assert len(said) == 2


def test_lines_are_those_of_the_pods_own_words() -> None:
    text = list_of(RUNNING, EVICTED, KILLED)
    evicted, killed = read_pod_status(text, "pods.json")[0]
    lines = text.split("\n")
    assert '"Evicted"' in lines[(evicted.line or 0) - 1]
    assert '"OOMKilled"' in lines[(killed.line or 0) - 1]


def test_a_list_that_is_cut_tells_of_the_pods_before_the_cut() -> None:
    text = list_of(KILLED, EVICTED)
    found, coverage = read_pod_status(text[:-300], "pods.json")
    assert [said.executor_id for said in found] == ["6"]
    assert not coverage.complete


def test_events_warn_and_the_ordinary_ones_are_left_out() -> None:
    about = {"kind": "Pod", "name": "job-exec-6", "namespace": "jobs"}
    event = {"kind": "Event", "involvedObject": about, "lastTimestamp": "2026-11-30T10:42:07Z"}
    warns = {**event, "type": "Warning", "reason": "FailedScheduling", "message": "0/3 nodes are available"}
    normal = {**event, "type": "Normal", "reason": "Pulled", "message": "Successfully pulled image"}
    (said,), _ = read_pod_status(list_of(warns, normal), "events.json")
    assert said.message == "Pod jobs/job-exec-6: FailedScheduling: 0/3 nodes are available"
    assert said.time_ms == 1_796_035_327_000


def test_the_operators_state_is_told_where_it_failed() -> None:
    def application(state: str) -> str:
        status = {"applicationState": {"state": state, "errorMessage": "driver container failed"}}
        return json.dumps({"kind": "SparkApplication", "metadata": {"name": "job"}, "status": status})

    assert read_pod_status(application("COMPLETED"), "a.json")[0] == []
    (said,), _ = read_pod_status(application("FAILED"), "a.json")
    assert said.message == "SparkApplication job: FAILED: driver container failed"


def test_it_is_told_by_its_content() -> None:
    assert looks_like_pod_status(list_of(KILLED).encode())
    assert looks_like_pod_status(json.dumps(KILLED).encode())
    assert not looks_like_pod_status(b'{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}')
    assert not looks_like_pod_status(b'{"kind": "Deployment", "apiVersion": "apps/v1"}')


def test_signatures_are_matched_and_secrets_taken_out() -> None:
    looks = Signature("oom", r"Pod (?P<pod>\S+) .*OOMKilled", ("OOMKilled",))
    secret = pod(phase="Failed", containerStatuses=[ended(1, "Error", message="--conf spark.password=abc123xyz")])
    said = read_pod_status(list_of(KILLED, KILLED, secret), "pods.json")[0]
    rows = table_of(said, "pods.json", [looks]).to_pylist()
    assert [(row["count"], row["signatures"]) for row in rows] == [(2, ["oom"]), (1, [])]
    assert json.loads(rows[0]["fields"]) == {"oom": {"pod": "jobs/job-exec-6"}}
    assert "abc123xyz" not in rows[1]["text"]


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)))
def test_prop_odd_documents_are_read_without_a_crash(odd: Any) -> None:
    keys = ("metadata", "spec", "status", "items", "object", "type")
    document = {"kind": "Pod", **dict.fromkeys(keys, odd)}
    status = dict.fromkeys(("containerStatuses", "conditions", "reason", "message", "phase", "startTime"), odd)
    for one in (odd, document, {"kind": "Pod", "status": status, "metadata": {"labels": odd, "name": odd}}):
        read_pod_status(json.dumps(one), "x")
