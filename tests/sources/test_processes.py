"""Many inputs side by side: the same in the same order, and one that cannot be read, or that kills, costs no other."""

from __future__ import annotations

import json
import os
import pickle
import signal
import tempfile
from pathlib import Path

import pytest

from emberscope.cli.main import exit_code
from emberscope.errors import InputError
from emberscope.sources import load as loading
from emberscope.sources.load import find_inputs, load_input, read_many, whole
from emberscope.sources.processes import in_processes
from tests.sources.archives import cut_log, zipped


def where(number: int) -> tuple[int, int]:
    return number, os.getpid()


def dies(number: int) -> int:
    """Killed as for want of memory at 3."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    with tempfile.NamedTemporaryFile(delete=False) as left:
        left.write(b"left behind")
    return number


def lost(number: int) -> int:
    return -number


def refuses(number: int) -> int:
    raise InputError(f"/somewhere/{number}", "it is bad.", place="line 7", hint="Do better.")


def test_results_come_in_the_order_of_the_items() -> None:
    there = list(in_processes(where, range(40), where, processes=2))
    assert [number for number, _ in there] == list(range(40))
    assert os.getpid() not in {process for _, process in there}
    here = os.getpid()
    assert list(in_processes(where, range(3), where, processes=1)) == [(number, here) for number in range(3)]


def test_an_item_that_kills_its_process_costs_no_other_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # others work in the usual place at the same time
    assert list(in_processes(dies, range(8), lost, processes=2)) == [0, 1, 2, -3, 4, 5, 6, 7]
    assert not [name for name in os.listdir(tmp_path) if name.startswith("emberscope-work")]


def test_errors_come_back_as_they_were() -> None:
    with pytest.raises(InputError) as caught:
        list(in_processes(refuses, range(4), lost, processes=2))
    error = caught.value
    assert (error.path, error.reason, error.place, error.hint) == ("/somewhere/0", "it is bad.", "line 7", "Do better.")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@pytest.fixture
def many(tmp_path: Path) -> Path:
    for number in range(30):
        (tmp_path / f"log-{number:02d}").write_bytes(cut_log(40 + number))
    (tmp_path / "log-07").write_bytes(b"\x28\xb5\x2f\xfd cut")
    (tmp_path / "log-11.zip").write_bytes(zipped({"a": cut_log(9), "b": cut_log(10), "c": b"hello"}))
    return tmp_path


def test_the_same_is_read_side_by_side_as_one_by_one(many: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items, _ = find_inputs(str(many))
    alone = [list(loading.read_each(item, load_input, whole)) for item in items]
    monkeypatch.setattr(loading, "_MANY_BYTES", 0)
    monkeypatch.setattr(loading, "useful_processes", lambda: 2)
    together = list(read_many(items, load_input, whole))

    def said(outcomes: list[loading.Outcome]) -> list[tuple[object, ...]]:
        runs = [one.result and (one.result.path, one.result.application, one.result.coverage) for one in outcomes]
        return [(one.item.kind, run, list(map(str, one.problems))) for one, run in zip(outcomes, runs, strict=True)]

    assert [said(outcomes) for outcomes in together] == [said(outcomes) for outcomes in alone]
    assert sum(outcome.result is not None for outcomes in together for outcome in outcomes) == 31


@pytest.mark.parametrize("verb", ["summary", "diagnose"])
def test_a_folder_of_many_logs(
    verb: str, many: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loading, "_MANY_BYTES", 0)
    assert exit_code([verb, str(many), "--json"]) == 3
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert len(document["apps"]) == 31
    paths = [item["path"].removeprefix(f"{many}/") for item in document["inputs"] if item["kind"]]
    assert paths == sorted(paths)
    assert [item["path"].removeprefix(f"{many}/") for item in document["inputs"] if item["kind"] is None] == [
        "log-07",
        "log-11.zip/c",
    ]
    assert len([line for line in err.splitlines() if not line.startswith("note: ")]) == 1
