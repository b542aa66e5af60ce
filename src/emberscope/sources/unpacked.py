"""An archive as a private temporary folder of its files, within bounds, to be read as any folder is.

Only what can be an input is written, by names that lead nowhere else; large text is packed again as it is written, so
that the folder is hardly larger than the archive.
"""

from __future__ import annotations

import errno
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final

from emberscope.errors import InputError
from emberscope.eventlog import codecs
from emberscope.sources.archive import (
    Member,
    archive_form,
    is_hidden,
    plain_stream,
    tar_members,
    zip_members,
)
from emberscope.sources.kind import MAX_MEMBERS, kind_of_bytes, read_head
from emberscope.sources.zip import entries
from emberscope.units import format_bytes

_STEP: Final = 1 << 20
_SMALL: Final = 1 << 20
"""Members up to this size are written whatever they are: manifests of ours, and files that are told to be no input."""
_FRAME: Final = 8 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What an archive may unpack to: `ratio` times its size, but `free_bytes` in any case, and never `total_bytes`.

    Event logs shrink to a fortieth, seldom to a hundredth. `depth` counts archives within archives.
    """

    ratio: int = 500
    free_bytes: int = 1 << 30
    total_bytes: int = 1 << 40
    members: int = MAX_MEMBERS
    depth: int = 3

    def bytes_of(self, packed_bytes: int) -> int:
        return min(max(self.free_bytes, self.ratio * packed_bytes), self.total_bytes)


LIMITS: Final = Limits()


def is_archive(path: str) -> bool:
    """Whether a path is a file that packs several."""
    try:
        return os.path.isfile(path) and archive_form(read_head(Path(path))) is not None
    except OSError:
        return False


@contextmanager
def unpacked(path: str, limits: Limits = LIMITS) -> Iterator[tuple[str, str, list[InputError]]]:
    """The files of an archive in a folder, there for the length of the block.

    Gives the folder, the name under which it is to be shown (the archive's, and what all members have in common), and
    one error for each member that cannot be read or was left out. Raises `InputError` where there is no room.
    """
    with tempfile.TemporaryDirectory(prefix="emberscope-archive-") as root:
        work = _Unpacking(Path(root, "members"), path, limits, limits.bytes_of(os.path.getsize(path)))
        work.folder.mkdir()
        try:
            with open(path, "rb") as file:
                work.unpack(file, archive_form(read_head(Path(path))) or "", "", 1)
        except _Enough as enough:
            work.problems.append(InputError(path, str(enough), hint="Unpack it by hand if you trust it."))
        folder, shown = work.folder, path
        while len(entries := list(folder.iterdir())) == 1 and entries[0].is_dir():
            folder, shown = entries[0], f"{shown}/{entries[0].name}"
        yield str(folder), shown, work.problems


class _Enough(Exception):
    """The archive holds more than it may."""


@dataclass(slots=True)
class _Unpacking:
    folder: Path
    path: str
    limits: Limits
    left: int
    count: int = 0
    problems: list[InputError] = field(default_factory=list)

    def unpack(self, file: BinaryIO, form: str, name: str, depth: int) -> None:
        """Write what is in the archive `name`, which is empty for the outermost."""
        damage: list[str] = []
        text = plain_stream(file, damage)
        counted = text if text is file else _Counted(text, self)
        if form == "tar":
            try:
                self._add_all(tar_members(counted), _below(name), depth)
            except tarfile.TarError as error:
                damage.append(f"it is cut or corrupt ({error})")
        elif counted is file:
            self._unpack_zip(file, name, depth, damage)
        else:
            with self._spare_file() as plain:
                shutil.copyfileobj(counted, plain, _STEP)
                self._unpack_zip(plain, name, depth, damage)
        if damage:
            self._refuse(name, f"not all of it can be read: {' and '.join(damage)}.")

    def _unpack_zip(self, file: BinaryIO, name: str, depth: int, damage: list[str]) -> None:
        found = list(islice(entries(file, damage), self.limits.members + 1))
        # A zip around a single file stands for that file.
        alone = sum(not entry.is_folder for entry in found) == 1
        self._add_all(zip_members(file, found), _below(name.rpartition("/")[0] if alone else name), depth)

    def _add_all(self, members: Iterator[Member], within: str, depth: int) -> None:
        for member in members:
            self.count += 1
            if self.count > self.limits.members:
                raise _Enough(f"it holds more than {self.limits.members:,} files; the rest was left out.")
            name = within + member.name
            if is_hidden(member.name):
                continue
            if member.stream is not None:
                self._add(name, _Counted(member.stream, self), depth)
            if member.damage:
                self._refuse(name, f"{' and '.join(member.damage)}.")

    def _add(self, name: str, stream: _Counted, depth: int) -> None:
        head = codecs.read_head(stream)
        form = archive_form(head)
        if form is None:
            self._write(name, head, stream)
        elif depth >= self.limits.depth:
            self._refuse(name, f"it lies in {depth} archives, one within the other, and was not looked into.")
        else:
            with self._spare_file() as file:
                file.write(head)
                shutil.copyfileobj(stream, file, _STEP)
                file.seek(0)
                self.unpack(file, form, name, depth + 1)

    def _spare_file(self) -> BinaryIO:
        return tempfile.TemporaryFile(dir=self.folder.parent)

    def _write(self, name: str, head: bytes, stream: _Counted) -> None:
        more = stream.read(_SMALL)
        kind = None
        if len(more) == _SMALL:
            try:
                kind = kind_of_bytes(head, self.shown(name))
            except InputError as error:
                self.problems.append(error)
                return
        target = self.folder / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            file = target.open("xb")
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise
            twice = isinstance(error, FileExistsError)
            why = "there is one of this name already" if twice else f"it cannot be written ({error.strerror})"
            self._refuse(name, f"{why}, and it was left out.")
            return
        with file:
            if kind == "event_log" and codecs.codec_of(head) == codecs.PLAIN:
                _pack(head + more, stream, file)
            else:
                file.write(head + more)
                shutil.copyfileobj(stream, file, _STEP)

    def shown(self, name: str) -> str:
        return f"{self.path}/{name}" if name else self.path

    def _refuse(self, name: str, reason: str) -> None:
        self.problems.append(InputError(self.shown(name), reason))


class _Counted:
    """A stream that ends with an exception where the archive has given more than it may."""

    def __init__(self, stream: codecs.Bytes, work: _Unpacking) -> None:
        self._stream = stream
        self._work = work

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._work.left -= len(data)
        if self._work.left < 0:
            limit = format_bytes(self._work.limits.bytes_of(os.path.getsize(self._work.path)))
            raise _Enough(f"it unpacks to more than {limit}, far beyond its own size; the rest was left out.")
        return data


def _below(folder: str) -> str:
    return f"{folder}/" if folder else ""


def _pack(first: bytes, rest: _Counted, file: BinaryIO) -> None:
    """Write text as zstd, in frames that end with a line as Spark's do."""
    import zstandard

    packer = zstandard.ZstdCompressor(level=1)
    held = first
    try:
        while piece := rest.read(_STEP):
            held += piece
            end = held.rfind(b"\n") + 1 or len(held)
            if len(held) >= _FRAME:
                file.write(packer.compress(held[:end]))
                held = held[end:]
    finally:  # what there is of a file that breaks off
        file.write(packer.compress(held))
