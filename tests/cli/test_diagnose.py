"""The verb `diagnose` beside what all readers share."""

import pytest

from emberscope.cli.main import exit_code
from tests.runs import FINDINGS
from tests.sources.stored import LOG


@pytest.mark.parametrize(
    ("name", "more", "start"),
    [
        ("o.json", [], '{\n "schema": "emberscope.diagnose/1"'),
        ("o.JSON", [], '{\n "schema": "emberscope.diagnose/1"'),
        ("o.md", [], "## "),
        ("o.txt", [], "logged-job"),
        ("o", [], "logged-job"),
        ("o.sarif", [], '{\n "$schema": "https://json.schemastore.org/sarif-2.1.0.json"'),
        ("o.xml", [], "<?xml version='1.0' encoding='UTF-8'?>\n<testsuites"),
        ("o.md", ["--json"], '{\n "schema": "emberscope.diagnose/1"'),
        ("o.html", ["--format", "text"], "logged-job"),
    ],
)
def test_the_ending_of_the_file_chooses_the_format(tmp_path, name, more, start):
    assert exit_code(["diagnose", str(LOG), "-o", str(tmp_path / name), *more]) == 0
    assert (tmp_path / name).read_text().startswith(start)


def test_an_ending_that_stands_for_no_format_is_refused(tmp_path, capsys):
    assert exit_code(["diagnose", str(LOG), "-o", str(tmp_path / "o.html")]) == 2
    assert "no format has this ending. Known are .json, .md" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_all_tells_what_one_screen_leaves_out(capsys):
    log = FINDINGS / "findings_skew_spill_python.zstd"
    texts = []
    for more in ([], ["--all"], ["-v"]):
        assert exit_code(["diagnose", str(log), *more]) == 0
        texts.append(capsys.readouterr().out)
    assert len(texts[0].splitlines()) <= 40
    assert texts[1] == texts[2]
    assert "Basis: Replay" in texts[1]
    assert "Basis: Replay" not in texts[0]


@pytest.mark.parametrize(("limit", "code"), [("critical", 0), ("medium", 1), ("low", 1)])
def test_the_failures_in_junit_are_those_that_the_exit_code_tells(capsys, limit, code):
    log = FINDINGS / "findings_skew_spill_python.zstd"
    assert exit_code(["diagnose", str(log), "--format", "junit", "--fail-on", limit]) == code
    assert ("<failure " in capsys.readouterr().out) == (code == 1)


def test_sarif_names_a_source_file_as_the_working_directory_has_it(tmp_path, capsys, monkeypatch):
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "findings_skew_spill_python.py").touch()
    monkeypatch.chdir(tmp_path)
    assert exit_code(["diagnose", str(FINDINGS / "findings_skew_spill_python.zstd"), "--format", "sarif"]) == 0
    assert '"uri": "jobs/findings_skew_spill_python.py"' in capsys.readouterr().out
