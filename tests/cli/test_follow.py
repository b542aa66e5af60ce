"""`summary --follow` while a log grows, to its end and to Ctrl-C."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.eventlog.logs import plain_text

_TEXT = plain_text()
_HALF = _TEXT[: len(_TEXT) // 2]


def _start(path: Path, *options: str) -> subprocess.Popen[str]:
    command = [str(Path(sys.executable).with_name("emberscope")), "summary", "--follow", str(path), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_document_per_change_until_spark_closes_the_log(tmp_path: Path) -> None:
    path = tmp_path / "app-1.inprogress"
    path.write_bytes(_HALF)
    with _start(path, "--json") as process:
        assert process.stdout is not None
        first = json.loads(process.stdout.readline())
        with path.open("ab") as file:
            file.write(_TEXT[len(_HALF) :])
        second = json.loads(process.stdout.readline())
        path.rename(tmp_path / "app-1")
        rest = process.stdout.read().splitlines()
        assert process.wait() == 0
    assert first["schema"] == "emberscope.summary/1"
    assert first["apps"][0]["lines"] == _HALF.count(b"\n")
    assert not first["apps"][0]["complete"]
    last = json.loads((rest or [json.dumps(second)])[-1])
    assert last["apps"][0]["lines"] == _TEXT.count(b"\n")
    assert last["apps"][0]["complete"]
    assert last["coverage"]["complete"]


@pytest.mark.parametrize("json_too", [True, False])
def test_ctrl_c_leaves_what_is_known(json_too: bool, tmp_path: Path) -> None:
    path = tmp_path / "app-1.inprogress"
    path.write_bytes(_HALF)
    with _start(path, *(["--json"] if json_too else [])) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        said = (process.stdout if json_too else process.stderr).readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert process.returncode == 130
    assert "Traceback" not in err
    if json_too:
        json.loads(said)
        assert out == ""
    else:
        assert "jobs" in said
        assert "tasks " in out


def test_a_finished_log_is_printed_and_done(tmp_path: Path) -> None:
    path = tmp_path / "app-1"
    path.write_bytes(_TEXT)
    with _start(path) as process:
        out, err = process.communicate()
        assert process.returncode == 0
    assert "ended" in err
    assert "logged-job" in out


@pytest.mark.parametrize(
    ("content", "code", "words"), [(b"hello\n", 3, "is not a Spark event log"), (None, 3, "does not exist")]
)
def test_what_is_no_event_log_is_refused(content: bytes | None, code: int, words: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    if content is not None:
        path.write_bytes(content)
    with _start(path) as process:
        _, err = process.communicate()
        assert process.returncode == code
    assert words in err
