"""What an input is, told by its content and never by its name (the kinds of `contract.md`)."""

from __future__ import annotations

import io
import os
import re
import zlib
from pathlib import Path
from typing import Final

from emberscope.errors import InputError
from emberscope.eventlog import codecs
from emberscope.eventlog.databricks import is_databricks_part
from emberscope.eventlog.rolled import loose_files
from emberscope.eventlog.sniff import looks_like_event_log
from emberscope.logs.gc_log import looks_like_gc_log
from emberscope.logs.hs_err import has_head, looks_like_hs_err
from emberscope.logs.instance_state import looks_like_instance_state
from emberscope.logs.sniff import looks_like_log, looks_like_question
from emberscope.logs.status_kind import status_kind
from emberscope.perf.collapsed import looks_collapsed
from emberscope.perf.script import looks_like_perf_script
from emberscope.sources.archive import archive_form
from emberscope.store.layout import is_run
from emberscope.unpack import GZIP_MAGIC, LZ4_MAGIC, ZSTD_MAGIC

LOGS: Final = ("container_log", "gc_log", "hs_err")
"""Kinds of text that one process of an application wrote."""

STATUSES: Final = ("pod_status", "yarn_report")
"""What a cluster manager says of an application."""

READABLE: Final = ("event_log", "recording", "collapsed", "perf_script", "run", *LOGS, *STATUSES, "question")
"""The kinds that can be read."""

TEXTS: Final = frozenset({*LOGS, *STATUSES, "question"})
"""Kinds that are what people and programs wrote, kept as table `log_events`."""

ARCHIVE: Final = "archive"
"""What packs several inputs. It is never the kind of a result: those have the kinds of what is in it."""

TEXT_PROFILES: Final = ("collapsed", "perf_script")
"""Kinds that say what code ran, and nothing of an application."""

_GIVE: Final = "Give a Spark event log, logs of the driver or of containers, a recording or a run, or a folder of them."
_READS: Final = (
    "It reads Spark event logs, logs of drivers, executors and containers, JFR recordings, collapsed stacks, "
    "`perf script` and runs of its own."
)
_UTF_16: Final = "text in UTF-16 (`iconv -f UTF-16 -t UTF-8` turns it into what can be read)"

HEAD_BYTES: Final = 64 * 1024
MAX_DEPTH: Final = 8
"""EMR writes seven folders below its bucket: logs/applications/A/jobs/J/sparklogs/eventlog_v2_J."""
MAX_MEMBERS: Final = 100_000
_JFR: Final = b"FLR\0"

_MAGICS: Final = (
    (b"PAR1", "a Parquet file"),
    (b"ORC", "an ORC file"),
    (b"Obj\x01", "an Avro file"),
    (b"\x7fELF", "a program"),
    (b"\xca\xfe\xba\xbe", "a Java class file"),
    (b"JAVA PROFILE 1.0", "a heap dump"),
    (b"\x89PNG", "a picture"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3", "an SQLite data base"),
    (b"PERFILE2", "raw perf.data (`perf script` turns it into text)"),
    (b"\xff\xfe\0\0", "text in UTF-32"),
    (b"\xff\xfe", _UTF_16),
    (b"\xfe\xff", _UTF_16),
)

# Kinds of the contract that can be told but not read yet, and other things that people hand in by mistake.
_TEXTS: Final = (
    (re.compile(rb"^spark\.[\w.]+[\s=:]", re.M), "a Spark configuration"),
    (re.compile(rb"^# (?:HELP|TYPE) ", re.M), "Prometheus metrics"),
    (re.compile(rb"\A\s*<(?:!doctype html|html)", re.I), "an HTML page"),
    (re.compile(rb"\A\s*<\?xml"), "an XML file"),
    (re.compile(rb"\A\s*[{\[]"), "a JSON document"),
    (re.compile(rb"\A#!"), "a script"),
)

_ASKED: Final = frozenset({"plain text", "a Spark configuration"})
"""What a question may look like."""


def kind_of(path: str) -> str:
    """One of `READABLE`, or `ARCHIVE`: what lies at `path`, a file or a directory.

    A directory of chunks is a recording, a rolling log directory an event log. Raises `InputError`, in one sentence,
    for a path that is missing, empty, unreadable or of another kind.
    """
    place = Path(path)
    try:
        if loose_files(path):
            return "event_log"
        if place.is_dir():
            return _kind_of_directory(place)
        return _kind_of_file(place)
    except FileNotFoundError:
        raise InputError(path, "there is no such file or directory.") from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror or error}.") from error


def kind_of_bytes(head: bytes, path: str) -> str:
    """The kind of a file by its first bytes. `path` is only for the words of the error."""
    plain = unpack_head(head)
    if plain.startswith(_JFR):
        return "recording"
    if archive_form(head) is not None:
        return ARCHIVE
    if looks_like_event_log(head):
        return "event_log"
    if (kind := kind_of_jvm_file(plain)) is not None:
        return kind
    if looks_like_perf_script(plain):
        return "perf_script"
    if looks_collapsed(plain):
        return "collapsed"
    if _is_text(plain):
        if (status := status_kind(plain)) is not None:
            return status
        if looks_like_log(plain) or looks_like_instance_state(plain) or has_head(plain):
            return "container_log"
        if looks_like_question(plain) and describe(plain) in _ASKED:
            return "question"
    raise InputError(
        path,
        f"this is not something emberscope can read: it looks like {describe(plain)}.",
        hint=_READS,
    )


def kind_of_jvm_file(head: bytes) -> str | None:
    """The kind of what a JVM writes of itself, by its first plain bytes; None for anything else."""
    if looks_like_hs_err(head):
        return "hs_err"
    return "gc_log" if looks_like_gc_log(head) else None


def describe(head: bytes) -> str:
    """What a file that we cannot read looks like, in a few words."""
    for magic, words in _MAGICS:
        if head.startswith(magic):
            return words
    if b"\0" in head or _share_of_text(head) < 0.9:
        return "binary data"
    for pattern, words in _TEXTS:
        if pattern.search(head):
            return words
    return "plain text"


def unpack_head(head: bytes) -> bytes:
    """The first bytes behind gzip, zstd, bzip2, xz or an LZ4 frame; `head` itself where it is none or is damaged."""
    try:
        if head.startswith(GZIP_MAGIC):
            return zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES) or head
        if head.startswith(ZSTD_MAGIC):
            import zstandard

            with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(head)) as plain:
                return plain.read(HEAD_BYTES) or head
        if codecs.codec_of(head) in ("bzip2", "xz"):
            return codecs.text_head(head) or head
        if head.startswith(LZ4_MAGIC):
            return _lz4_literals(head) or head
    except Exception:  # damaged: described by what it shows, and the reader says what is wrong with it
        return head
    return head


def _lz4_literals(head: bytes) -> bytes:
    """What an LZ4 frame begins with, up to its first repetition: a block may be larger than any head of a file.

    Frame: magic, flags, block size, content size (8 bytes, flag 8), dictionary id (4, flag 1), checksum of these; then
    a block: size (4, the highest bit for one that is not compressed), token, more of the number of literals, literals.
    """
    flags = head[4]
    block = 7 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0)
    if head[block + 3] & 128:
        return head[block + 4 :]
    position = block + 5
    count = head[block + 4] >> 4
    if count == 15:
        while head[position] == 255:
            count += 255
            position += 1
        count += head[position]
        position += 1
    return head[position : position + count]


def _is_text(head: bytes) -> bool:
    """Whether it is text at all: a few bytes that are none stand in many a log."""
    if any(head.startswith(magic) for magic, _ in _MAGICS) or head.count(b"\0") > len(head) // 100:
        return False
    return _share_of_text(head) >= 0.9


def read_head(path: Path) -> bytes:
    """The first bytes of a file."""
    with path.open("rb") as file:
        return codecs.read_head(file)


def _kind_of_file(path: Path) -> str:
    if not path.exists():
        raise FileNotFoundError
    head = read_head(path)
    if not head:
        raise InputError(str(path), "the file is empty.", hint="If Spark has only just begun to write it, try again.")
    return kind_of_bytes(head, str(path))


def _kind_of_directory(directory: Path) -> str:
    if is_run(directory):
        return "run"
    files = members_of(directory)
    if not files and next(directory.iterdir(), None) is None:
        raise InputError(str(directory), "the directory is empty.", hint=_GIVE)
    if is_log_in_parts(directory):
        return "event_log"
    if any(is_recording(path) for path in files):
        return "recording"
    reason = "the directory holds nothing that emberscope can read: no event log, no log, no recording, no run."
    deeper = f"It is looked into {MAX_DEPTH} folders deep. " if not files else ""
    raise InputError(str(directory), reason, hint=deeper + _GIVE)


def members_of(directory: Path) -> list[Path]:
    """The files below a directory, in the order of their names, hidden ones left out; a few levels and no more.

    Raises `InputError` where there are so many that the path must be a mistake.
    """
    found: list[Path] = []
    for parent, folders, files in os.walk(directory):
        deep = len(Path(parent).relative_to(directory).parts) >= MAX_DEPTH
        folders[:] = [] if deep else sorted(name for name in folders if not name.startswith("."))
        # What is no file (pipes, sockets, devices) would keep a reader waiting, or never end.
        found += [path for name in sorted(files) if not name.startswith(".") and (path := Path(parent, name)).is_file()]
        if len(found) > MAX_MEMBERS:
            raise InputError(str(directory), f"more than {MAX_MEMBERS} files lie in it.", hint="Give one of them.")
    return found


def is_log_in_parts(directory: Path) -> bool:
    """Whether a directory is one event log in parts: Spark's numbered `events_…`, or Databricks' `eventlog-DATE`."""
    names = [child.name for child in directory.iterdir() if child.is_file() and not child.name.startswith(".")]
    if any(re.match(r"events_\d+_", name) for name in names):
        return True
    return any(is_databricks_part(name) and looks_like_event_log(read_head(directory / name)) for name in names)


def is_recording(path: Path) -> bool:
    """Whether a file begins as a JFR recording does, packed or not."""
    try:
        return unpack_head(read_head(path)).startswith(_JFR)
    except OSError:
        return False


def _share_of_text(head: bytes) -> float:
    text = sum(1 for byte in head if byte in (9, 10, 13) or byte >= 32)
    return text / max(1, len(head))
