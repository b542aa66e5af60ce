"""Where the bytes of a recording come from: a file that is read piece by piece, or memory."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

from emberscope.kernel import NATIVE
from emberscope.unpack import is_packed, unpack_into

if TYPE_CHECKING:
    import tempfile

_WINDOW_BYTES: Final = 1 << 20
_MOST_BUFFERS: Final = 8
_MEMORY_BYTES: Final = 32 << 20
"""Unpacked data beyond this lie in a temporary file."""


class Source(Protocol):
    """Bytes at positions. `size` is what there was when it was opened: a file that grows on is read up to there."""

    @property
    def size(self) -> int: ...

    def read(self, offset: int, size: int) -> bytes:
        """The bytes from `offset` on, fewer than `size` only at the end."""

    def lend(self, offset: int, size: int) -> bytes | memoryview:
        """As `read`, in memory that is used again for other bytes as soon as nobody holds these."""

    def find(self, what: bytes, offset: int) -> int:
        """Where `what` is next, -1 where nowhere."""


class Memory:
    """A recording in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read(self, offset: int, size: int) -> bytes:
        if offset == 0 and size >= self.size:
            return self._data
        return self._data[offset : offset + size]

    def lend(self, offset: int, size: int) -> bytes:
        return self.read(offset, size)

    def find(self, what: bytes, offset: int) -> int:
        return self._data.find(what, offset)


class File:
    """A recording in a file; threads may read side by side.

    Pieces are copied out rather than mapped: the pages of a mapping count as memory of ours, and a file that somebody
    cuts under a mapping kills the process.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffers: list[bytearray] = []
        self._taking = threading.Lock()
        self._window = (0, b"")
        self.size = os.fstat(descriptor).st_size

    def read(self, offset: int, size: int) -> bytes:
        size = min(size, self.size - offset)
        if size <= 0:
            return b""
        data = os.pread(self._descriptor, size, offset)
        while len(data) < size:  # a signal, or a file that was cut meanwhile
            more = os.pread(self._descriptor, size - len(data), offset + len(data))
            if not more:
                break
            data += more
        return data

    def lend(self, offset: int, size: int) -> bytes | memoryview:
        """Fresh memory costs as much as reading into it, by page faults."""
        size = min(size, self.size - offset)
        if size <= 0 or not NATIVE:  # Python takes single bytes more quickly out of `bytes`
            return self.read(offset, size)
        view, done = self._memory(size), 0
        while done < size and (count := os.preadv(self._descriptor, [view[done:size]], offset + done)):
            done += count
        return view[:done]

    def _memory(self, size: int) -> memoryview:
        with self._taking:
            for buffer in self._buffers:
                if len(buffer) >= size and _is_free(buffer):
                    return memoryview(buffer)
            self._buffers = [buffer for buffer in self._buffers if not _is_free(buffer)]  # they were too small
            buffer = bytearray(size + (size >> 3))  # the next chunk is a little larger or smaller
            if len(self._buffers) < _MOST_BUFFERS:
                self._buffers.append(buffer)
            return memoryview(buffer)

    def find(self, what: bytes, offset: int) -> int:
        while offset < self.size:
            start, window = self._window
            if not start <= offset <= start + len(window) - len(what):  # else a search goes on where the last one ended
                start, window = self._window = offset, self.read(offset, _WINDOW_BYTES)
            found = window.find(what, offset - start)
            if found >= 0:
                return start + found
            offset = max(offset + 1, start + len(window) - len(what) + 1)
        return -1


def _is_free(buffer: bytearray) -> bool:
    """Whether nobody holds a view of it: as long as somebody does, its size cannot be changed."""
    try:
        buffer.pop()
    except BufferError:
        return False
    buffer.append(0)
    return True


@contextmanager
def opened(recording: str | os.PathLike[str] | bytes | BinaryIO) -> Iterator[tuple[Source, str]]:
    """The plain bytes of a path, of bytes or of a stream, whatever packs them, and what is missing of them.

    That is a sentence without its end, empty where nothing is. gzip, zstd and LZ4 frames are told by their content
    and unpacked within bounds (`emberscope.unpack`), into a temporary file where they are large. A stream is read
    from where it stands; one that is no file is read to its end first. Raises `OSError`.
    """
    with _as_stream(recording) as stream:
        head = _peek(stream)
        if head is None or is_packed(head):
            import tempfile

            with tempfile.SpooledTemporaryFile(max_size=_MEMORY_BYTES) as plain:
                missing = unpack_into(stream, plain)
                yield _of_spooled(plain), missing
        elif isinstance(stream, io.BytesIO):
            data = stream.getvalue()  # of bytes that were given this is no copy, nor is a slice that is all of them
            yield Memory(data[stream.tell() :]), ""
        else:
            yield File(stream.fileno()), ""


@contextmanager
def _as_stream(recording: str | os.PathLike[str] | bytes | BinaryIO) -> Iterator[BinaryIO]:
    if isinstance(recording, bytes):
        yield io.BytesIO(recording)
    elif isinstance(recording, str | os.PathLike):
        with open(recording, "rb") as stream:
            yield stream
    else:
        yield recording


def _peek(stream: BinaryIO) -> bytes | None:
    """The first bytes of a stream that can be read by position from its start; None for any other."""
    if isinstance(stream, io.BytesIO):
        return stream.getvalue()[:8]
    try:
        return os.pread(stream.fileno(), 8, 0) if stream.tell() == 0 else None
    except (OSError, AttributeError):
        return None


def _of_spooled(plain: tempfile.SpooledTemporaryFile[bytes]) -> Source:
    inner = plain._file
    if isinstance(inner, io.BytesIO):
        return Memory(inner.getvalue())
    plain.flush()
    return File(plain.fileno())
