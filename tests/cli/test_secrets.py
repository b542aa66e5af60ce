"""No secret in any text of an event log reaches what a verb prints or writes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from emberscope.cli.main import exit_code
from tests.eventlog.logs import CONNECT, EVENTFUL, packed_text, plain_text

# Names of events, ids, hosts, people and Spark's own words: no place for a secret, and they must stay as they are.
_NOT_TEXTS = frozenset(
    {
        "Event", "App ID", "User", "Spark Version", "Executor ID", "executorId", "Host", "Locality", "Reason", "Vendor",
        "Class Name", "metricType", "userName", "userId", "sessionId", "operationId", "id", "runId", "queryId",
        "sql.streaming.queryId",
    }
)  # fmt: skip

LOGS = {"3.5": plain_text, "eventful": lambda: packed_text(EVENTFUL), "connect": lambda: packed_text(CONNECT)}


def _with_secrets(value: Any, path: tuple[str, ...], places: list[str]) -> Any:
    """A secret at the end of every text, numbered by its place; of classpaths, which are keys, in these."""
    if isinstance(value, dict):
        if path[-1] == "Classpath Entries":
            places.append("classpath")
            return {f"{key}?password=Zq{len(places) - 1:06d}zZ": kind for key, kind in value.items()}
        return {key: _with_secrets(inner, (*path, key), places) for key, inner in value.items()}
    if isinstance(value, list):
        return [_with_secrets(inner, path, places) for inner in value]
    if not isinstance(value, str) or path[-1] in _NOT_TEXTS:
        return value
    places.append(".".join(path))
    return f"{value} password=Zq{len(places) - 1:06d}zZ"


@pytest.fixture(scope="module", params=LOGS)
def log(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A log with secrets, one of them in a line that is no event, and the places of all."""
    places: list[str] = []
    events = [json.loads(line) for line in LOGS[request.param]().splitlines()]
    lines = [json.dumps(_with_secrets(event, (event["Event"],), places)) for event in events]
    lines.insert(20, '{"Event":"SparkListenerJobStart","password=Zq000000zZ')
    path = tmp_path_factory.mktemp("secrets") / "log"
    path.write_text("\n".join(lines) + "\n")
    return path, places


def _leaked(text: str, places: list[str]) -> set[str]:
    return {places[int(number)] for number in re.findall(r"Zq(\d{6})zZ", text)}


VERBS = ("summary", "summary --json", "summary --follow --json", "diagnose", "diagnose --json", "diagnose --format md")


@pytest.mark.parametrize("words", VERBS)
def test_nothing_that_is_printed(words: str, log: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    path, places = log
    assert len(places) > 1000
    assert exit_code([*words.split(), str(path)]) == 0
    out, err = capsys.readouterr()
    assert len(out) > 500
    assert _leaked(out + err, places) == set()


def test_nothing_that_is_written(log: tuple[Path, list[str]], tmp_path: Path) -> None:
    path, places = log
    assert exit_code(["report", str(path), "-o", str(tmp_path / "page.html")]) == 0
    assert exit_code(["ingest", str(path), "-o", str(tmp_path / "tables")]) == 0
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 15
    for file in files:
        if file.suffix != ".parquet":
            assert _leaked(file.read_text(), places) == set(), file.name
            continue
        table = pq.read_table(file)
        for column in table.column_names:
            found = _leaked(json.dumps(table[column].to_pylist(), default=str), places)
            assert found == set(), f"{file.stem}.{column}"


def test_what_was_not_looked_through_is_said(log: tuple[Path, list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    """`summary` reads no plans; what it counts is less than what `diagnose` counts, and it says so."""
    said = {}
    for verb in ("summary", "diagnose"):
        assert exit_code([verb, str(log[0]), "--json"]) == 0
        notes = json.loads(capsys.readouterr().out)["coverage"]["notes"]
        (said[verb],) = [note["message"] for note in notes if note["code"] == "redacted"]
    assert "Plans and accumulators, of which nothing is shown, were not looked through." in said["summary"]
    assert "Plans" not in said["diagnose"]
