"""The chunks that a recording consists of, and why none could be read."""

from __future__ import annotations

from collections.abc import Iterator

from emberscope.errors import InputError
from emberscope.jfr.header import HEADER_BYTES, MAGIC, Gap, Header, split
from emberscope.jfr.losses import Losses
from emberscope.jfr.source import Source


def chunks_of(source: Source, missing: str, losses: Losses) -> Iterator[Header]:
    """The chunks of a recording; what is wrong between them is told to `losses`."""
    if missing:
        losses.note("cut", missing)
    for part in split(source):
        if isinstance(part, Gap):
            losses.of_gap(part)
        else:
            yield part


def nothing_read(path: str, source: Source, missing: str, losses: Losses) -> InputError:
    """Why nothing of a recording could be read, to be raised."""
    hint = ""
    head = source.read(0, HEADER_BYTES)
    if not source.size and not missing:
        reason = "the recording is empty (0 bytes)"
        hint = "Its JVM ended before it wrote the file; look for chunks in the JVM's JFR repository directory."
    elif losses.refusals:
        reason = losses.refusals[0]
    elif missing and len(head) < HEADER_BYTES:
        reason = missing
    elif MAGIC.startswith(head[: len(MAGIC)]):
        reason = f"the recording is cut within its first header, {len(head)} bytes are left"
    else:
        reason = "not a JFR recording"
    return InputError(path, reason, hint=hint)
