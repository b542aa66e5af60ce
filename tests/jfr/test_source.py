"""Recordings in files, memory, streams and packings: the same bytes from all of them."""

from __future__ import annotations

import gzip
import io
import os
import random
from pathlib import Path

import pyarrow as pa
import pytest
import zstandard

from emberscope import jfr
from emberscope.jfr.recording import read_recording
from emberscope.jfr.source import File, opened
from tests.jfr.recordings import plain

RECORDING = plain("workload-jdk17.jfr.gz")


def lz4(data: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "lz4") as stream:
        stream.write(data)
    packed: bytes = sink.getvalue().to_pybytes()
    return packed


PACKINGS = {"plain": bytes, "gzip": gzip.compress, "zstd": zstandard.compress, "LZ4": lz4}


@pytest.mark.parametrize("packing", PACKINGS)
def test_every_packing_from_a_file_memory_and_streams(packing: str, tmp_path: Path) -> None:
    packed = PACKINGS[packing](RECORDING)
    file = tmp_path / "x"
    file.write_bytes(packed)
    receiving, sending = os.pipe()
    with os.fdopen(receiving, "rb") as pipe, os.fdopen(sending, "wb") as out:
        small = PACKINGS[packing](RECORDING[:5000])
        out.write(small)
        out.close()
        with opened(pipe) as (source, missing):
            assert (source.read(0, 1 << 30), missing) == (RECORDING[:5000], "")
    with file.open("rb") as stream:
        for recording in (file, str(file), packed, stream, io.BytesIO(packed)):
            with opened(recording) as (source, missing):
                assert (source.size, source.read(0, 1 << 30), missing) == (len(RECORDING), RECORDING, "")


@pytest.mark.parametrize("packing", ["gzip", "zstd", "LZ4"])
def test_cut_packings_say_so_and_give_what_there_is(packing: str, tmp_path: Path) -> None:
    noise = random.Random(1).randbytes(1 << 20)
    packed = PACKINGS[packing](noise)
    file = tmp_path / "x"
    file.write_bytes(packed[: len(packed) * 3 // 4])
    with opened(file) as (source, missing):
        assert missing == f"the {packing} data end too early"
        assert noise.startswith(source.read(0, 1 << 30))
        assert source.size > (1 << 19)


def test_members_of_gzip_and_frames_of_zstd_follow_each_other() -> None:
    for pack in (gzip.compress, zstandard.compress, lz4):
        halves = pack(RECORDING[:1000]) + pack(RECORDING[1000:])
        with opened(halves) as (source, missing):
            assert (source.read(0, 1 << 30), missing) == (RECORDING, "")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_bomb_is_stopped(pack: object) -> None:
    with opened(pack(bytes(200 << 20))) as (source, missing):  # type: ignore[operator]
        assert "unpack to more than" in missing
        assert source.size < (128 << 20)


def test_a_large_unpacked_recording_lies_in_a_file_and_reads_the_same() -> None:
    many = RECORDING * (1 + (33 << 20) // len(RECORDING))
    with opened(gzip.compress(many, 1)) as (source, missing):
        assert isinstance(source, File)
        assert (source.size, missing) == (len(many), "")
        assert source.read(len(RECORDING) - 5, 10) == RECORDING[-5:] + RECORDING[:5]


@pytest.mark.parametrize("offset", [0, 1, (1 << 20) - 2, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (2 << 20) - 1])
def test_find_sees_across_windows(offset: int, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(bytes(offset) + b"FLR\0" + bytes(100))
    with opened(file) as (source, _):
        assert source.find(b"FLR\0", 0) == offset
        assert source.find(b"FLR\0", offset + 1) == -1


def test_a_file_that_is_cut_while_it_is_read_is_only_shorter(tmp_path: Path) -> None:
    file = tmp_path / "x.jfr"
    file.write_bytes(RECORDING)
    with opened(file) as (source, _):
        os.truncate(file, len(RECORDING) // 2)
        assert source.read(0, 1 << 30) == RECORDING[: len(RECORDING) // 2]
        assert source.read(len(RECORDING) - 10, 10) == b""


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_packed_recording_reads_as_the_plain_one(packing: str, tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(PACKINGS[packing](RECORDING))
    assert read_recording(file, "x").facts == read_recording(RECORDING, "x").facts


def test_lent_memory_is_used_again_only_when_nobody_holds_it(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(RECORDING)
    half = len(RECORDING) // 2
    with opened(file) as (source, _):
        assert isinstance(source, File)
        first = source.lend(0, half)
        second = source.lend(half, half)
        part = second[10:20]
        del second
        for offset in range(20):
            assert source.lend(offset, half) == RECORDING[offset : offset + half]
        assert first == RECORDING[:half], "somebody holds it"
        assert part == RECORDING[half + 10 : half + 20], "or a part of it"
        assert len(source._buffers) <= 3
        assert source.lend(len(RECORDING) - 5, 100) == RECORDING[-5:]
        assert source.lend(len(RECORDING) + 5, 100) == b""


def test_chunks_that_are_kept_stay_what_they_are(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(RECORDING * 12)
    chunks = list(jfr.read(file))
    assert len(chunks) == 12
    texts = [chunk.texts("jdk.types.Symbol", "string") for chunk in chunks]
    assert all(text == texts[0] for text in texts)
    tables = [chunk.table("jdk.ExecutionSample").drop_columns(["startTime"]) for chunk in chunks]
    assert all(table.equals(tables[0]) for table in tables)
