"""Sessions and statements of Spark Connect, as a real server logged them, and of the Thrift server."""

import json
from typing import Any

import msgspec

from emberscope.eventlog.columns import Columns
from emberscope.eventlog.events import decode
from emberscope.eventlog.read import read_event_log
from emberscope.redact import Redactor
from tests.eventlog.logs import CONNECT, events, packed_text


def test_operations_of_spark_connect() -> None:
    run = read_event_log(str(CONNECT))
    told: dict[str, dict[str, dict[str, Any]]] = {}
    for event in events(packed_text(CONNECT)):
        _, found, what = event["Event"].partition("SparkListenerConnectOperation")
        if found:
            told.setdefault(event["operationId"], {})[what] = event
    statements = run.tables["statements"].to_pylist()
    assert [row["statement_id"] for row in statements] == list(told)
    for row in statements:
        said = told[row["statement_id"]]
        end = said.get("Finished") or said["Failed"]
        assert row["status"] == ("succeeded" if "Finished" in said else "failed")
        assert row["error_message"] == end.get("errorMessage")
        assert row["started_ms"] == said["Started"]["eventTime"]
        assert row["finished_ms"] == end["eventTime"]
        assert row["closed_ms"] == said["Closed"]["eventTime"]
        assert row["rows"] == end.get("producedRowCount")
        assert row["tags"] == said["Started"].get("sparkSessionTags")
        assert row["user"] is None
    assert {row["status"] for row in statements} == {"succeeded", "failed"}
    [session] = run.tables["sessions"].to_pylist()
    assert {row["session_id"] for row in statements} == {session["session_id"]}
    assert session["server"] == "connect"
    assert session["started_ms"] < session["closed_ms"]
    tags = {tag for job in run.tables["jobs"].to_pylist() for tag in job["tags"]}
    assert {row["job_tag"] for row in statements if row["rows"]} <= tags


def test_no_secret_of_a_statement_is_in_a_table() -> None:
    assert b"swordfish-9" in packed_text(CONNECT)
    for name, table in read_event_log(str(CONNECT)).tables.items():
        assert "swordfish" not in str(table.to_pylist()), name


def test_statements_of_the_thrift_server() -> None:
    package = "org.apache.spark.sql.hive.thriftserver.ui.SparkListenerThriftServer"
    start = {"sessionId": "s", "statement": "select 1", "groupId": "g", "userName": "u"}
    lines = [
        {"Event": f"{package}SessionCreated", "ip": "10.0.0.1", "sessionId": "s", "userName": "u", "startTime": 1},
        {"Event": f"{package}OperationStart", "id": "a", "startTime": 2, **start},
        {"Event": f"{package}OperationStart", "id": "b", "startTime": 3, **start},
        {"Event": f"{package}OperationStart", "id": "c", "startTime": 4, **start},
        {"Event": f"{package}OperationFinish", "id": "a", "finishTime": 5},
        {"Event": f"{package}OperationError", "id": "b", "errorMsg": "no", "errorTrace": "t", "finishTime": 6},
        {"Event": f"{package}OperationClosed", "id": "a", "closeTime": 7},
        {"Event": f"{package}SessionClosed", "sessionId": "s", "finishTime": 8},
    ]
    built = Columns(Redactor())
    routes = built.routes()
    for line in lines:
        record, handler = routes[line["Event"].rpartition(".")[2]]
        assert handler is not None
        handler(decode(msgspec.json.Decoder(record), json.dumps(line).encode()))
    tables = dict(built.tables(last=True))
    [session] = tables["sessions"].to_pylist()
    assert (session["client_host"], session["started_ms"], session["closed_ms"]) == ("10.0.0.1", 1, 8)
    got = [(r["statement_id"], r["status"], r["finished_ms"], r["closed_ms"]) for r in tables["statements"].to_pylist()]
    assert got == [("a", "succeeded", 5, 7), ("b", "failed", 6, None), ("c", "unfinished", None, None)]
