"""A write went on for long after its last task: the driver moved the files into place.

## What it means
Tasks write their files into a temporary directory. When all have ended, the driver commits: it moves the files to their
place, one after the other, and lists directories to do so. On a file system where moving is cheap nobody notices; on
most object stores a move is a copy, and with many files it takes minutes in which no executor works.

## What it costs
The time between the end of the last task that wrote and the end of the write, or what Spark itself measured for the
commit. Nothing but the driver works then, so that all of it delays the application; a committer that does not move
files saves nearly all of it.

## What to do
On S3, use a committer made for it: the advice has the settings. On HDFS, version 2 of Hadoop's committer lets tasks
move their own files, where it does no harm that a job which fails half way leaves files behind. Fewer files shorten
every commit. Table formats (Iceberg, Delta) commit by one small file.

## When to ignore it
When the write is the last thing of the night and nobody waits. Where very many small files are the reason, this finding
is listed under small-files-written (E2).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, set_conf
from emberscope.rules.places import place_of, places
from emberscope.rules.price import driver_saving
from emberscope.rules.storage.commit_gap import commit_ms, gap_ms
from emberscope.rules.storage.files import FileWrite, file_writes, writing_stages
from emberscope.tables.jobs import JOBS
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.sql_executions import SQL_EXECUTIONS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# Settings of Hadoop are given to Spark behind this.
_HADOOP: Final = "spark.hadoop."
_VERSION: Final = _HADOOP + "mapreduce.fileoutputcommitter.algorithm.version"
_CLOUD: Final = "org.apache.spark.internal.io.cloud."


class Limits(Struct, frozen=True):
    """No tool that we know of has numbers for this; all values are our proposal."""

    floor_ms: int = 5_000  # commit of one write
    ratio: float = 0.10  # commit over the time of the whole write


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for write in file_writes(run):
        plan = write.plan
        commit = commit_ms(run, write)
        if commit is None or commit < limits.floor_ms or plan.started_ms is None or plan.ended_ms is None:
            continue
        length = plan.ended_ms - plan.started_ms
        if length <= 0 or commit < limits.ratio * length:
            continue
        yield _finding(run, write, min(commit, length), length)


def _finding(run: Run, write: FileWrite, commit: float, length: int) -> Finding:
    stages = writing_stages(run, write)
    where = write.plan.where
    if stages:
        last = max(stages, key=lambda stage: (float(stage.run_ms().sum()), stage.key))
        where = place_of(places(run), last.key).where
    price = driver_saving(run, commit, "All of the commit: only the driver works then.")
    gap = gap_ms(run, write)
    evidence = [
        Evidence(
            f"the commit took {format_ms(commit)} of {format_ms(length)}",
            "plan_metrics: job commit time; sql_executions.ended_ms, tasks.finish_ms",
            round(commit),
            "ms",
        ),
        Evidence(
            f"{format_count(write.files)} files were written",
            "plan_metrics: number of written files",
            write.files,
            "files",
        ),
    ]
    if gap is not None:
        evidence.append(
            Evidence(
                f"{format_ms(gap)} from the end of the last task to the end of the write",
                "tasks.finish_ms, sql_executions.ended_ms",
                round(gap),
                "ms",
            )
        )
    return Finding(
        title=f"The commit of {write.table} took {format_ms(commit)}",
        summary=f"{write.plan.words}: after the last task had ended, the driver took {format_ms(commit)}, "
        f"{format_ratio(commit / length)} of the write, to put {format_count(write.files)} files into place.",
        where=where,
        evidence=tuple(evidence),
        advice=tuple(_advice(run, write)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=None,
        saving_basis=price.basis,
        confidence=0.75,
    )


def _advice(run: Run, write: FileWrite) -> Iterator[Advice]:
    scheme = write.location.partition(":")[0]
    if write.hive_table:
        yield Advice(
            "code",
            f"Make {write.hive_table} a table of Spark's own (`CREATE TABLE … USING parquet`): a write to a table of "
            "Hive moves its files and registers its partitions one by one after the job.",
        )
        return
    if scheme == "s3a":
        yield set_conf(f"{_HADOOP}fs.s3a.committer.name", "magic", "The committer for S3: it moves no files.")
        yield set_conf(
            "spark.sql.sources.commitProtocolClass",
            f"{_CLOUD}PathOutputCommitProtocol",
            "Lets Spark use that committer; needs the package spark-hadoop-cloud.",
        )
        yield set_conf(
            "spark.sql.parquet.output.committer.class",
            f"{_CLOUD}BindingParquetOutputCommitter",
            "The same for Parquet.",
        )
        return
    if scheme == "s3":
        yield Advice(
            "check",
            "On EMR, find out why the EMRFS S3-optimized committer was not used: it takes only writes of Spark's own "
            "formats, without custom partition locations.",
        )
        return
    if (run.setting(_VERSION) or "1") == "1":
        yield set_conf(
            _VERSION,
            "2",
            "Tasks move their own files, side by side, and the commit has nothing left to move. A job that fails half "
            "way leaves files behind: only where a failed write is repeated as a whole.",
        )
    yield Advice(
        "code", "Write fewer files (repartition before the write), or a table format that commits by one file."
    )


RULE = Rule(
    code="E9",
    name="commit-phase",
    since="0.1",
    reads=(
        Reads(TASKS, ("finish_ms",)),
        Reads(STAGES),
        Reads(JOBS),
        Reads(SQL_EXECUTIONS),
        Reads(PLAN_NODES),
        Reads(PLAN_METRICS),
    ),
    limits=Limits(),
    check=check,
)
