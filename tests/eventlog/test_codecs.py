"""Every codec on streams that Spark's own classes wrote."""

import bz2
import gzip
import io
import lzma
import tracemalloc
from collections.abc import Callable

import pytest
import zstandard

from emberscope.eventlog.codecs import codec_of, decompress, foreign, text_head
from emberscope.eventlog.read import read_event_log
from tests.eventlog.logs import DATA, ROLLED, plain_text

# What the files in codecs/ hold: the first lines of the Spark 3.5 log without its longest one.
_LINES = [line for line in plain_text().splitlines(keepends=True) if b"EnvironmentUpdate" not in line[:60]][:40]


@pytest.mark.parametrize("codec", ["lz4", "snappy", "lzf"])
def test_sparks_own_block_formats(codec: str) -> None:
    data = (DATA / "codecs" / codec).read_bytes()
    damage: list[str] = []
    assert codec_of(data) == codec
    assert b"".join(decompress(io.BytesIO(data), codec, damage)) == b"".join(_LINES)
    assert damage == []
    run = read_event_log(str(DATA / "codecs" / codec))
    assert run.application.lines == len(_LINES)
    assert run.coverage.complete


@pytest.mark.parametrize("codec", ["lz4", "snappy"])
def test_streams_that_follow_each_other(codec: str) -> None:
    data = (DATA / "codecs" / codec).read_bytes() * 2
    assert b"".join(decompress(io.BytesIO(data), codec, [])) == b"".join(_LINES) * 2


def test_zstd_reads_through_frame_ends() -> None:
    data = next(ROLLED.glob("events_2_*")).read_bytes()
    first = zstandard.ZstdDecompressor().decompressobj()
    alone = first.decompress(data)
    assert first.unused_data, "the file should hold many frames"
    text = b"".join(decompress(io.BytesIO(data), codec_of(data), []))
    assert len(text) > 5 * len(alone)
    assert text.endswith(b"\n")


def test_a_corrupt_zstd_frame_is_skipped() -> None:
    frames = [zstandard.compress(b"line %d\n" % number) for number in range(3)]
    frames[1] = frames[1][:-4] + b"\xff\xff\xff\xff" + frames[1][-1:]
    damage: list[str] = []
    text = b"".join(decompress(io.BytesIO(b"".join(frames)), "zstd", damage))
    assert text.startswith(b"line 0\n")
    assert text.endswith(b"line 2\n")
    assert damage == ["zstd data are corrupt"]


def test_gzip_of_many_members_and_a_cut_one() -> None:
    data = gzip.compress(b"one\n") + gzip.compress(b"two\n" * 100_000)
    damage: list[str] = []
    assert b"".join(decompress(io.BytesIO(data), codec_of(data), damage)) == b"one\n" + b"two\n" * 100_000
    assert damage == []
    assert b"".join(decompress(io.BytesIO(data[:-9]), "gzip", damage)).startswith(b"one\ntwo\n")
    assert damage == ["the last gzip member is cut"]


@pytest.mark.parametrize(("codec", "pack"), [("bzip2", bz2.compress), ("xz", lzma.compress)])
def test_streams_of_bzip2_and_xz(codec: str, pack: Callable[[bytes], bytes]) -> None:
    text = b"".join(_LINES) * 20
    data = pack(text) + pack(b"two\n")
    assert codec_of(data) == codec
    damage: list[str] = []
    assert b"".join(decompress(io.BytesIO(data), codec, damage)) == text + b"two\n"
    assert b"".join(decompress(io.BytesIO(data + b"\0" * 8), codec, damage)) == text + b"two\n"
    assert damage == []
    for cut in range(0, len(data), 997):
        got = b"".join(decompress(io.BytesIO(data[:cut]), codec, []))
        assert (text + b"two\n").startswith(got)
    b"".join(decompress(io.BytesIO(data[:-3]), codec, damage))
    assert damage == [f"the last {codec} stream is cut"]
    b"".join(decompress(io.BytesIO(data[:50] + b"#####" + data[55:]), codec, damage))
    assert f"{codec} data are corrupt" in damage[1]


def test_heads_are_short_and_text() -> None:
    packed = zstandard.compress(b"x" * 10_000_000)
    assert text_head(packed) == b"x" * 65536


def test_a_head_that_swells_takes_little_memory() -> None:
    """Of zstd, four bytes may stand for 128 KiB."""
    packer = zstandard.ZstdCompressor().compressobj()
    packed = b"".join(packer.compress(bytes(1 << 24)) for _ in range(64)) + packer.flush()
    assert len(packed) < 1 << 17
    for data in (packed, gzip.compress(bytes(1 << 24)), bz2.compress(bytes(1 << 24)), lzma.compress(bytes(1 << 24))):
        tracemalloc.start()
        assert text_head(data[: 1 << 16]) == bytes(65536)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 16 << 20  # xz keeps 8 MiB to copy from


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"PK\x03\x04..", "zip"),
        (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
        (b"\0" * 257 + b"ustar", "tar"),
        (b"\x04\x22\x4d\x18", "LZ4"),
    ],
)
def test_packings_that_spark_never_writes_have_a_name(head: bytes, words: str) -> None:
    found = foreign(head)
    assert found is not None
    assert words in found
    assert foreign(b'{"Event"') is None
