"""`ingest`: the tables on disk are those that the reader gives."""

import json
import shutil
import subprocess
import sys

import pyarrow.parquet as pq
import pytest

from emberscope.cli.main import exit_code
from emberscope.eventlog import accumulables, conf, executor_metrics, rows, sessions, sql, stages, streaming, tasks
from emberscope.eventlog.read import read_event_log
from emberscope.sources import ingest
from tests.eventlog.logs import CONNECT, DATA, EVENTFUL, PACKED, RETRIED, ROLLED, packed_text
from tests.sources.archives import tarred, zipped
from tests.sources.stored import DATA as ALL_DATA

LOGS = (PACKED, ROLLED, EVENTFUL, CONNECT, RETRIED)
JFR = ALL_DATA / "jfr/workload-jdk17.jfr.gz"


@pytest.mark.parametrize("log", LOGS, ids=[log.stem for log in LOGS])
@pytest.mark.parametrize("few", [10, 1 << 17], ids=["many groups", "one group"])
def test_the_tables_are_those_of_the_reader(log, few, tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "BATCH_ROWS", few)
    monkeypatch.setattr(tasks, "GROUP_ROWS", few)
    monkeypatch.setattr(ingest, "GROUP_ROWS", few)
    monkeypatch.setattr(rows, "AT_HAND", few // 5)
    for of_tables in (accumulables, conf, executor_metrics, sessions, sql, stages, streaming):
        monkeypatch.setattr(of_tables, "PART_ROWS", few)
    assert exit_code(["ingest", str(log), "-o", str(tmp_path)]) == 0
    monkeypatch.undo()
    run = read_event_log(str(log))
    directory = tmp_path / run.application.app_id
    assert {path.stem for path in (directory / "tables").iterdir()} == set(run.tables)
    for name, table in run.tables.items():
        read = pq.read_table(directory / "tables" / f"{name}.parquet")
        assert read.to_pydict() == table.to_pydict(), name
        assert read.schema.names == table.schema.names
        assert read.schema.field(0).metadata == table.schema.field(0).metadata
    document = json.loads((directory / "ingest.json").read_text())
    assert document["tables"] == {name: table.num_rows for name, table in run.tables.items()}
    assert document["app"]["tasks"]["total"] == run.tables["tasks"].num_rows


def test_again_gives_the_same_and_leaves_nothing_else(tmp_path, capsys):
    for _ in range(2):
        assert exit_code(["ingest", str(ROLLED), "-o", str(tmp_path), "--json"]) == 0
    (written,) = json.loads(capsys.readouterr().out.split("\n}\n")[1] + "\n}")["written"]
    assert [str(path) for path in tmp_path.iterdir()] == [written["directory"]]


def test_two_logs_of_one_application_are_two_directories(tmp_path):
    assert exit_code(["ingest", str(PACKED), str(PACKED), "-o", str(tmp_path)]) == 0
    first, second = sorted(path.name for path in tmp_path.iterdir())
    assert second == f"{first}-2"


def test_a_directory_of_something_else_is_left_alone(tmp_path, capsys):
    name = read_event_log(str(PACKED)).application.app_id
    (tmp_path / name).mkdir()
    (tmp_path / name / "precious").touch()
    assert exit_code(["ingest", str(PACKED), "-o", str(tmp_path)]) == 2
    assert "not from `ingest`" in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*")] == [name, "precious"]


def test_what_cannot_be_read_does_not_stop_the_rest(tmp_path, capsys):
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    shutil.copy(PACKED, inputs / "log")
    shutil.copy(JFR, inputs / "a.jfr")
    (inputs / "junk").write_text("hello")
    assert exit_code(["ingest", str(inputs), "-o", str(tmp_path / "out"), "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert len(document["written"]) == 2
    assert any("samples" in one["tables"] for one in document["written"])
    assert not document["coverage"]["complete"]
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_nothing_is_left_where_nothing_could_be_read(tmp_path):
    (tmp_path / "junk").write_text("hello")
    assert exit_code(["ingest", str(tmp_path / "junk"), "-o", str(tmp_path / "out")]) == 3
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())
    assert DATA.exists()


@pytest.mark.parametrize("form", ["-", "logs.zip", "logs.tgz"])
@pytest.mark.parametrize("known", [True, False])
def test_what_was_unpacked_or_piped_is_called_as_people_know_it(form, known, tmp_path):
    text = b"".join(line for line in packed_text(EVENTFUL).splitlines(True) if known or b"ApplicationStart" not in line)
    path = tmp_path / form
    if form == "logs.zip":
        path.write_bytes(zipped({"log": text}))
    elif form == "logs.tgz":
        path.write_bytes(tarred({"log": text}))
    command = [sys.executable, "-m", "emberscope.cli.main", "ingest", form, "-o", "to"]
    said = [
        subprocess.run([*command, *more], input=text, capture_output=True, check=True, cwd=tmp_path).stdout.decode()
        for more in ([], ["--json"])
    ]
    written = next((tmp_path / "to").iterdir())
    said.append((written / "ingest.json").read_text())
    assert said[0].split()[-1] in (form, f"{form}/log")
    assert json.loads(said[1])["inputs"][0]["path"] == json.loads(said[2])["input"] == said[0].split()[-1]
    assert json.loads(said[1])["inputs"][0]["kind"] == "event_log"
    assert not any("emberscope-" in text for text in said)
    if not known:
        assert written.name in ("standard-input", "log", form)
