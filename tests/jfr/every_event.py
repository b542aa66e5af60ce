"""Compares every field of every event of a recording with what the JDK's own reader has, in bounded memory."""

from __future__ import annotations

import hashlib
import subprocess
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from emberscope import jfr
from emberscope.errors import InputError
from emberscope.jfr.chunk import Chunk
from emberscope.jfr.header import Gap, split
from emberscope.jfr.source import opened
from tests.jfr.canonical import NO_TIME, Canonical

ORACLE = Path(__file__).parent / "oracle" / "EveryEvent.java"
JDK_ROUNDING_NS = 1000
"""The JDK converts ticks in floating point: by so much its times may differ."""
_FOREVER = (1 << 63) - 1
"""The longest time span is no span: JDKs after 17 say so."""


@dataclass
class Events:
    """All events of one type in a chunk: how many, a digest of their values in order, and their times."""

    count: int = 0
    digest: hashlib.blake2b = field(default_factory=hashlib.blake2b)
    times: array[int] = field(default_factory=lambda: array("q"))

    def add(self, values: bytes, times: Iterable[int]) -> None:
        self.count += 1
        self.digest.update(values + b"\n")
        self.times.extend(NO_TIME if time == _FOREVER else time for time in times)


@dataclass
class Result:
    """`chunks` and `events` that were compared, all that differs in words, and what the JDK could not read."""

    chunks: int = 0
    events: int = 0
    largest_time_difference_ns: int = 0
    differences: list[str] = field(default_factory=list)
    refused_by_jdk: list[str] = field(default_factory=list)


def chunks(path: Path) -> Iterator[tuple[int, Chunk]]:
    """The finished chunks with all their values, by their numbers in the file."""
    with opened(path) as (source, _):
        headers = [header for header in split(source) if not isinstance(header, Gap)]
    numbers = {header.offset: number for number, header in enumerate(headers)}
    try:
        for chunk in jfr.read(path):
            if chunk.header.finished and not chunk.header.missing_bytes:
                yield numbers[chunk.header.offset], chunk
    except InputError:  # no chunk can be read at all
        return


def jdk_lines(java: str, path: Path, only: str = "") -> Iterator[list[bytes]]:
    command = [java, "-Xmx1g", str(ORACLE), str(path), *([only] if only else [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield line.rstrip(b"\n").split(b"\t")
    if process.returncode:
        raise RuntimeError(f"the oracle failed with {process.returncode}")


def of_the_jdk(java: str, path: Path, result: Result) -> Iterator[tuple[int, dict[str, Events]]]:
    """The events by type, for each finished chunk that the JDK reads to its end."""
    number, types, good = -1, dict[str, Events](), False
    for what, *rest in jdk_lines(java, path):
        if what == b"E":
            values = [int(time) if time else NO_TIME for time in rest[2].split(b",")] if rest[2] else []
            types.setdefault(rest[0].decode(), Events()).add(rest[1], values)
        elif what == b"X":
            good = False
            result.refused_by_jdk.append(f"chunk {number}: {rest[0].decode()}")
        else:
            if good:
                yield number, types
            number, types, good = int(rest[0]), {}, what == b"C"
    if good:
        yield number, types


def of_ours(chunk: Chunk) -> dict[str, Events]:
    texts = Canonical(chunk)
    types: dict[str, Events] = {}
    for name in chunk.event_counts:
        events = types[name] = Events()
        for values, times in texts.events(name):
            events.add(values.encode("utf-8", "replace"), times)
    return types


def compare(java: str, path: Path) -> Result:
    """Both readings of a file, chunk by chunk. Chunks that the JDK cannot read are named and left out."""
    result = Result()
    ours = chunks(path)
    for number, theirs in of_the_jdk(java, path, result):
        chunk = next((chunk for mine_number, chunk in ours if mine_number == number), None)
        if chunk is None:
            result.differences.append(f"chunk {number} is not read")
            continue
        _compare_chunk(number, of_ours(chunk), theirs, result)
    return result


def _compare_chunk(number: int, mine: dict[str, Events], theirs: dict[str, Events], result: Result) -> None:
    result.chunks += 1
    for name in sorted(mine.keys() | theirs.keys()):
        got, want = mine.get(name, Events()), theirs.get(name, Events())
        result.events += want.count
        where = f"chunk {number}, {name}"
        if got.count != want.count:
            result.differences.append(f"{where}: {got.count} events, not {want.count}")
        elif got.digest.digest() != want.digest.digest():
            result.differences.append(f"{where}: values of some of {got.count} events differ")
        elif got.times != want.times:
            pairs = [(a, b) for a, b in zip(got.times, want.times, strict=True) if a != b]
            far = max(abs(a - b) for a, b in pairs)
            if far > JDK_ROUNDING_NS:
                result.differences.append(f"{where}: {len(pairs)} times differ, by up to {far} ns")
            result.largest_time_difference_ns = max(result.largest_time_difference_ns, far)


def explain(java: str, path: Path, number: int, name: str, most: int = 3) -> Iterator[str]:
    """The first events of a type that differ in a chunk, and how often each field does."""
    theirs: list[bytes] = []
    digests: dict[str, str] = {}
    current = -1
    for what, *rest in jdk_lines(java, path, name):
        if what in (b"C", b"S"):
            current = int(rest[0])
        elif what == b"D":
            digests[rest[0].decode()] = rest[1].decode()
        elif what == b"E" and current == number:
            theirs.append(rest[1])
    texts = next(Canonical(chunk) for n, chunk in chunks(path) if n == number)
    fields: Counter[str] = Counter()
    for row, (mine, other) in enumerate(zip((values for values, _ in texts.events(name)), theirs, strict=False)):
        pairs = zip(mine.split("\x1f"), other.decode().split("\x1f"), strict=False)
        different = [(a, b) for a, b in pairs if a != b]
        for a, b in different:
            fields[a.partition("=")[0]] += 1
            if fields[a.partition("=")[0]] <= most:
                yield f"event {row}: {unfolded(a, texts.digests)}\n   the JDK: {unfolded(b, digests)}"
    yield f"fields that differ: {dict(fields)}"


def unfolded(text: str, digests: dict[str, str], depth: int = 6) -> str:
    """The text with its digests replaced by what they stand for."""
    for _ in range(depth):
        parts = text.split("#")
        text = parts[0] + "".join(digests.get(f"#{part[:16]}", f"#{part[:16]}") + part[16:] for part in parts[1:])
    return text
