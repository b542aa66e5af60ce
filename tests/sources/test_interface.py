"""URLs as inputs: files on a server, a real application that runs, and a real History Server."""

from __future__ import annotations

import base64
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyspark
import pytest

from emberscope.cli.main import exit_code
from emberscope.sources.at_hand import at_hand
from emberscope.sources.load import find_inputs, load_input, read_each, whole
from emberscope.tables.run import Run
from tests.eventlog.logs import plain_text
from tests.sources.archives import APP_35, tarred

JOB = Path(__file__).parents[1] / "jobs/live_job.py"
PASSWORD = "Basic " + base64.b64encode(b"me:swordfish").decode()
FILES = {
    "/logs/archive": tarred({"log": plain_text()}),
    "/closed/log": plain_text(),
    "/page.html": b"<!doctype html><title>hello</title>",
    "/nothing/api/v1/applications": b"[]",
    "/many/api/v1/applications": json.dumps([{"id": f"app-{number}"} for number in range(9)]).encode(),
    "/bad/api/v1/applications": b"<html>",
}


class Server(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if path.startswith("/closed") and self.headers.get("Authorization") != PASSWORD:
            self.send_error(401)
        elif path.startswith("/broken"):
            self.send_error(503)
        elif path in FILES:
            self.send_response(200)
            self.send_header("Content-Length", str(len(FILES[path])))
            self.end_headers()
            self.wfile.write(FILES[path])
        else:
            self.send_error(404)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"127.0.0.1:{served.server_port}"
        served.shutdown()
        thread.join()


def test_a_file_on_a_server_is_told_by_its_content(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["summary", f"http://{server}/logs/archive", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [app["app_id"] for app in document["apps"]] == [APP_35]
    assert document["inputs"][0]["path"] == f"http://{server}/logs/archive/log"


def test_a_password_is_used_and_never_shown(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["summary", f"http://me:swordfish@{server}/closed/log?sig=swordfish", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["inputs"][0]["path"] == f"http://{server}/closed/log"
    assert "swordfish@" not in out + err
    assert "sig=" not in out + err
    assert exit_code(["summary", f"http://me:other@{server}/closed/log"]) == 3
    err = capsys.readouterr().err
    assert "the server answers with 401" in err
    assert "other@" not in err


@pytest.mark.parametrize(
    ("place", "code", "words"),
    [
        ("/logs/none", 3, "the server has no such file"),
        ("/page.html", 3, "looks like an HTML page"),
        ("/broken/log", 4, "answers with 503"),
        ("/nothing/api/v1", 3, "it knows of no application"),
        ("/many/api/v1/", 3, "it knows 9 applications. Add which one: /history/app-0"),
        ("/many/history/app-10/1/jobs/", 3, "the server knows no application app-10"),
        ("/bad/api/v1", 3, "the server knows no Spark interface"),
        ("", 3, "the server knows no Spark interface"),
    ],
)
def test_what_a_server_has_not(
    place: str, code: int, words: str, server: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(["summary", f"http://{server}{place}"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert len(err.splitlines()) == 1


def test_a_server_that_is_not_there_costs_no_other_input(
    server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "log").write_bytes(plain_text())
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        away = f"http://127.0.0.1:{unused.getsockname()[1]}"
        assert exit_code(["summary", away, str(tmp_path / "log"), "--json"]) == 4
    out, err = capsys.readouterr()
    assert [app["app_id"] for app in json.loads(out)["apps"]] == [APP_35]
    assert f"{away}: the server cannot be reached: Connection refused." in err
    assert len(err.splitlines()) == 1


def read(url: str) -> Run:
    with at_hand(url) as place:
        found, problems = find_inputs(place.path)
        assert problems == []
        items = [replace(item, shown=place.shown, live=place.live) for item in found]
        outcomes = [outcome for item in items for outcome in read_each(item, load_input, whole)]
        runs = [outcome.result for outcome in outcomes if outcome.result is not None]
        assert len(runs) == 1
        return runs[0]


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> str:
    while not path.exists():
        assert process.poll() is None, "the application has ended"
        time.sleep(0.1)
    return path.read_text()


@contextmanager
def history_server(log: Path, folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    conf = folder / "history.conf"
    conf.write_text(f"spark.history.fs.logDirectory {log.as_uri()}\nspark.history.ui.port {port}\n")
    command = [f"{Path(pyspark.__file__).parent}/bin/spark-class", "org.apache.spark.deploy.history.HistoryServer"]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "512m"}
    with (folder / "history.out").open("wb") as out:
        process = subprocess.Popen(
            [*command, "--properties-file", str(conf)], env=environment, stdout=out, stderr=subprocess.STDOUT
        )
    try:
        url = f"http://127.0.0.1:{port}"
        while True:
            assert process.poll() is None, (folder / "history.out").read_text()
            with suppress(OSError), urllib.request.urlopen(f"{url}/api/v1/applications", timeout=30) as answer:
                if json.load(answer):
                    break
            time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        process.wait()


@pytest.mark.spark
def test_a_running_application_and_its_history(tmp_path: Path) -> None:
    """What the interface of a running application says is what its log says, and the History Server gives that log."""
    log, ready, stop = tmp_path / "log", tmp_path / "ready", tmp_path / "stop"
    log.mkdir()
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1"}
    with (tmp_path / "out").open("wb") as out:
        job = subprocess.Popen(
            [sys.executable, str(JOB), str(log), str(ready), str(stop)],
            env=environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        url = wait_for(ready, job)
        live = read(url)
        assert read(f"{url}/jobs/").application == live.application
    finally:
        stop.touch()
        job.wait()
    written = read(str(log))
    assert "swordfish-live" not in str(live.tables["conf"].to_pylist())
    assert live.path == url
    assert live.coverage.complete
    assert {note.code for note in live.coverage.notes} == {"limited"}
    assert set(live.tables) == {"tasks", "running_tasks", "stages", "jobs", "executors", "sql_executions", "conf"}
    said = ("app_id", "app_name", "user", "spark_version", "java_version", "master", "app_start_ms")
    for name in said:
        assert getattr(live.application, name) == getattr(written.application, name), name
    assert not live.application.complete
    not_told = {"tasks": {"peak_jvm_heap_bytes"}, "executors": {"resources", "peak_jvm_heap_bytes", "registered_ms"}}
    for table, key in (("tasks", "task_id"), ("executors", "executor_id")):
        rows = {row[key]: row for row in written.tables[table].to_pylist()}
        for row in live.tables[table].to_pylist():
            other = rows.pop(row[key])
            different = {name for name in row if row[name] != other[name]} - not_told[table]
            assert different <= ({"removed_ms", "removed_reason"} if table == "executors" else {"error_message"})
        assert len(rows) == (1 if table == "tasks" else 0)  # the task that ran when the interface was asked
    for table, key, columns in (
        ("jobs", "job_id", ("submitted_ms", "stage_ids", "sql_execution_id", "job_group", "description")),
        ("stages", "stage_id", ("stage_attempt", "name", "submitted_ms", "task_count")),
    ):
        rows = {row[key]: row for row in written.tables[table].to_pylist()}
        assert set(rows) == {row[key] for row in live.tables[table].to_pylist()}
        for row in live.tables[table].to_pylist():
            assert {name: row[name] for name in columns} == {name: rows[row[key]][name] for name in columns}
    assert live.tables["running_tasks"].num_rows == 1
    with history_server(log, tmp_path) as base:
        for place in (base, f"{base}/history/{written.application.app_id}/stages/"):
            again = read(place)
            assert again.application == written.application
            assert again.tables["tasks"] == written.tables["tasks"]
