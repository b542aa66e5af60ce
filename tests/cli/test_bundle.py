"""`bundle`: one archive that gives nothing away, and of which the diagnosis is the same."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from emberscope.cli.main import exit_code
from tests.eventlog.logs import EVENTFUL, PACKED, ROLLED
from tests.logs import crashes
from tests.logs.test_gc_log import FULL, HEALTHY
from tests.sources.stored import DATA

JFR = DATA / "jfr/workload-jdk17.jfr.gz"
LOG = "24/05/16 10:42:07 INFO SecurityManager: Changing view acls to: alicesmith\nalicesmith password=hunter2hunter2\n"


def members(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name.removeprefix("emberscope-bundle/"): archive.read(name) for name in archive.namelist()}


def findings(path: Path, capsys: pytest.CaptureFixture[str]) -> list[Any]:
    capsys.readouterr()
    assert exit_code(["diagnose", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    return [
        [finding[key] for key in ("code", "severity", "wasted_wall_ms", "where")] for finding in document["findings"]
    ]


@pytest.mark.parametrize("log", [PACKED, ROLLED, EVENTFUL], ids=lambda log: log.stem)
def test_the_diagnosis_is_that_of_what_was_put_in(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = tmp_path / "ticket.zip"
    assert exit_code(["bundle", str(log), "-o", str(bundle)]) == 0
    before, after = findings(log, capsys), findings(bundle, capsys)
    assert [row[:3] for row in after] == [row[:3] for row in before]
    about = json.loads(members(bundle)["_about/diagnosis.json"])
    assert [finding["code"] for finding in about["findings"]] == [row[0] for row in before]
    assert "/tmp" not in json.dumps(about)


def test_all_that_lies_there_goes_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = tmp_path / "job"
    (there / "container_1525_0001_01_000001").mkdir(parents=True)
    (there / "container_1525_0001_01_000001" / "stderr").write_text(LOG)
    (there / "node" / "instance-state").mkdir(parents=True)
    (there / "node" / "instance-state" / "df").write_text("Filesystem Size Used\n/dev/xvdb 100G 99G\n")
    (there / "log.zstd").write_bytes(PACKED.read_bytes())
    (there / "rec.jfr").write_bytes(JFR.read_bytes())
    (there / "core").write_bytes(b"\x7fELF" + bytes(100))
    bundle = tmp_path / "ticket.zip"
    assert exit_code(["bundle", str(there), "-o", str(bundle), "--json", "--note", "token=abcdefabcdef at 2"]) == 0
    said = json.loads(capsys.readouterr().out)
    inside = members(bundle)
    assert json.loads(inside["bundle.json"]) == said
    assert {entry["name"] for entry in said["files"]} <= set(inside)
    assert {entry["name"] for entry in said["left_out"]} == {"job/rec.jfr", "job/core"}
    asked = {entry["name"]: entry["files"] for entry in said["asked_for"]}
    assert asked["event log"] == ["inputs/job/log"]
    assert asked["driver log"]
    assert asked["state of the node"]
    assert not asked["recording"]
    assert said["secrets_taken_out"] >= 2
    everything = b"".join(inside.values())
    assert b"alicesmith" not in everything
    assert b"hunter2" not in everything
    assert b"abcdefabcdef" not in everything
    assert str(tmp_path).encode() not in everything


def test_logs_of_containers_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    there = tmp_path / "logs" / "application_1525000000000_0001" / "container_1525000000000_0001_01_000007"
    there.mkdir(parents=True)
    (there / "stdout").write_text(crashes.IN_NATIVE)
    (there / "stderr").write_text("24/05/16 10:42:07 INFO Executor: Running task 3.0 on ip-10-1-2-3.ec2.internal\n" * 5)
    (there / "gc.log").write_text(HEALTHY + FULL)
    (there / "prelaunch.out").write_text("Setting up env variables\nSetting up job resources\nLaunching container\n")
    bundle = tmp_path / "ticket.zip"
    assert exit_code(["bundle", str(tmp_path / "logs"), "-o", str(bundle)]) == 0
    before, after = findings(tmp_path / "logs", capsys), findings(bundle, capsys)
    assert [row[0] for row in before] == ["K80", "K82"]
    assert after == before
    inside = members(bundle)
    assert {"gc.log", "stdout", "stderr", "prelaunch.out"} == {
        name.rpartition("/")[2] for name in inside if name.startswith("inputs/")
    }
    assert not any(b"ip-10-1-2-3" in data for data in inside.values())


def test_recordings_go_in_where_that_is_wanted(tmp_path: Path) -> None:
    bundle = tmp_path / "ticket.zip"
    assert exit_code(["bundle", str(JFR), "-o", str(bundle), "--recordings"]) == 0
    assert members(bundle)[f"inputs/{JFR.name}"] == JFR.read_bytes()


def test_a_bundle_of_a_bundle_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "a.zip", tmp_path / "b.zip"
    assert exit_code(["bundle", str(PACKED), "-o", str(first)]) == 0
    assert exit_code(["bundle", str(first), "-o", str(second)]) == 0
    assert findings(first, capsys) == findings(second, capsys)


def test_without_inputs_it_says_what_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["bundle"]) == 0
    said = capsys.readouterr().out
    assert "yarn logs -applicationId" in said
    assert "kubectl" in said


def test_what_is_not_there_is_said_and_all_else_is_packed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bundle = tmp_path / "ticket.zip"
    assert exit_code(["bundle", str(PACKED), str(tmp_path / "nowhere"), "-o", str(bundle)]) == 3
    assert "no such file" in capsys.readouterr().err
    assert zipfile.is_zipfile(bundle)
    assert exit_code(["bundle", str(tmp_path / "nowhere"), "-o", str(tmp_path / "other.zip")]) == 3
    assert not (tmp_path / "other.zip").exists()


def test_it_never_writes_over_what_it_reads(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(PACKED.read_bytes())
    assert exit_code(["bundle", str(log), "-o", str(log)]) == 2
    assert log.read_bytes() == PACKED.read_bytes()


def test_it_goes_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert exit_code(["bundle", str(PACKED), "-o", "-"]) == 0
    assert zipfile.is_zipfile(io.BytesIO(capfdbinary.readouterr().out))
