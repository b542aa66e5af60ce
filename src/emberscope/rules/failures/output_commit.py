"""Output could not be put into its place: it exists already, or the commit of a task or a job failed.

## What it means
Tasks write into a temporary folder, and a commit moves or publishes what they wrote. Spark refuses to write where
something is already unless the mode says what to do with it. Two jobs that write into one folder share its
`_temporary`: the one that ends first deletes the other's files. Of two attempts of one task only one may commit.

## What it costs
The whole job, often after all its work is done: commits come last, and are not tried again.

## What to do
Choose the mode of saving (overwrite, append, ignore). Give each job an output folder of its own, and use a committer
made for the store: the magic or directory committer for S3A, EMRFS's optimized one on EMR.

## When to ignore it
A commit that was denied to the second attempt of a task, where speculation runs: that is how it is meant to be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Consequence, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, by, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

OUTPUT_COMMIT: Final = Signature(
    name="output-commit",
    pattern=r"Output directory (?P<directory>\S{1,500}) already exists|"
    r"AnalysisException: [^\n]{0,40}[Pp]ath (?P<path>\S{1,500}) "
    r"already exists|"
    r"ssociated location\(?'?(?P<location>[^')\s]*)'?\)?[^\n]{0,60} already exists|"
    r"(?P<exists>PATH_ALREADY_EXISTS|LOCATION_ALREADY_EXISTS|FileAlreadyExistsException)|"
    r"(?P<denied>CommitDeniedException|TaskCommitDenied|driver did not authorize commit|Commit denied|"
    r"denied committing)|"
    r"(?P<temporary>(?:FileNotFoundException|does not exist)[^\n]{0,500}_temporary/|"
    r"_temporary/[^\n]{0,300}(?:does not exist|No "
    r"such file))|"
    r"(?P<rename>Failed to rename|Could not rename file|Failed to commit task|TASK_WRITE_FAILED|Job commit failed)",
    literals=(
        "Output directory ",
        "AnalysisException: ",
        "ssociated location",
        "ALREADY_EXISTS",
        "FileAlreadyExistsException",
        "CommitDeniedException",
        "TaskCommitDenied",
        "driver did not authorize commit",
        "Commit denied",
        "denied committing",
        "_temporary/",
        "Failed to rename",
        "Could not rename file",
        "Failed to commit task",
        "TASK_WRITE_FAILED",
        "Job commit failed",
    ),
    words=(
        (r"(output|path|directory|location).{0,40}already exists",),
        (r"_temporary|two (jobs|writers).{0,40}(same|one) (folder|path|directory|output)",),
        (r"commit.{0,30}denied",),
    ),
)
_THERE: Final = re.compile(
    r"(?:[Dd]irectory|[Pp]ath|[Ff]ile) (\S*/\S*) already exists|location\(?'?([^')\s]+)'?\)?[^\n]{0,40} already exists"
)
_KINDS: Final = ("denied", "temporary", "rename")


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    groups = dict(by(said(run, OUTPUT_COMMIT.name), _kind))
    if len(groups) > 1:
        # Spark wraps whatever ends a task that writes: the frame says nothing beside its content.
        groups.pop("rename", None)
    for kind, rows in groups.items():
        if kind == "rename" and all(row.causes and not _ours(row) for row in rows):
            continue
        title, summary, advice = _told(kind, rows)
        consequence: Consequence | None = "hint" if kind == "denied" else None
        yield failure(run, rows, title=title, summary=summary, advice=advice, consequence=consequence)


def _kind(row: Said) -> str:
    found = groups_of(row, OUTPUT_COMMIT)
    return next((kind for kind in _KINDS if kind in found), "exists")


def _ours(row: Said) -> bool:
    """Whether the innermost cause is the rename or the commit itself."""
    return bool(re.search(r"rename|commit|_temporary", row.causes[-1], re.IGNORECASE))


def _told(kind: str, rows: list[Said]) -> tuple[str, str, list[Advice]]:
    if kind == "denied":
        return (
            "Commits were denied to second attempts of tasks",
            "Only one attempt of a task may commit its output: with speculation, or after a task was tried again, the "
            "others are refused. That protects the output, and is not why a job fails.",
            [
                Advice(
                    "check",
                    "If the job failed, look for the first other error; many denials mean that speculation wastes "
                    "work.",
                )
            ],
        )
    if kind == "temporary":
        return (
            "The temporary files of the output were gone before they were committed",
            "Two jobs wrote into one output folder at the same time: the first that ended deleted the _temporary "
            "folder of both. Or a driver that was given up for dead still wrote there.",
            [
                Advice("code", "Let each job write into a folder of its own, or run them one after the other."),
                Advice(
                    "check",
                    "Look for another run of this job at that time (a retry by the scheduler, a second schedule).",
                ),
                Advice("code", "A table format (Delta, Iceberg, Hudi) allows several writers."),
            ],
        )
    if kind == "rename":
        return (
            "The output could not be committed: a rename or a write at the end failed",
            "Files are moved into their place when tasks and the job commit. The store refused or lost one: quotas, "
            "access, another writer, or renames that the store does not do as one step.",
            [
                Advice("check", "Read the innermost cause of this trace: it names the file and the reason."),
                Advice(
                    "cluster",
                    "On S3 use a committer that does not rename (S3A's magic committer, EMRFS's optimized one).",
                ),
            ],
        )
    named = next((match for row in rows if (match := _THERE.search(row.text))), None)
    path = (named[1] or named[2]).strip("'\"`.") if named else ""
    return (
        f"The output {path or 'path'} exists already",
        "The mode of saving is errorifexists unless it is said: Spark stops before it writes where something is. What "
        "is there may be left by a run that failed.",
        [
            Advice(
                "code",
                'Say what is meant: mode("overwrite"), mode("append") or mode("ignore"); or a new path for each run.',
            ),
            Advice("check", "For RDDs remove the folder first; for a table that was dropped remove its old location."),
            set_conf(
                "spark.sql.sources.partitionOverwriteMode",
                "dynamic",
                "With overwrite, replaces only partitions that are written.",
            ),
        ],
    )


RULE = Rule(
    code="K23",
    name="output-commit",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(OUTPUT_COMMIT,),
)
