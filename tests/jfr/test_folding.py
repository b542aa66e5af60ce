"""The quick road from a recording to folded stacks, against the road through the tables."""

from __future__ import annotations

import subprocess
import sys

import pyarrow.compute as pc
import pytest

from emberscope.errors import InputError
from emberscope.jfr.folding import fold_recording
from emberscope.jfr.recording import read_recording
from emberscope.profile.fold import fold
from emberscope.profile.formats.folded import folded
from emberscope.sources.folding import fold_at_once
from tests.jfr.recordings import DATA, plain

NAMES = sorted(path.name for path in DATA.glob("*.jfr.gz"))
EVENTS = ("cpu", "wall", "alloc", "lock", "live", "native")


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_both_roads_give_the_same_bytes(name: str, lines: bool) -> None:
    data = plain(name)
    recording = read_recording(data, name, lines=lines)
    for event in EVENTS:
        samples = recording.samples.filter(pc.equal(recording.samples["event"], event))
        quick = fold_recording(data, name, event, lines=lines)
        if not samples.num_rows:
            assert quick is None
            continue
        assert quick is not None
        assert quick.text.decode() == folded(fold(samples, recording.stacks, recording.frames))
        assert quick.samples == recording.facts.samples[event] == total(quick.text)


def total(text: bytes) -> int:
    return sum(int(line.rsplit(b" ", 1)[1]) for line in text.splitlines())


def test_the_default_is_cpu_and_then_wall() -> None:
    quick = fold_recording(plain("workload-jdk17.jfr.gz"), "x", None)
    assert quick is not None
    assert (quick.event, quick.samples) == ("cpu", 71)
    assert fold_recording(plain("full_gc_g1.jfr.gz"), "x", None) is None


def test_losses_of_the_drawn_samples_are_told() -> None:
    quick = fold_recording(plain("workload-jdk17.jfr.gz"), "x", "cpu")
    assert quick is not None
    assert [(n.code, n.lost) for n in quick.coverage.notes] == [("truncated_stacks", {"samples": 33})]
    truncated = sum(total(line) for line in quick.text.splitlines() if line.startswith(b"[truncated];"))
    assert truncated == 33
    unfinished = fold_recording(plain("unfinished-jdk17.jfr.gz"), "x", "cpu")
    assert unfinished is not None
    assert "chunk_unfinished" in {note.code for note in unfinished.coverage.notes}


@pytest.mark.parametrize("data", [b"", b"FLR\0", b"nothing of ours" * 10, plain("2-7u40.jfr")])
def test_what_cannot_be_read_is_one_sentence_on_both_roads(data: bytes) -> None:
    with pytest.raises(InputError) as quick:
        fold_recording(data, "x.jfr", "cpu")
    with pytest.raises(InputError) as tables:
        read_recording(data, "x.jfr")
    assert str(quick.value) == str(tables.value)


def test_neither_numpy_nor_arrow_is_loaded_for_it(tmp_path: object) -> None:
    file = f"{tmp_path}/x.jfr"
    with open(file, "wb") as out:
        out.write(plain("workload-jdk17.jfr.gz"))
    program = (
        "import sys; from emberscope.cli.main import exit_code; "
        f"code = exit_code(['flame', {file!r}, '--format', 'folded']); "
        "loaded = sorted({'numpy', 'pyarrow', 'jinja2', 'msgspec'} & sys.modules.keys()); "
        "sys.exit(loaded or code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert (done.returncode, total(done.stdout)) == (0, 71), done.stderr.decode()


def test_packed_recordings_take_the_quick_road_too() -> None:
    quick = fold_at_once(str(DATA / "workload-jdk17.jfr.gz"), "cpu")
    assert quick is not None
    assert quick.samples == 71
    assert fold_at_once(str(DATA / "workload-jdk17.jfr.gz"), "alloc") is None, "bytes are what allocations weigh"
    assert fold_at_once(str(DATA / "workload-jdk17.jfr.gz"), "alloc", by_number=True) is not None
    assert fold_at_once(str(DATA / "README.md"), "cpu") is None
    assert fold_at_once(str(DATA), "cpu") is None
