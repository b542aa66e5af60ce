"""The files of a zip, read in a stream: whole, cut or damaged, each as far as it goes."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from emberscope.eventlog.codecs import decompress
from emberscope.eventlog.lines import stream_of

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LOCAL: Final = b"PK\x03\x04"
STORED: Final = 0
DEFLATED: Final = 8
ENCRYPTED: Final = 1

_OTHERS: Final = {12: "bzip2", 93: "zstd", 95: "xz"}
"""Methods beside these two: each is a stream of its own that our codecs read."""
_HEADER: Final = 30
_STEP: Final = 1 << 14
_WINDOW: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in a zip: `start` is where its header lies, `packed_bytes` and `crc` are None where nothing says them."""

    name: str
    start: int
    method: int
    flags: int
    packed_bytes: int | None
    crc: int | None
    unix_mode: int = 0

    @property
    def is_folder(self) -> bool:
        return self.name.endswith("/")

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.unix_mode)


def entries(file: BinaryIO, damage: list[str]) -> Iterator[Entry]:
    """The files of a zip by its directory, which lies at its end; where that is lost, by their own headers."""
    try:
        with zipfile.ZipFile(file) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, EOFError, ValueError, NotImplementedError):
        damage.append("the directory at its end is cut or corrupt")
        yield from _scanned(file)
        return
    for info in infos:
        mode = info.external_attr >> 16
        name, start = info.filename, info.header_offset
        yield Entry(name, start, info.compress_type, info.flag_bits, info.compress_size, info.CRC, mode)


def can_unpack(entry: Entry) -> bool:
    """Whether its method is one of those that are read."""
    return entry.method in (STORED, DEFLATED) or entry.method in _OTHERS


def stream(file: BinaryIO, entry: Entry, damage: list[str]) -> BinaryIO:
    """The bytes of a file in the zip. What is missing or wrong is told to `damage` as they are read."""
    file.seek(entry.start)
    header = file.read(_HEADER)
    if len(header) < _HEADER or not header.startswith(LOCAL):
        damage.append("there is no file where the zip's directory says")
        return io.BytesIO()
    start = entry.start + _HEADER + int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little")
    packed = io.BufferedReader(_Range(file, start, entry.packed_bytes), _STEP)
    if entry.method == STORED:
        pieces = decompress(packed, "plain", damage)
    elif entry.method == DEFLATED:
        pieces = _inflated(packed, damage)
    else:
        pieces = decompress(packed, _OTHERS[entry.method], damage)
    return stream_of(_checked(pieces, entry, damage))


def _inflated(packed: BinaryIO, damage: list[str]) -> Iterator[bytes]:
    inflate = zlib.decompressobj(wbits=-15)
    while not inflate.eof:
        data = inflate.unconsumed_tail or packed.read(_STEP)
        if not data:
            damage.append("it is cut")
            return
        try:
            text = inflate.decompress(data, _WINDOW)
        except zlib.error as error:
            damage.append(f"it is corrupt ({error})")
            return
        if text:
            yield text


def _checked(pieces: Iterator[bytes], entry: Entry, damage: list[str]) -> Iterator[bytes]:
    crc = 0
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
        yield piece
    if entry.crc is not None and crc != entry.crc and not damage:
        damage.append("its checksum is another")


def _scanned(file: BinaryIO) -> Iterator[Entry]:
    position = _find(file, 0)
    while position >= 0:
        file.seek(position)
        header = file.read(_HEADER)
        if len(header) < _HEADER:
            return
        flags, method = int.from_bytes(header[6:8], "little"), int.from_bytes(header[8:10], "little")
        crc, packed = int.from_bytes(header[14:18], "little"), int.from_bytes(header[18:22], "little")
        known = not flags & 8 and packed != 0xFFFFFFFF
        name = file.read(int.from_bytes(header[26:28], "little"))
        following = _find(file, position + _HEADER + (packed if known else 0))
        length = packed if known else None
        if length is None and method == STORED and following >= 0:
            length = max(0, following - position - _HEADER - len(name))
        shown = name.decode("utf-8" if flags & 0x800 else "cp437", errors="replace")
        yield Entry(shown, position, method, flags, length, crc if known else None)
        position = following


def _find(file: BinaryIO, start: int) -> int:
    """Where the next header lies, -1 where nowhere."""
    held = b""
    file.seek(start)
    while data := file.read(_WINDOW):
        found = (held + data).find(LOCAL)
        if found >= 0:
            return start - len(held) + found
        start += len(data)
        held = data[-3:]
    return -1


class _Range(io.RawIOBase):
    """Bytes of a file from `start` on. Several of them may read the file side by side."""

    def __init__(self, file: BinaryIO, start: int, size: int | None) -> None:
        self._file = file
        self._position = start
        self._end = None if size is None else start + size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        size = len(view) if self._end is None else max(0, min(len(view), self._end - self._position))
        self._file.seek(self._position)
        data = self._file.read(size)
        view[: len(data)] = data
        self._position += len(data)
        return len(data)
