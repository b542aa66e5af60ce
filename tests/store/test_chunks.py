import hashlib
import json
from pathlib import Path

import pytest

from emberscope.sources.lost import chunk_notes, executor_notes, recorded_ms
from emberscope.sources.recorder_cost import budget_notes, own_cpu, own_cpu_words, problem_notes
from emberscope.store.chunks import check_chunk, chunks_of, read_chunk, read_manifest
from emberscope.tables.run import Application

DATA = b"FLR\0 and more"
MANIFEST = {
    "schema": "emberscope.chunk/1",
    "role": "executor",
    "executor_id": "3",
    "host": "h1",
    "sequence": 0,
    "first_ms": 1000,
    "last_ms": 2000,
    "bytes": len(DATA),
    "sha256": hashlib.sha256(DATA).hexdigest(),
    "last": True,
    "lost": {"chunks": 0, "seconds": 1.5},
    "unknown": 1,
}


def write(run: Path, name: str, manifest: object, data: bytes = DATA) -> Path:
    path = run / "recordings" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if manifest is not None:
        path.with_suffix(".json").write_text(json.dumps(manifest))
    return path


def test_the_manifest_says_whose_chunk_it_is(tmp_path):
    write(tmp_path, "executor-9/1000-000000.jfr", MANIFEST)
    (chunk,) = chunks_of(tmp_path)
    assert (chunk.origin.role, chunk.origin.executor_id, chunk.origin.host) == ("executor", "3", "h1")
    assert chunk.manifest is not None
    assert chunk.manifest.last
    assert chunk.manifest.lost == {"chunks": 0.0, "seconds": 1.5}
    assert check_chunk(chunk, DATA, "here") == []


@pytest.mark.parametrize(
    ("directory", "origin"),
    [("executor-7", ("executor", "7")), ("driver-driver", ("driver", "driver")), ("x", (None, None))],
)
def test_without_a_manifest_the_directory_says_it(tmp_path, directory, origin):
    path = write(tmp_path, f"{directory}/1000-000000.jfr", None)
    chunk = read_chunk(path)
    assert (chunk.origin.role, chunk.origin.executor_id) == origin
    assert [note.code for note in check_chunk(chunk, DATA, "here")] == ["missing_part"]


@pytest.mark.parametrize(
    ("data", "code", "lost"),
    [(DATA[:-3], "cut", {"bytes": 3.0}), (DATA[:-1] + b"!", "cut", {})],
)
def test_bytes_that_are_not_the_manifests_are_noted(tmp_path, data, code, lost):
    chunk = read_chunk(write(tmp_path, "executor-3/1000-000000.jfr", MANIFEST, data))
    assert [(note.code, note.lost) for note in check_chunk(chunk, data, "here")] == [(code, lost)]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"last_ms": "soon", "lost": 3, "last": "yes"}'])
def test_a_manifest_that_is_none_is_no_crash(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    manifest = read_manifest(tmp_path / "m.json")
    assert manifest is None or (manifest.last_ms, manifest.lost, manifest.last) == (None, {}, False)


@pytest.mark.parametrize("nonsense", ["text", 7, -1, 10**400, float("nan"), [1], {"a": {}}, None, True])
def test_a_manifest_of_nonsense_says_nothing_and_ends_nothing(tmp_path, nonsense):
    names = [name for name in MANIFEST if name not in ("schema", "unknown")]
    names += ["engine", "jdk", "rate_ratio", "rate_held_by", "own_cpu_ns", "process_cpu_ns", "sample_period_ns"]
    names += ["problems", "swept"]
    for name in names:
        write(tmp_path, "executor-9/1000-000000.jfr", MANIFEST | {name: nonsense})
        chunks = chunks_of(tmp_path)
        check_chunk(chunks[0], DATA, "here")
        assert isinstance(chunks[0].executor_id, str)
        assert isinstance(chunks[0].role, str)
        executor_notes(None, chunks, Application())
        assert {note.code for note in chunk_notes(chunks)} <= {"dropped_events", "missing_part"}
        assert budget_notes(chunks) == problem_notes(chunks) == []
        own_cpu_words(own_cpu(chunks))
        recorded_ms(chunks)
    write(tmp_path, "executor-9/1000-000000.jfr", MANIFEST | {"lost": {"chunks": nonsense}})
    chunk_notes(chunks_of(tmp_path))
