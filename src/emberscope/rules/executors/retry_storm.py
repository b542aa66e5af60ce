"""A task threw the same exception on every attempt, until Spark gave its job up.

## What it means
Spark runs a failed task again, up to `spark.task.maxFailures` times in all (4 by default), because failures of machines
pass. Here one task failed in the same way each time: the exception comes from the program or from the rows of that
task, and it would come on any cluster. More attempts and other nodes do not help.

## What it costs
The job, and the core time of all the work that it had done. There is no price in wall time: nobody knows how long the
rest would have taken.

## What to do
Go to the line that the finding names. Run the function on the rows of that partition alone, and handle the value that
it cannot handle: a null, a bad date, a text that is no number, a record of another schema. Where bad rows are to be
expected, let the program set them aside (for example `try_cast`, or a column for what could not be parsed) instead of
throwing. Since Spark 4.0 ANSI mode is on by default, and casts that gave null before throw. A task that is out of
memory needs fewer rows, or more memory for each core.

## When to ignore it
When the failure was meant, as in a test, or when the program catches it and goes on: the finding says whether jobs
succeeded after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.executors.errors import exception_line
from emberscope.rules.executors.failed_attempts import FailedAttempts
from emberscope.rules.executors.failed_jobs import FailedJob, alike, failed_jobs, jobs_failed, went_on
from emberscope.rules.places import place_of, places
from emberscope.rules.settings import number_setting
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Our proposal. Spark itself gives a job up at `spark.task.maxFailures` failures of one task, 4 by default."""

    attempts: int = 2  # so many attempts of one task that all ended alike say that it is the task (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for jobs in alike(job for job in failed_jobs(run) if is_storm(job, limits.attempts)):
        assert jobs[0].attempts is not None
        yield _finding(run, jobs, jobs[0], jobs[0].attempts)


def is_storm(job: FailedJob, least: int) -> bool:
    """Whether the task that ended the job failed by exceptions alone, each time by the same."""
    attempts = job.attempts
    if attempts is None or job.task_index is None or len(attempts) < least or any(attempts.kinds != "error"):
        return False
    return len(set(_lines(attempts))) == 1


def _lines(attempts: FailedAttempts) -> list[str]:
    pairs = zip(attempts.texts("error_class").tolist(), attempts.texts("error_message").tolist(), strict=True)
    return [exception_line(error_class, message) for error_class, message in pairs]


def _executors(ids: list[str]) -> str:
    return f"executor{'' if len(ids) == 1 else 's'} {', '.join(ids[:6])}"


def _finding(run: Run, jobs: list[FailedJob], job: FailedJob, attempts: FailedAttempts) -> Finding:
    said, line = job.said, job.line
    core_ms = sum(one.core_ms for one in jobs)
    place = place_of(places(run), job.key or (-1, -1))
    executors = sorted({str(one) for one in attempts.texts("executor_id").tolist() if one})
    after = went_on(run, jobs[-1])
    tail = f"; {counted(after, 'job')} succeeded after it" if after else ""
    where = f" at {line}" if line else ""
    return Finding(
        title=f"{jobs_failed(jobs)}: task {job.task_index} of stage {place.where.stage} threw the same exception "
        f"on all {len(attempts)} attempts",
        summary=f"{place.sentence}: {said}{where}. Task {job.task_index} failed {counted(len(attempts), 'time')} "
        f"in the same way, on {counted(len(executors), 'executor')}{tail}. The program or the rows of this task are "
        "the cause, not the cluster.",
        where=Where(
            place.where.sql,
            job.job_id,
            place.where.stage,
            place.where.stage_attempt,
            executor=executors[0] if len(executors) == 1 else None,
            line=line.partition(" in ")[0] if line else None,
        ),
        evidence=(
            Evidence(
                f"{counted(len(attempts), 'attempt')} of task {job.task_index}, each ended by {said}",
                "tasks.status, tasks.error_class, tasks.error_message",
                len(attempts),
                "attempts",
            ),
            Evidence(f"on {_executors(executors)}", "tasks.executor_id"),
            Evidence(
                f"all tasks of the stages of {counted(len(jobs), 'failed job')} held cores for {format_ms(core_ms)}",
                "tasks.launch_ms, tasks.finish_ms",
                round(core_ms),
                "ms",
            ),
        ),
        advice=tuple(_advice(run, job, said, line, len(attempts))),
        wasted_wall_ms=None,
        wasted_core_ms=round(core_ms),
        saving_basis="A job that failed has no price in wall time: its core time bore no result.",
        confidence=0.95,
        consequence="ended",
    )


def _advice(run: Run, job: FailedJob, said: str, line: str | None, attempts: int) -> Iterator[Advice]:
    if "OutOfMemory" in said or "UNABLE_TO_ACQUIRE_MEMORY" in said:
        yield Advice(
            "code",
            "The task needs more memory than it can get: give it fewer rows (more partitions, no single huge key or "
            "value), or its executor more memory for each core.",
        )
    elif line:
        yield Advice("code", f"Mend {line}, or handle there what it cannot handle: {said}")
    else:
        yield Advice("code", f"Handle in the program what ends the task: {said}")
    yield Advice(
        "check",
        f"Run the same step on the rows of task {job.task_index} alone"
        + (f" (stage {job.key[0]})" if job.key else "")
        + ": filter by spark_partition_id() before it, and look at what they have that others have not.",
    )
    if attempts > 4 or number_setting(run, "spark.task.maxFailures", 4) > 4:
        yield set_conf("spark.task.maxFailures", 4, "Each attempt failed alike; Spark's default of 4 gives up sooner.")


RULE = Rule(
    code="H5",
    name="retry-storm",
    since="0.1",
    reads=(Reads(TASKS, ("status",)), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
