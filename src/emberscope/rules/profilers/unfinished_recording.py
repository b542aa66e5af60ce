"""A recording was not finished: its last chunk has no index, so that readers refuse it.

## What it means
A recording of Flight Recorder (JFR), also one that async-profiler writes, is a row of chunks. What its events refer to
(types, names, stacks) is written at the end of each chunk, when the recording is stopped or the chunk is full. A JVM
that is killed (SIGKILL, memory limit, container removed) or that ends while the file is being written leaves the last
chunk open. Finished chunks before it are whole; an open chunk alone cannot be recovered, because what its events mean
was never written.

## What it costs
The recording since the last finished chunk: all of it where there is only one chunk.

## What to do
Make chunks short, so that little is lost: `chunktime=30s` (or `loop=30s` for files of their own) in async-profiler,
`maxchunksize` or a rotating recording in JFR; stop the profiler before the process ends, and leave time for it (grace
period of a pod, `stop` in a shutdown hook). `emberscope summary FILE` reads the finished chunks of a damaged file and
says what is missing; other readers refuse the whole file.

## When to ignore it
When the finished chunks cover the time that is of interest, or the process had nothing to do when it was killed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.profilers.trouble import seen, trouble
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Our proposal."""

    chunk_s: int = 30  # length of chunks to write: what is lost at most (proposal)


_REFUSED: Final = Signature(
    "recording_refused",
    r"No readable chunks in recording|InvalidJfrFileException|InvalidFlrFileException"
    r"|No metadata event found in finished chunk|stuck in locked stream state|Not a valid Flight Recorder file"
    r"|Could not finish chunk|chunk header .{0,40}(?:incomplete|not finished)",
    (
        "No readable chunks",
        "InvalidJfrFileException",
        "InvalidFlrFileException",
        "No metadata event found",
        "locked stream state",
        "Not a valid Flight Recorder",
        "Could not finish chunk",
    ),
    (
        (
            r"\bjfr\b|flight record",
            r"chunk|recording",
            r"unfinished|incomplete|not (?:be )?(?:finished|finali[sz]ed)|truncated|cannot be (?:opened|read|parsed)",
            r"kill|crash|died|stopped|\bOOM",
        ),
        (
            r"profiler|flame ?graph|\bjfr\b",
            r"\bkilled\b|kill -9|sigkill|terminated|preempted",
            r"no (?:data|output|files?|profiles?|recordings?)\b|nothing|empty|unreadable",
        ),
        (r"\bjfr\b|flight record", r"\bempty\b|\b0 ?bytes|zero.?(?:size|length|bytes?)"),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _REFUSED.name)
    if not rows:
        return
    yield trouble(
        "The recording ends in an unfinished chunk",
        "A JFR file is a row of chunks, and each gets its metadata and constant pool only when it is finished. A JVM "
        "that is killed or ends before the recording is stopped leaves an open chunk: it is not recoverable, while the "
        "finished chunks before it are whole. A file of only one chunk is then lost.",
        rows,
        (
            Advice("check", "Read what is there with `emberscope summary FILE`: it reads every finished chunk."),
            Advice(
                "code",
                f"Write short chunks: async-profiler `chunktime={limits.chunk_s}s`, or `loop={limits.chunk_s}s` with "
                "%n in the name for files of their own; stop the profiler before the JVM ends.",
            ),
            Advice("check", "See why the JVM was killed: its exit code, and the memory limit of its container."),
        ),
    )


RULE = Rule(
    code="P4",
    name="unfinished-recording",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_REFUSED,),
)
