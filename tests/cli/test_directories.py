"""Directories of anything, and standard input: all that can be read is told, and what cannot be read too."""

import json
import shutil
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
