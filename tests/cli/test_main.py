import os
import subprocess
import sys

import pytest

from emberscope.cli import group
from emberscope.cli.main import exit_code
from emberscope.errors import InputError, ServiceError, StoreError, UsageError


def emberscope(*words, **options):
    command = [sys.executable, "-m", "emberscope.cli.main", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError("wrong.", hint="Try it."), 2, "emberscope: wrong. Try it.\n"),
        (InputError("/x", "is torn."), 3, "emberscope: /x: is torn.\n"),
        (StoreError("/x", "is full."), 3, "emberscope: /x: is full.\n"),
        (ServiceError("nobody answers."), 4, "emberscope: nobody answers.\n"),
        (KeyboardInterrupt(), 130, "emberscope: interrupted.\n"),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_every_error_becomes_one_sentence_and_a_code(error, code, said, monkeypatch, capfd):
    def fail(_):
        raise error

    monkeypatch.setattr(group, "call", fail)
    kept = os.dup(1)
    try:
        assert exit_code(["summary"]) == code
    finally:
        os.dup2(kept, 1)
        os.close(kept)
    assert capfd.readouterr().err == said


def test_a_fault_of_ours_is_said_without_a_traceback(monkeypatch, capsys):
    def fail(_):
        raise ZeroDivisionError("over\nnothing")

    monkeypatch.setattr(group, "call", fail)
    assert exit_code(["summary"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "ZeroDivisionError: over nothing" in err
    with pytest.raises(ZeroDivisionError):
        exit_code(["--debug", "summary"])
    monkeypatch.setenv("EMBERSCOPE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        exit_code(["summary"])


def test_a_reader_that_goes_away_is_no_error():
    script = f"{sys.executable} -m emberscope.cli.main explain B1 | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_results_are_utf_8_whatever_the_locale_says():
    done = emberscope(
        "explain", "B1", env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0
    assert done.stderr == ""


def test_the_command_alone_says_what_there_is():
    done = emberscope()
    assert done.returncode == 0
    assert "Verbs:" in done.stdout
