"""Several inputs about one application are one story; what is about another stays apart."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from emberscope.cli.main import exit_code
from tests.logs.test_pod_status import EVICTED, KILLED, list_of, pod
from tests.logs.test_yarn_report import FAILED
from tests.sources.stored import APP_ID, LOG, STARTED_MS


def at(seconds: int, form: str) -> str:
    return (datetime.fromtimestamp(STARTED_MS / 1000, UTC) + timedelta(seconds=seconds)).strftime(form)


def driver_log(app_id: str) -> str:
    day = "%y/%m/%d %H:%M:%S"
    return (
        f"{at(1, day)} INFO SparkContext: Running Spark version 3.5.3\n"
        f"{at(1, day)} INFO StandaloneSchedulerBackend: Connected to Spark cluster with app ID {app_id}\n"
        f"{at(30, day)} ERROR TaskSchedulerImpl: Lost executor 6 on node-3: Command exited with code 137\n"
    )


def document(capsys: pytest.CaptureFixture[str], *inputs: Path) -> dict[str, Any]:
    assert exit_code(["diagnose", *map(str, inputs), "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_event_log_driver_log_and_pods_are_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, pods = tmp_path / "driver.log", tmp_path / "pods.json"
    log.write_text(driver_log(APP_ID))
    moment = at(29, "%Y-%m-%dT%H:%M:%SZ")
    nameless = {"spark-role": "executor", "spark-exec-id": "6"}
    ended = {"exitCode": 137, "reason": "OOMKilled", "finishedAt": moment}
    killed = pod("x-exec-6", nameless, containerStatuses=[{"name": "c", "state": {"terminated": ended}}])
    pods.write_text(list_of(killed))
    found = document(capsys, pods, LOG, log)
    assert [one["kind"] for one in found["inputs"]] == ["pod_status", "event_log", "container_log"]
    (app,) = found["apps"]
    assert (app["app_id"], app["app_name"]) == (APP_ID, "logged-job")
    assert app["waterfall"]


def test_pods_of_another_application_stay_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pods, report = tmp_path / "pods.json", tmp_path / "report.txt"
    pods.write_text(list_of(EVICTED, KILLED))
    report.write_text(FAILED)
    found = document(capsys, LOG, pods, report)
    assert [app["app_id"] for app in found["apps"]] == [APP_ID, "spark-0a1b", "application_1796000000000_0007"]
    assert found["inputs"][2]["kind"] == "yarn_report"


def test_a_folder_of_all_of_it_is_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "eventlog").mkdir()
    (tmp_path / "eventlog" / LOG.name).write_bytes(LOG.read_bytes())
    (tmp_path / "driver.log").write_text(driver_log(APP_ID))
    assert [app["app_id"] for app in document(capsys, tmp_path)["apps"]] == [APP_ID]
