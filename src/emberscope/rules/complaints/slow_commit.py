"""The write goes on long after its last task: files are renamed into place, one by one.

## What it means
Hadoop's usual committer lets tasks write into `_temporary` and then moves every file to where it belongs. On HDFS a
rename is a moment. On S3 there is none: each is a copy and a delete; on other stores it is a request for each file. In
algorithm 1 the driver alone makes them, after the last task has ended, while the whole cluster waits.

## What it costs
Hours where there are tens of thousands of files, whatever the size of the cluster: it is one process that works.

## What to do
Use a committer that moves nothing: EMRFS's optimized one on EMR, S3A's magic committer, the manifest committer on
Azure and Google storage, or a table format that commits by one file. Write fewer files.

## When to ignore it
When an event log shows that the time between the last task and the end of the write is short.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_SLOW: Final = r"slow|long|hours?|minutes|delay|bottleneck|hang|stuck|forever|serial|single-?threaded|one by one"
TOLD_SLOW_COMMIT: Final = Signature(
    name="told-slow-commit",
    # No line of a log says it: it is asked in words.
    pattern=r"(?P<said>single-threaded renam\w+)",
    literals=("single-threaded renam",),
    words=(
        (r"renam(e|es|ing|ings)\b", r"\bs3\b|store|storage|adls|abfs|gcs|hdfs|_temporary|output|files", _SLOW),
        (r"\b(commit|_temporary|_SUCCESS)\b", r"\bs3\b|store|storage|adls|abfs|gcs|write|save|output", _SLOW),
        (r"(all|last) (the )?tasks? (is|are|have|has|were|was)? ?(finish|done|complete|end)", r"\bwrit|\bsav", _SLOW),
    ),
)
_OTHER: Final = re.compile(r"conflict|concurrent|CommitFailed|denied|offset", re.IGNORECASE)
_S3A: Final = re.compile(r"\bs3a\b", re.IGNORECASE)
_CLOUD: Final = "org.apache.spark.internal.io.cloud."


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = tuple(row for row in said(run, TOLD_SLOW_COMMIT.name) if not _OTHER.search(row.text))
    if not rows:
        return
    yield answer(
        rows,
        title="The commit of the write takes long: files are renamed into place after the last task, by the driver",
        summary="The usual committer (FileOutputCommitter, algorithm 1) writes to _temporary and then renames all "
        "files on the driver, one by one, while the cluster waits. A rename on S3 is a copy and a delete; more "
        "executors do not help.",
        advice=_advice(rows[0].text),
        confirm="An event log gives the time from the last task to the end of the write, and the number of files.",
    )


def _advice(text: str) -> Iterator[Advice]:
    yield Advice(
        "cluster",
        "Use a committer that moves nothing: on EMR the EMRFS S3-optimized one (s3://, Spark's own formats), the magic "
        "committer for s3a://, the manifest committer for abfss:// and gs:// (Hadoop 3.3.5 and later).",
    )
    if _S3A.search(text):
        yield set_conf("spark.hadoop.fs.s3a.committer.name", "magic", "S3A's committer for S3.")
        yield set_conf(
            "spark.sql.sources.commitProtocolClass", f"{_CLOUD}PathOutputCommitProtocol", "With spark-hadoop-cloud."
        )
    else:
        yield set_conf(
            "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version",
            "2",
            "Where there is no such committer: tasks move their own files, side by side; a job that fails half way "
            "leaves files behind.",
        )
    yield Advice("code", "Write fewer, larger files (repartition before the write), or a table format.")


RULE = Rule(
    code="W7",
    name="told-slow-commit",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_SLOW_COMMIT,),
)
