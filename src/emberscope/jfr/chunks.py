"""A recording as its chunks, one after another: the way to every event and every value of it."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from types import TracebackType
from typing import BinaryIO

from emberscope.errors import InputError
from emberscope.jfr.chunk import Choice, Chunk, Refused, decode
from emberscope.jfr.header import Header
from emberscope.jfr.losses import Losses
from emberscope.jfr.parallel import in_order
from emberscope.jfr.parts import chunks_of, nothing_read
from emberscope.jfr.source import Source, opened
from emberscope.tables.coverage import Coverage

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

    `types` are full names of the event types whose values are wanted (`jdk.GCHeapSummary`); None is all of them. The
    others are counted in `Chunk.event_counts` all the same. `threads` decode chunks side by side; None is what this
    machine and the kernel are good for. Each chunk has its own types, constants and clock: ids and keys of one mean
    nothing in another.

    A chunk that cannot be read (cut before its types, a version that is not supported) is left out and named in
    `coverage` of what is given back; reading goes on with the next. Chunks of version 1 (JDK 9 and 10) have their own
    old names of types. Raises `InputError`, when the first chunk is asked for, where the file cannot be opened, and at
    the end where there was no chunk that could be read.
    """
    return Chunks(recording, types, threads)


def _name_of(recording: Recorded) -> str:
    if isinstance(recording, str | os.PathLike):
        return os.fspath(recording)
    name = getattr(recording, "name", None)
    return name if isinstance(name, str) else "recording"


def _chunks(
    recording: Recorded, path: str, wanted: Choice | None, threads: int | None, losses: Losses
) -> Generator[Chunk, None, None]:
    is_empty = True
    try:
        with (
            opened(recording) as (source, missing),
            closing(in_order(_Decoding(source, wanted), chunks_of(source, missing, losses), threads)) as decoded,
        ):
            for header, chunk in decoded:
                if isinstance(chunk, Refused):
                    losses.of_refused(header, chunk.code, chunk.reason)
                    continue
                is_empty = False
                chunk.path = path
                losses.of_chunk(chunk)
                yield chunk
            if is_empty:
                raise nothing_read(path, source, missing, losses)
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
        data = self._source.read(header.offset, header.available)
        pools: Choice | None = {} if self._wanted is not None and not self._wanted else None
        try:
            return header, decode(header, data, self._wanted, pools)
        except Refused as refused:
            return header, refused
