from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from emberscope.cli.main import exit_code
from tests.sources.stored import DATA, whole_run

JFR = str(DATA / "jfr/workload-jdk17.jfr.gz")
LOG = str(DATA / "findings/findings_skew_spill_python.zstd")
KILLED = str(DATA / "eventlog/spark-3.5-killed.inprogress.gz")


def report(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = exit_code(["report", *words])
    out, err = capsys.readouterr()
    return code, out, err


def facts(page: str) -> dict:
    found = re.search(r'id="emberscope-run">(.*?)</script>', page, flags=re.S)
    assert found is not None
    return json.loads(found[1])


def words_of(page: str) -> str:
    """What a reader sees, without markup and scripts."""
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.S)
    return " ".join(re.sub(r"<[^>]*>", " ", body).split())


def test_the_ending_chooses_the_format(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name, start in (("x.html", "<!doctype html>"), ("x.md", "## "), ("x.txt", "findings:")):
        path = tmp_path / name
        code, out, err = report(capsys, LOG, "-o", str(path))
        assert (code, out) == (0, "")
        assert f"report: {path}" in err
        assert path.read_text(encoding="utf-8").startswith(start)


def test_without_a_file_it_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert report(capsys, LOG)[1].startswith("<!doctype html>")
    assert report(capsys, LOG, "--format", "md")[1].startswith("## findings: skew")
    assert "Where the wall time went" in report(capsys, LOG, "--format", "text")[1]


def test_themes(capsys: pytest.CaptureFixture[str]) -> None:
    assert '<html lang="en">' in report(capsys, LOG)[1]
    assert '<html lang="en" data-theme="dark">' in report(capsys, LOG, "--theme", "dark")[1]


def test_redacted(capsys: pytest.CaptureFixture[str]) -> None:
    page = report(capsys, LOG, "--redact")[1]
    assert facts(page)["redacted"] is True
    assert facts(page)["app"]["app_name"] == "application"
    assert "Redacted:" in words_of(page)


def test_an_event_log_alone_says_how_to_get_a_recording(capsys: pytest.CaptureFixture[str]) -> None:
    page = report(capsys, LOG)[1]
    assert facts(page)["samples"] == {}
    assert "Recorder: not used, so no flame graph. To get one: start the application with emberscope run" in words_of(
        page
    )


@pytest.mark.parametrize("form", ["html", "md", "text"])
def test_a_recording_alone_says_what_was_hot_and_how_to_get_a_log(
    capsys: pytest.CaptureFixture[str], form: str
) -> None:
    code, out, _ = report(capsys, JFR, "--format", form)
    said = " ".join(words_of(out).replace("\\", "").split())
    assert code == 0
    assert re.search(
        r"A recording of [\d.]+ s with [\d,]+ (cpu|wall) samples, (most of them|the largest part) in ", said
    )
    assert "No event log: nothing is known of jobs, stages, tasks and SQL. To get it:" in said


def test_a_killed_application_says_that_its_log_has_no_end(capsys: pytest.CaptureFixture[str]) -> None:
    page = report(capsys, KILLED)[1]
    assert "the log has no end of the application" in words_of(page)
    assert facts(page)["app"]["complete"] is False
    assert sum(part["wall_ms"] for part in facts(page)["story"]) == facts(page)["app"]["duration_ms"]


def test_a_damaged_chunk_is_told_and_the_rest_is_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run = whole_run(tmp_path / "store")
    whole = facts(report(capsys, str(run))[1])
    chunk = sorted(run.glob("recordings/*/*.jfr"))[0]
    chunk.write_bytes(chunk.read_bytes()[:100])
    code, out, _ = report(capsys, str(run))
    damaged = facts(out)
    assert code == 0
    assert 0 < sum(damaged["samples"].values()) < sum(whole["samples"].values())
    assert not damaged["coverage"]["complete"]
    assert "known to be missing" in words_of(out)
    assert chunk.name in words_of(out)
