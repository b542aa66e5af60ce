"""A profile was recorded on an executor but does not appear in the store that it should be copied to.

## What it means
Plugins that profile executors write to a local disk and copy from there to a Hadoop file system. Some ways of copying
do not work everywhere: `copyFromLocalFile` to S3A has a known fault in some versions of Hadoop (HADOOP-18173); an
upload that is written as one stream for the life of the executor is invisible on object stores until it is closed, so
an executor that is killed leaves nothing; and a target directory that does not exist ends the copying without stopping
the job.

## What it costs
The profiles of these executors: they are on disks that go away with the executor.

## What to do
Copy through a stream (`fs.create(path)` and `Files.copy(local, stream)`) instead of `copyFromLocalFile`, or use a
Hadoop that has the fault mended. Make the target directory before the job starts and let the job write there. Write
pieces that are closed every half minute or so, so that a kill loses only the last one.

## When to ignore it
When the local files can still be fetched, or when the profile was only a trial: the job's own results are not
concerned.
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
    """None: one such line is enough."""


_NOT_COPIED: Final = Signature(
    "profile_not_uploaded",
    r"Exception occurred while writing some profiler output|Some profiler output not written"
    r"|Unable to start JVM profiler|(?:[Pp]rofil|\.jfr)[^\n]{0,200}\n?[^\n]{0,200}copyFromLocalFile"
    r"|copyFromLocalFile[^\n]{0,200}(?:profil|\.jfr)",
    (
        "writing some profiler output",
        "profiler output not written",
        "Unable to start JVM profiler",
        "copyFromLocalFile",
    ),
    (
        (
            r"profiler|profiling|\.?jfr\b|flame ?graph",
            r"\b(?:s3a?|gs|abfss?|hdfs|oss|cos)n?://|object store|upload|bucket|\bdfs",
            r"never appears?|not appear|missing|not (?:there|uploaded|copied|written)|empty|no files?\b|fails?"
            r"|copyFromLocal",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = seen(run, _NOT_COPIED.name)
    if not rows:
        return
    yield trouble(
        "Profiles recorded on executors do not reach the store",
        "The plugin writes a local file and copies it to the store. copyFromLocalFile to S3A has a known fault "
        "(HADOOP-18173); a stream that is left open until the executor ends is invisible on object stores until it is "
        "closed, so a killed executor leaves nothing; and a missing target directory stops the copying silently.",
        rows,
        (
            Advice(
                "code",
                "Copy through a stream: open it with fs.create(path), then Files.copy(local, stream) and close; not "
                "copyFromLocalFile. Close a piece every 30 s, so that a kill loses only the last one.",
            ),
            Advice("cluster", "Make the target directory before the job starts, writable for the job's user."),
            Advice(
                "check", "Read the executors' stderr for the exception, and fetch the local files while they exist."
            ),
        ),
    )


RULE = Rule(
    code="P9",
    name="profile-upload",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(_NOT_COPIED,),
)
