"""Directories of anything, and standard input: all that can be read is told, and what cannot be read too."""

import json
import os
import shutil
import socket
import subprocess
import sys

import pytest

from emberscope.cli.main import exit_code
from tests.sources.stored import APP_ID, DATA, LOG

JFR = DATA / "jfr/workload-jdk17.jfr.gz"


@pytest.fixture
def mixed(tmp_path):
    """A log in a nested folder, a recording, and bad members: junk, an empty file, a recording that is only a head."""
    (tmp_path / "logs").mkdir()
    shutil.copy(LOG, tmp_path / "logs/log")
    shutil.copy(JFR, tmp_path / "a.jfr")
    (tmp_path / "cut.jfr").write_bytes(b"FLR\0")
    (tmp_path / "junk").write_text("hello")
    (tmp_path / "nothing").touch()
    return tmp_path


@pytest.mark.parametrize("verb", ["summary", "diagnose"])
def test_a_directory_with_bad_members_prints_the_rest_and_ends_with_3(verb, mixed, capsys):
    assert exit_code([verb, str(mixed), "--json"]) == 3
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [app["app_id"] for app in document["apps"] if app["app_id"]] == [APP_ID]
    bad = {item["path"].rpartition("/")[2] for item in document["inputs"] if item["kind"] is None}
    assert bad == {"cut.jfr", "junk", "nothing"}
    assert [item["kind"] for item in document["inputs"] if item["kind"]] == ["event_log", "recording"]
    assert bad <= {note["where"].rpartition("/")[2] for note in document["coverage"]["notes"]}
    assert not document["coverage"]["complete"]
    assert "And 2 more inputs could not be read" in err


@pytest.mark.parametrize("words", [["flame", "--format", "folded"], ["report", "-o", "-"]])
def test_verbs_of_one_input_print_what_can_be_read(words, mixed, capsys):
    (mixed / "logs/log").unlink()
    assert exit_code([words[0], str(mixed), *words[1:]]) == 3
    out, err = capsys.readouterr()
    assert len(out) > 1000
    assert "could not be read" in err


def test_verbs_of_one_input_say_where_there_are_several(mixed, capsys):
    for name in ("b", "c"):
        shutil.copy(LOG, mixed / name)
    assert exit_code(["flame", str(mixed), "--format", "folded"]) == 3
    assert "it holds 4 inputs" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["flame - --format json", "report - -o -", "summary - --json", "diagnose - --json"])
@pytest.mark.parametrize("cut", [False, True])
def test_standard_input_is_never_called_by_a_temporary_name(line, cut):
    data = JFR.read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "emberscope.cli.main", *line.split()],
        input=data[:3000] if cut else data,
        capture_output=True,
        check=False,
    )
    assert done.returncode in ((0, 3) if cut else (0,))
    assert b"emberscope-stdin" not in done.stdout + done.stderr
    assert done.stdout or b"standard input" in done.stderr


@pytest.mark.parametrize("verb", ["summary", "diagnose", "ingest"])
@pytest.mark.parametrize("folder", ["logs", "eventlog_v2_app-1"])
def test_pipes_and_sockets_in_a_folder_are_told_and_not_waited_for(verb, folder, tmp_path, capsys):
    inside = tmp_path / folder
    inside.mkdir()
    shutil.copy(LOG, inside / "log")
    os.mkfifo(inside / "events_1_app-1")
    os.mkfifo(inside / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(inside / "socket"))
        assert (
            exit_code([verb, str(inside), "--json", *(["-o", str(tmp_path / "to")] if verb == "ingest" else [])]) == 3
        )
    out, err = capsys.readouterr()
    notes = json.loads(out)["coverage"]["notes"]
    told = {note["where"].rpartition("/")[2] for note in notes if "a pipe, a socket or a device" in note["message"]}
    assert told == {"events_1_app-1", "pipe", "socket"}
    assert "And 2 more inputs could not be read" in err


def test_a_folder_that_is_too_deep_is_not_called_empty(tmp_path, capsys):
    deep = tmp_path / "/".join("abcdefghijkl")
    deep.mkdir(parents=True)
    shutil.copy(LOG, deep / "log")
    assert exit_code(["summary", str(tmp_path)]) == 3
    err = capsys.readouterr().err
    assert "empty" not in err
    assert "folders deep" in err


def test_of_several_applications_each_says_where_it_is_from_and_what_it_lacks(tmp_path, capsys):
    shutil.copy(LOG, tmp_path / "whole")
    (tmp_path / "cut").write_bytes(b'{"Event":"SparkListenerLogStart","Spark Version":"4.3.0"}\n{"Event":"Spark')
    assert exit_code(["summary", str(tmp_path)]) == 0
    cut, whole = capsys.readouterr().out.split("\n\n")[:2]
    assert f"read from   {tmp_path / 'cut'}\n" in cut
    assert "the last line is cut" in cut
    assert f"read from   {tmp_path / 'whole'}\n" in whole
    assert "the last line is cut" not in whole
    exit_code(["summary", str(tmp_path), "--json"])
    assert [app["path"] for app in json.loads(capsys.readouterr().out)["apps"]] == [
        str(tmp_path / "cut"),
        str(tmp_path / "whole"),
    ]


@pytest.mark.parametrize("verb", ["summary", "diagnose", "ingest"])
def test_names_that_are_no_utf_8_and_names_that_a_terminal_obeys(verb, tmp_path, capsys):
    inside = tmp_path / "in"
    inside.mkdir()
    for name in (b"log\xff", b"red\x1b[31m", b"bad\x1b[31m\xfe"):
        content = b"no log" if name.startswith(b"bad") else LOG.read_bytes()
        with open(os.fsencode(inside) + b"/" + name, "wb") as file:
            file.write(content)
    assert exit_code([verb, str(inside), *(["-o", str(tmp_path / "to")] if verb == "ingest" else [])]) == 3
    out, err = capsys.readouterr()
    assert "inside emberscope" not in err
    assert "\x1b" not in out + err
