"""What packs several files into one, told by content: zip and tar, and either within gzip, zstd, bzip2 or xz."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import BinaryIO, Final

from emberscope.eventlog.codecs import PLAIN, Bytes, codec_of, decompress, text_head
from emberscope.eventlog.lines import stream_of
from emberscope.sources import zip as zips

_ZIP: Final = (zips.LOCAL, b"PK\x05\x06", b"PK\x07\x08PK")
_TAR_BLOCK: Final = 512
_LONGEST_LINK: Final = 4096


@dataclass(slots=True)
class Member:
    """A file in an archive: its name with `/` between folders, and its bytes, to be read before the next member.

    `stream` is None where it is left out. `damage` says why, or, once it is read, what is missing of it: ends of
    sentences.
    """

    name: str
    stream: Bytes | None
    damage: list[str] = field(default_factory=list)


def archive_form(head: bytes) -> str | None:
    """`zip` or `tar` for a file that begins so, packed once more or not; else None. 64 KiB are plenty."""
    inner = head if codec_of(head) == PLAIN else text_head(head)
    if inner.startswith(_ZIP):
        return "zip"
    return "tar" if _is_tar(inner) else None


def plain_stream(file: BinaryIO, damage: list[str]) -> BinaryIO:
    """The bytes behind gzip, zstd, bzip2 or xz; the file itself where it is none of them."""
    codec = codec_of(file.read(_TAR_BLOCK))
    file.seek(0)
    return file if codec == PLAIN else stream_of(decompress(file, codec, damage))


def zip_members(file: BinaryIO, found: list[zips.Entry]) -> Iterator[Member]:
    """The files of a zip, links and folders left out."""
    for entry in found:
        if entry.is_folder:
            continue
        damage: list[str] = []
        name = safe_name(entry.name)
        if name is None:
            yield Member(printable(entry.name), None, ["its name leads out of the archive, and it was left out"])
        elif entry.flags & zips.ENCRYPTED:
            yield Member(name, None, ["it is encrypted"])
        elif not zips.can_unpack(entry):
            yield Member(name, None, [f"it is packed by a method of zip that is not read ({entry.method})"])
        elif entry.is_link:
            target = zips.stream(file, entry, damage).read(_LONGEST_LINK)
            yield from _link(name, target.decode(errors="replace"))
        else:
            yield Member(name, zips.stream(file, entry, damage), damage)


def tar_members(text: Bytes) -> Iterator[Member]:
    """The files of a tar as they come, links and folders left out. Raises `tarfile.TarError` where it breaks off."""
    with tarfile.open(fileobj=text, mode="r|") as archive:  # type: ignore[call-overload]
        for info in archive:
            archive.members = []  # tarfile would remember every one
            name = safe_name(info.name)
            if info.isdir():
                continue
            if name is None:
                yield Member(printable(info.name), None, ["its name leads out of the archive, and it was left out"])
            elif info.issym():
                yield from _link(name, info.linkname)
            elif info.islnk():
                yield from _link("", info.linkname, name)
            elif info.isreg():
                yield Member(name, _Stretch(archive.fileobj, info.size))


class _Stretch:
    """The next bytes of a stream. tarfile's own reader gives nothing of what is there of a file that breaks off."""

    def __init__(self, stream: Bytes, size: int) -> None:
        self._stream = stream
        self._left = size

    def read(self, size: int, /) -> bytes:
        data = self._stream.read(min(size, self._left))
        self._left -= len(data)
        return data


def safe_name(name: str) -> str | None:
    """The name by parts that cannot lead anywhere but down; None where it is absolute or goes up.

    Programs of Windows write `\\` between folders.
    """
    path = PurePosixPath(printable(name).replace("\\", "/"))
    parts = path.parts
    if path.is_absolute() or ".." in parts or not parts or parts[0][1:2] == ":":
        return None
    return "/".join(parts)


def printable(name: str) -> str:
    """A name with what no terminal should be given replaced."""
    text = name.encode("utf-8", "replace").decode()
    return "".join(character if character.isprintable() else "?" for character in text)


def is_hidden(name: str) -> bool:
    """Whether it is what is left out of folders too: hidden files, marks such as `_SUCCESS`, and `__MACOSX`."""
    return any(part.startswith((".", "_")) and part != ".." for part in re.split(r"[/\\]", name))


def _link(link: str, target: str, name: str = "") -> Iterator[Member]:
    """Nothing for a link to what is in the archive anyway."""
    depth = link.count("/")
    for part in target.replace("\\", "/").split("/"):
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0 or target.startswith("/"):
            yield Member(name or link, None, ["it is a link that leads out of the archive, and was left out"])
            return


def _is_tar(head: bytes) -> bool:
    """Whether the first block is a member's header: the sum of its bytes, with blanks for the sum itself, is in it."""
    block = head[:_TAR_BLOCK]
    if len(block) < _TAR_BLOCK or not block[0]:
        return False
    try:
        said = int(block[148:156].strip(b" \0") or b"x", 8)
    except ValueError:
        return False
    return said == sum(block[:148]) + 8 * 0x20 + sum(block[156:])
