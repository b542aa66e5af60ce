"""Zstandard frames, fed as they come: a frame that is corrupt costs no other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    import zstandard

MAGIC: Final = b"\x28\xb5\x2f\xfd"

# A step is small so that a hostile file, which may swell ten-thousandfold, cannot fill the memory in one step.
_STEP: Final = 4096
# An error shows only after up to a block (128 KiB) of what follows was taken for data; so much is looked through again.
_KEPT: Final = 1 << 20
# All that is looked through again in one file: frames within frames within frames would never end otherwise.
_AGAIN: Final = 1 << 26


class FrameReader:
    """The text of frames, piece by piece, from bytes in pieces of any size.

    Spark closes a frame at every flush, after a whole line, so that one file holds many. `whole` is the number of bytes
    up to the end of the last whole frame: where another reader may begin. `corrupt` says that something was skipped.
    """

    def __init__(self) -> None:
        self.whole = 0
        self.corrupt = False
        self._fed = 0
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._kept = bytearray()
        self._rest = b""
        self._lost = False
        self._within_line = False
        self._again = _AGAIN

    @property
    def open(self) -> bool:
        """Whether a frame began and did not end."""
        return self._frame is not None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The text that these bytes complete. To be run to its end before more is fed."""
        self._fed += len(data)
        data, self._rest = self._rest + data, b""
        return self._texts(data, 0)

    def close(self) -> Iterator[bytes]:
        """What is still to be had when no more bytes come: frames that a corrupt one took for its own data."""
        while self._frame is not None and MAGIC in self._kept[1:]:
            data = bytes(self._kept)
            yield from self._give_up()
            yield from self._texts(data, 1)

    def _texts(self, data: bytes, at: int) -> Iterator[bytes]:
        import zstandard

        while at < len(data):
            if self._lost:
                found = data.find(MAGIC, at)
                if found < 0:
                    self._rest = data[max(at, len(data) - len(MAGIC) + 1) :]
                    return
                at, self._lost = found, False
            piece = data[at : at + _STEP]
            self._frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
            try:
                text = self._frame.decompress(piece)
            except zstandard.ZstdError:
                if len(self._kept) <= self._again:
                    self._again -= len(self._kept)
                    data, at = bytes(self._kept) + data[at:], 0
                at += 1
                yield from self._give_up()
                continue
            if text:
                yield text
                self._within_line = not text.endswith(b"\n")
            at += len(piece)
            if not self._frame.eof:
                self._kept += piece
                del self._kept[:-_KEPT]
                continue
            at -= len(self._frame.unused_data)
            self._frame = None
            self._kept.clear()
            self.whole = self._fed - (len(data) - at)

    def _give_up(self) -> Iterator[bytes]:
        """Leaves the frame that is being read. What it gave of a line must not run into the next."""
        self._frame = None
        self._kept.clear()
        self.corrupt = self._lost = True
        if self._within_line:
            self._within_line = False
            yield b"\n"


def zstd_text(stream: BinaryIO, damage: list[str], step: int = _STEP) -> Iterator[bytes]:
    """The text of a file; see `codecs.decompress`. No piece is larger than `step` bytes can swell to."""
    frames = FrameReader()
    while data := stream.read(step):
        yield from frames.feed(data)
    cut = frames.open
    yield from frames.close()
    if frames.corrupt:
        damage.append("zstd data are corrupt")
    elif cut:
        damage.append("the last zstd frame is cut")
