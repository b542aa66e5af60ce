"""One file as it goes into a bundle: what it is, and its bytes without secrets and names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from msgspec import Struct

from emberscope.errors import InputError
from emberscope.eventlog import codecs
from emberscope.eventlog.lines import blocks, stream_of
from emberscope.report.scrub import Scrub
from emberscope.sources.kind import describe, kind_of_bytes, unpack_head
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.eventlog.lines import Block

MOST_OF_DOCUMENT_BYTES: Final = 32 << 20
_PACKED: Final = (".zstd", ".zst", ".lz4", ".snappy", ".lzf", ".gz", ".bz2", ".xz")
_TEXTS: Final = frozenset(
    {
        *("a garbage collection log", "a container log", "a Spark configuration", "Prometheus metrics"),
        *("an HTML page", "an XML file", "a JSON document", "a script", "plain text"),
    }
)

RAW: Final = frozenset({"recording"})
"""Kinds whose bytes cannot be changed: names of hosts and users stay in them."""


class Form(Struct, frozen=True):
    """How a file is treated: `kind` as the contract has it, None where it has none; `way` is what is done to its bytes.

    `left_out` says why it does not go into the bundle: the end of a sentence, empty where it does.
    """

    kind: str | None
    way: str
    left_out: str = ""


def form_of(head: bytes, size_bytes: int, *, recordings: bool = False) -> Form:
    """What is to be done with a file that begins so: `events`, `document`, `lines` or `raw`."""
    if not head:
        return Form(None, "raw")
    try:
        kind: str | None = kind_of_bytes(head, "")
    except InputError:
        kind = None
    if kind == "archive":
        return Form(None, "raw", "it is an archive in an archive")
    if kind in RAW:
        if recordings:
            return Form(kind, "raw")
        return Form(kind, "raw", "recordings hold names of hosts and users that cannot be taken out (--recordings)")
    if kind == "event_log":
        return Form(kind, "events")
    plain = unpack_head(head)
    if kind == "question" and describe(plain) != "plain text":
        kind = None  # settings that name Spark are no question
    if kind is None and (looks := describe(plain)) not in _TEXTS:
        return Form(None, "raw", f"it looks like {looks}")
    if plain.lstrip()[:1] in (b"{", b"[") and size_bytes <= MOST_OF_DOCUMENT_BYTES and kind != "gc_log":
        return Form(kind, "document")
    return Form(kind, "lines")


def name_in_bundle(name: str, form: Form) -> str:
    """The file's name without the ending of what it was packed by: it is unpacked in the bundle, which packs itself."""
    if form.way == "raw":
        return name
    stem = name
    while stem.lower().endswith(_PACKED) and "." in stem.strip("."):
        stem = stem.rpartition(".")[0]
    return stem if not stem.endswith("/") and stem else name


def scrubbed(file: BinaryIO, form: Form, scrub: Scrub, damage: list[str]) -> Iterator[bytes]:
    """The bytes of a file as they go into the bundle, piece by piece. What is lost of it is told in `damage`."""
    if form.way == "raw":
        while piece := file.read(1 << 20):
            yield piece
        return
    codec = codecs.codec_of(codecs.read_head(file))
    file.seek(0)
    stream: BinaryIO = file if codec == codecs.PLAIN else stream_of(codecs.decompress(file, codec, damage))
    if form.way == "document":
        yield from _document(stream, scrub)
    else:
        yield from _lines(stream, form, scrub, damage)


def _document(stream: BinaryIO, scrub: Scrub) -> Iterator[bytes]:
    """JSON by its fields; several documents, or one that is cut, as the lines of a text."""
    data = stream.read(MOST_OF_DOCUMENT_BYTES * 4)
    try:
        found: Any = json.loads(data)
    except (ValueError, RecursionError):
        yield _text(data, scrub)
        while data := stream.read(1 << 20):
            yield _text(data, scrub)
        return
    yield (json.dumps(scrub.document(found), ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _lines(stream: BinaryIO, form: Form, scrub: Scrub, damage: list[str]) -> Iterator[bytes]:
    for block in blocks(stream):
        if block.long_line_bytes:
            yield _cut(block, scrub, damage)
        elif form.way == "events":
            yield b"".join(scrub.event(line) for line in block.lines())
        else:
            yield _text(block.text, scrub)


def _cut(block: Block, scrub: Scrub, damage: list[str]) -> bytes:
    damage.append(f"a line of {format_bytes(block.long_line_bytes)} was cut after its first part")
    return _text(block.text[: 1 << 16], scrub) + b"\n"


def _text(data: bytes, scrub: Scrub) -> bytes:
    return scrub.text(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
