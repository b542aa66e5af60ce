"""Tasks failed, and their work was done again or their job ended.

## What it means
An attempt of a task ended with an error. Spark runs the task again and gives the whole job up when one task has failed
too often (`spark.task.maxFailures`, 4 by default). Shuffle output that cannot be fetched does not count there: Spark
makes it again and repeats the stage that reads it. Full disks, such fetches and exceptions of the program are told
apart. What failed because its executor went away is told by H3, and a task that fails each time in the same way by H5.

## What it costs
The core time of the attempts that failed, and the wall time that a replay of the schedule without them saves. Where a
job failed, all that its tasks had done was in vain: the finding gives that core time, but no wall time, since nobody
knows how long the rest would have taken.

## What to do
A full disk ("No space left on device"): more or larger local disks, less spill, smaller shuffles, and the files of old
applications removed. Shuffle output that could not be fetched while its executor was there: look at that executor's
load, garbage collection and network, then let readers try more often (`spark.shuffle.io.maxRetries`). Exceptions: look
at the line named.

## When to ignore it
When a few attempts of many failed once and the application went on: the price says how little they cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Reads, Rule, Where
from emberscope.rules.executors.errors import cut, exception_line, program_line
from emberscope.rules.executors.failed_attempts import FailedAttempts, Kind, failed_attempts
from emberscope.rules.executors.failed_jobs import FailedJob, alike, failed_jobs, jobs_failed, went_on
from emberscope.rules.executors.failure_advice import failure_advice
from emberscope.rules.executors.lost_work import durations_without, lost_work
from emberscope.rules.executors.retry_storm import RULE as RETRY_STORM
from emberscope.rules.executors.retry_storm import is_storm
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_WHAT = {
    "disk": "the local disk was full",
    "fetch": "shuffle output could not be fetched",
    "lost": "their executor went away",
    "error": "they threw an exception",
}


class Limits(Struct, frozen=True):
    """spark-advisor warns at 1 failed task and calls 10 critical; Dr. Elephant warns at a tenth of a stage's tasks. We
    tell of each, and count work as lost from `least_ratio` on."""

    least_ratio: float = 0.01  # core time of failed attempts over all task time: work was lost (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    jobs = failed_jobs(run)
    told = {job.key for job in jobs if job.key is not None}
    others = [job for job in jobs if not is_storm(job, RETRY_STORM.limits.attempts)]
    if lost_work(run).explained:
        others = [job for job in others if job.kind not in ("lost", "fetch")]
    for some in alike(others):
        yield _ended(run, some)
    failed = failed_attempts(run)
    if failed is None:
        return
    rest = failed.of_stages(told, inside=False)
    for kind in ("disk", "fetch", "error"):
        part = rest.of_kind(kind)
        if len(part) and not (kind == "fetch" and lost_work(run).explained):
            yield _recovered(run, kind, part, limits)


def _ended(run: Run, jobs: list[FailedJob]) -> Finding:
    """Jobs that ended for one reason: the first of them, and how many more."""
    job = jobs[0]
    core_ms = sum(one.core_ms for one in jobs)
    place = place_of(places(run), job.key or (-1, -1))
    attempts, kind = job.attempts, job.kind
    said = job.said or cut(job.message)
    line = job.line if kind in ("error", "none") else None
    executors = Counter(str(one) for one in attempts.texts("executor_id").tolist() if one) if attempts else Counter()
    after = went_on(run, jobs[-1])
    what = {"disk": "the local disks were full", "fetch": "shuffle output could not be fetched"}.get(kind)
    stage = f" in stage {place.where.stage}" if job.key else ""
    evidence = [Evidence(cut(job.message, 300), "jobs.error_message")]
    if attempts is not None:
        failures = "failure" if len(attempts) == 1 else "failures"
        where = (
            f" on executor{'' if len(executors) == 1 else 's'} {', '.join(sorted(executors)[:6])}" if executors else ""
        )
        which = f" of task {job.task_index}" if job.task_index is not None else ""
        evidence.append(
            Evidence(f"{len(attempts)} {failures}{which}{where}: {said}", "tasks.status, tasks.error_message")
        )
    evidence.append(
        Evidence(
            f"all tasks of the stages of {counted(len(jobs), 'failed job')} held cores for {format_ms(core_ms)}",
            "tasks.launch_ms, tasks.finish_ms",
            round(core_ms),
            "ms",
        )
    )
    begin = f"{place.sentence}: " if job.key else ""
    which_jobs = f"job {job.job_id}" if len(jobs) == 1 else counted(len(jobs), "job")
    tail = f" {counted(after, 'job')} succeeded after it." if after else ""
    return Finding(
        title=f"{jobs_failed(jobs)}{stage}: {what or said}",
        summary=f"{begin}{said}{f' at {line}' if line else ''}. That ended {which_jobs}.{tail}",
        where=Where(
            place.where.sql if job.key else job.row["sql_execution_id"],
            job.job_id,
            place.where.stage if job.key else None,
            place.where.stage_attempt if job.key else None,
            executor=next(iter(executors)) if len(executors) == 1 else None,
            line=line.partition(" in ")[0] if line else None,
        ),
        evidence=tuple(evidence),
        advice=tuple(failure_advice(run, kind, attempts, line, said)),
        wasted_wall_ms=None,
        wasted_core_ms=round(core_ms),
        saving_basis="A job that failed has no price in wall time: its core time bore no result.",
        confidence=0.9,
        consequence="ended",
    )


def _recovered(run: Run, kind: Kind, part: FailedAttempts, limits: Limits) -> Finding:
    """Attempts that failed and were done again, of all stages whose job went on."""
    stages = part.stages()
    rerun = lost_work(run).rerun if kind == "fetch" else ()
    core_ms = part.core_ms + sum(float(np.nansum(stage.durations_ms())) for stage in rerun)
    price = priced(
        run,
        {**durations_without(run, [part]), **{stage.key: np.zeros(0) for stage in rerun}},
        "Without the attempts that failed" + (" and the tasks that ran again." if rerun else "."),
    )
    pairs = zip(part.texts("error_class").tolist(), part.texts("error_message").tolist(), strict=True)
    lines = Counter(exception_line(error_class, message) for error_class, message in list(pairs)[:1000])
    said, _ = max(lines.items(), key=lambda pair: (pair[1], pair[0]))
    message = next((str(one) for one in part.texts("error_message").tolist() if one), "")
    line = program_line(message) if kind == "error" else None
    executors = Counter(str(one) for one in part.texts("executor_id").tolist() if one)
    worst = max(sorted(executors), key=lambda one: executors[one], default=None)
    alone = worst is not None and executors[worst] > len(part) / 2 and len(executors) > 1
    place = place_of(places(run), stages[0]) if stages else None
    figures = stage_figures(run)
    all_ms = 0.0 if figures is None else float(figures.run_ms().sum())
    evidence = [
        Evidence(
            f"{counted(len(part), 'attempt')} in {counted(len(stages), 'stage')} failed after "
            f"{format_ms(part.core_ms)} in all; most often: {said}",
            "tasks.status, tasks.error_class, tasks.error_message",
            len(part),
            "attempts",
        )
    ]
    if worst is not None:
        share = f"{executors[worst]} of {len(part)} on executor {worst}"
        evidence.append(Evidence(share if len(executors) > 1 else f"all on executor {worst}", "tasks.executor_id"))
    if rerun:
        tasks = sum(len(stage) for stage in rerun)
        evidence.append(
            Evidence(f"{counted(tasks, 'task')} of stages that had succeeded ran again", "stages.stage_attempt", tasks)
        )
    at = f" at {line}" if line else ""
    where = place.where if place is not None and len(stages) == 1 else Where()
    return Finding(
        title=f"{counted(len(part), 'task attempt')} failed and ran again: {_WHAT[kind]}",
        summary=f"{said}{at}. {counted(len(part), 'attempt')} failed in {counted(len(stages), 'stage')}"
        + (f" ({place.sentence})" if place is not None and len(stages) == 1 else "")
        + "; the tasks succeeded later.",
        where=Where(
            where.sql,
            where.job,
            where.stage,
            where.stage_attempt,
            executor=worst if alone else None,
            line=line.partition(" in ")[0] if line else None,
        ),
        evidence=tuple(evidence),
        advice=tuple(failure_advice(run, kind, part, line, said)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(core_ms),
        saving_basis=price.basis,
        confidence=0.8,
        consequence="lost" if core_ms >= limits.least_ratio * all_ms else "hint",
    )


RULE = Rule(
    code="H4",
    name="task-failures",
    since="0.1",
    reads=(Reads(TASKS, ("status",)), Reads(STAGES), Reads(JOBS)),
    limits=Limits(),
    check=check,
)
