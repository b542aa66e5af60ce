"""What cluster managers say, from a file to a run."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from emberscope.logs.signature import Signature
from emberscope.logs.status_kind import status_kind
from emberscope.sources.cluster_status import load_cluster_status
from tests.logs.test_pod_description import DESCRIBED, EVENTS
from tests.logs.test_pod_status import EVICTED, KILLED, LABELS, list_of, pod
from tests.logs.test_yarn_report import FAILED

OOM = Signature("oom", r"termination reason: (?P<why>OOMKilled)", ("OOMKilled",))


def test_kinds_are_told_by_content() -> None:
    assert status_kind(list_of(KILLED).encode()) == "pod_status"
    assert status_kind(b"$ kubectl describe pod job-exec-6\n" + DESCRIBED.encode()) == "pod_status"
    assert status_kind(EVENTS.encode()) == "pod_status"
    assert status_kind(FAILED.encode()) == "yarn_report"
    log = b"26/11/30 10:00:00 INFO SparkContext: Running Spark version 4.0.1\n"
    assert status_kind(log * 3 + DESCRIBED.encode()) is None
    assert status_kind(b"My job fails. This is what I see:\n\n" + DESCRIBED.encode()) is None
    assert status_kind(log * 20 + FAILED.encode()) is None


def test_a_file_becomes_a_run_that_rules_can_ask(tmp_path: Path) -> None:
    path = tmp_path / "pods.json.gz"
    path.write_bytes(gzip.compress(list_of(EVICTED, KILLED).encode()))
    run = load_cluster_status(str(path), "pod_status", [OOM])
    assert run.application.app_id == "spark-0a1b"
    rows = run.tables["log_events"].to_pylist()
    assert [(row["executor_id"], row["signatures"], row["file"]) for row in rows] == [
        ("2", [], str(path)),
        ("6", ["oom"], str(path)),
    ]
    assert run.coverage.complete


def test_a_packed_file_longer_than_any_head_is_read_whole_and_a_cut_one_as_far_as_it_goes(tmp_path: Path) -> None:
    pods = [{**KILLED, "metadata": {**KILLED["metadata"], "name": f"job-exec-{n}"}} for n in range(500)]
    path = tmp_path / "pods.json.gz"
    path.write_bytes(gzip.compress(list_of(*pods).encode()))
    assert load_cluster_status(str(path), "pod_status").tables["log_events"].num_rows == 500
    path.write_bytes(path.read_bytes()[:-2000])
    run = load_cluster_status(str(path), "pod_status")
    assert 0 < run.tables["log_events"].num_rows < 500
    assert not run.coverage.complete


def test_text_and_reports(tmp_path: Path) -> None:
    for name, text, kind, rows in (("d", DESCRIBED, "pod_status", 2), ("y", FAILED, "yarn_report", 1)):
        path = tmp_path / name
        path.write_text(text)
        assert load_cluster_status(str(path), kind, [OOM]).tables["log_events"].num_rows == rows


def test_several_applications_are_told_of(tmp_path: Path) -> None:
    other = pod("b-exec-1", {**LABELS, "spark-app-selector": "spark-ffff"}, phase="Failed", reason="Evicted")
    path = tmp_path / "pods.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [KILLED, other]}))
    run = load_cluster_status(str(path), "pod_status")
    assert run.application.app_id is None
    assert "2 applications (spark-0a1b, spark-ffff)" in run.coverage.notes[0].message
