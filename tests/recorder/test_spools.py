"""What is said of a sweep after a job. That it ships what the dead left is tested with real JVMs in tests/jvm."""

from pathlib import Path
from urllib.parse import quote_plus

import pytest

from emberscope.recorder.spools import left_by, sweep


def left(place: Path, run: Path) -> None:
    """A spool as a killed process leaves it."""
    spool = place / "emberscope-somebody" / "process-1"
    spool.mkdir(parents=True)
    (spool / "lock").touch()
    said = {"schema": "emberscope.spool/1", "run": run.as_uri(), "app_id": "app 1", "attempt": "1"}
    (spool / "process").write_text("".join(f"{key}={quote_plus(value)}\n" for key, value in said.items()))


def java(folder: Path, script: str) -> str:
    program = folder / "java"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("""echo '{"swept": 1, "problems": []}'""", None),
        ("""echo '{"swept": 1, "problems": [{"message": "no chunk at 7"}]}'""", "no chunk at 7."),
        (r"printf 'Exception: \377 no space\n' >&2; exit 1", "no space."),
        ("exit 3", "exit code 3."),
        ("echo of another version", None),
    ],
    ids=["all", "not all", "none, in another encoding", "none", "unreadable words"],
)
def test_what_could_not_be_fetched_is_said(tmp_path: Path, script: str, said: str | None) -> None:
    run, place = tmp_path / "runs" / "a run", tmp_path / "disk"
    left(place, run)
    (document,) = left_by(run, [place])
    assert document["app_id"] == "app 1"
    found = sweep(run, {"spools": [str(place)]}, java=java(tmp_path, script), jar=tmp_path / "r.jar")
    assert (found is None) == (said is None)
    assert (found or "").endswith(said or "")


def test_without_java_it_stays_and_where_nothing_lies_none_is_wanted(tmp_path: Path) -> None:
    run, place = tmp_path / "run", tmp_path / "disk"
    assert sweep(run, {"spools": [str(place)]}, java=None, jar=None) is None
    left(place, run)
    assert "there is no Java" in (sweep(run, {"spools": [str(place)]}, java=None, jar=None) or "")
    assert left_by(tmp_path / "another run", [place]) == []
