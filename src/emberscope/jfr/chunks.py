"""A recording as its chunks, one after another: the way to every event and every value of it."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from types import TracebackType
from typing import BinaryIO, Final

from emberscope.errors import InputError
from emberscope.jfr.chunk import Choice, Chunk, Refused, decode, described, metadata_of
from emberscope.jfr.encoding import BROKEN, Damaged, read_long
from emberscope.jfr.header import HEADER_BYTES, Header
from emberscope.jfr.losses import Losses
from emberscope.jfr.metadata import Metadata, metadata_body, parse_metadata
from emberscope.jfr.parallel import in_order, useful_threads
from emberscope.jfr.parts import chunks_of, nothing_read
from emberscope.jfr.source import Source, opened
from emberscope.tables.coverage import Coverage

_DESCRIPTION_BYTES: Final = 1 << 18
Recorded = str | os.PathLike[str] | bytes | BinaryIO


class Chunks(Iterator[Chunk]):
    """The chunks of a recording that can be read, in the order of the file; see `read`.

    `coverage` grows while they are taken, and holds at the end all that was lost: gaps, chunks that were refused, and
    what is missing within the others (that is also in `Chunk.coverage`). Closing it early, or leaving its `with` block,
    closes the file.
    """

    def __init__(self, recording: Recorded, types: Iterable[str] | None, threads: int | None) -> None:
        self.path = _name_of(recording)
        self._losses = Losses(self.path)
        wanted: Choice | None = None if types is None else dict.fromkeys(types)
        self._chunks = _chunks(recording, self.path, wanted, threads, self._losses)

    @property
    def coverage(self) -> Coverage:
        return self._losses.coverage()

    def __next__(self) -> Chunk:
        return next(self._chunks)

    def close(self) -> None:
        self._chunks.close()

    def __enter__(self) -> Chunks:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def read(recording: Recorded, *, types: Iterable[str] | None = None, threads: int | None = None) -> Chunks:
    """The chunks of a `.jfr` file: a path, its bytes or a binary stream; in gzip, zstd or LZ4 as well.

    `types` are full names of the event types whose values are wanted (`jdk.GCHeapSummary`), with the constants that
    they lead to; None is all of them. The others are counted in `Chunk.event_counts` all the same. `threads` decode
    chunks side by side; None is what this machine and the kernel are good for. Each chunk has its own types, constants
    and clock: ids and keys of one mean nothing in another.

    A chunk that cannot be read (cut before its types, a version that is not supported) is left out and named in
    `coverage` of what is given back; reading goes on with the next. Chunks of version 1 (JDK 9 and 10) have their own
    old names of types. Raises `InputError`, when the first chunk is asked for, where the file cannot be opened, and at
    the end where there was no chunk that could be read.
    """
    return Chunks(recording, types, threads)


def descriptions(recording: Recorded) -> Iterator[Chunk]:
    """The types of a recording as chunks without records, one for each different description of them.

    Little is read of a sound chunk: its header and its types. What cannot be read is left out; `read` says so. Raises
    `InputError` where the file cannot be opened.
    """
    seen: set[int] = set()
    known: list[Metadata] = []  # held, so that an id stays that of one description
    path = _name_of(recording)
    with _told(path), opened(recording) as (source, missing):
        for header in chunks_of(source, missing, Losses(path)):
            try:
                metadata = _types_of(source, header)
            except Refused:
                continue
            if id(metadata) not in seen:
                seen.add(id(metadata))
                known.append(metadata)
                yield described(header, metadata)


def _types_of(source: Source, header: Header) -> Metadata:
    piece = source.read(header.offset + header.metadata, _DESCRIPTION_BYTES)
    try:
        if header.fault() or not HEADER_BYTES <= header.metadata < header.available:
            raise Damaged("no metadata where the header says")
        size, _ = read_long(piece, 0, header.compressed, bits=32)
        if size > len(piece):
            piece = source.read(header.offset + header.metadata, min(size, header.available - header.metadata))
        return parse_metadata(metadata_body(piece, 0, header.compressed), header.compressed)
    except BROKEN:
        return metadata_of(source.read(header.offset, header.available), header)


def _name_of(recording: Recorded) -> str:
    if isinstance(recording, str | os.PathLike):
        return os.fspath(recording)
    name = getattr(recording, "name", None)
    return name if isinstance(name, str) else "recording"


def _chunks(
    recording: Recorded, path: str, wanted: Choice | None, threads: int | None, losses: Losses
) -> Generator[Chunk, None, None]:
    is_empty = True
    with (
        _told(path),
        opened(recording) as (source, missing),
        closing(
            in_order(
                _Decoding(source, wanted), chunks_of(source, missing, losses), threads or useful_threads(source.size)
            )
        ) as decoded,
    ):
        for header, chunk in decoded:
            if isinstance(chunk, Refused):
                losses.of_refused(header, chunk.code, chunk.reason)
                continue
            is_empty = False
            chunk.path = path
            losses.of_chunk(chunk)
            yield chunk
            del chunk  # not held while the next one is waited for
        if is_empty:
            raise nothing_read(path, source, missing, losses)


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Errors of the operating system as errors of the input."""
    try:
        yield
    except FileNotFoundError:
        raise InputError(path, "there is no such file or directory.") from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror or error}.") from error


class _Decoding:
    """Decodes one chunk; what threads do."""

    def __init__(self, source: Source, wanted: Choice | None) -> None:
        self._source = source
        self._wanted = wanted

    def __call__(self, header: Header) -> tuple[Header, Chunk | Refused]:
        data = self._source.lend(header.offset, header.available)
        try:
            return header, decode(header, data, self._wanted, None)
        except Refused as refused:
            return header, refused
