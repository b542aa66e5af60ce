"""Executors went away and took work with them that had to be done again.

## What it means
An executor holds the tasks that run on it and the shuffle output that it has written. When it goes (it is killed for
its memory, its node is taken back, it crashes), its tasks fail, and stages that read its output fail to fetch it, so
that Spark runs the tasks that made it once more. Most of the error messages of such a run are echoes of that one loss.

## What it costs
The core time of the attempts that failed with the executor or for want of its output, and of the tasks that ran again;
and the wall time that the application would have saved without them. Where no other stage ran meanwhile, that is all
the time that the stage took beyond what its tasks need by themselves; else the schedule is replayed without the lost
work.

## What to do
Look at why the executor went; the finding says it as far as the event log knows. Killed for memory (exit code 137,
"memory limits"): give the container more memory beside the heap, or run fewer tasks in one executor. A heap that was
full: more memory, or smaller partitions. A node that was taken back (spot, preemption, decommission): let Spark move
the shuffle output away in time (from Spark 3.1 on: `spark.decommission.enabled`, `spark.storage.decommission.enabled`
and, before 3.4, `spark.storage.decommission.shuffleBlocks.enabled`). If one and the same task was running on each
executor that died, that task is the cause.

## When to ignore it
When a spot node was lost once and little work ran again: that is why spot nodes are cheap. When you ended the executor
yourself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Reads, Rule, Where
from emberscope.rules.executors.failed_jobs import FailedJob, failed_jobs
from emberscope.rules.executors.loss_advice import loss_advice
from emberscope.rules.executors.loss_price import loss_price
from emberscope.rules.executors.lost_work import LostWork, lost_work
from emberscope.rules.executors.removals import WORDS, Removal
from emberscope.rules.places import place_of, places
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.jobs import JOBS
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Our proposal: spark-advisor warns at the first failed task."""

    same_task: int = 2  # executors that went while they ran the same task: the task is the cause (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    lost = lost_work(run)
    if not lost.any or not lost.explained:
        return
    ended = [job for job in failed_jobs(run) if job.kind in ("lost", "fetch")]
    culprit = _same_task(lost, limits.same_task)
    price = loss_price(run, lost)
    core_ms = lost.core_ms
    yield Finding(
        title=_title(lost, ended, culprit),
        summary=_summary(lost, ended, culprit),
        where=_where(run, lost, ended, culprit),
        evidence=tuple(_evidence(run, lost, culprit)),
        advice=tuple(loss_advice(run, lost, culprit)),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(core_ms),
        saving_basis=price.basis,
        confidence=0.9 if lost.removed else 0.7,
        consequence="ended" if ended else "lost",
    )


def _same_task(lost: LostWork, least: int) -> tuple[int, int] | None:
    """The stage and task that ran on at least so many executors when they went; None for none."""
    if lost.tasks is None or not len(lost.tasks):
        return None
    tasks = lost.tasks
    pairs = zip(tasks.numbers("stage_id").tolist(), tasks.numbers("task_index").tolist(), strict=True)
    executors: dict[tuple[float, float], set[str]] = {}
    for pair, executor in zip(pairs, tasks.texts("executor_id").tolist(), strict=True):
        executors.setdefault(pair, set()).add(executor)
    pair = max(sorted(executors), key=lambda one: len(executors[one]))
    return (int(pair[0]), int(pair[1])) if len(executors[pair]) >= least and pair == pair else None


def _names(removed: tuple[Removal, ...], most: int = 4) -> str:
    ids = [one.executor_id for one in removed]
    more = f" and {len(ids) - most} more" if len(ids) > most else ""
    return f"executor{'' if len(ids) == 1 else 's'} {', '.join(ids[:most])}{more}"


def _who(lost: LostWork) -> str:
    if lost.removed:
        return _names(lost.removed)
    ids = sorted(set(lost.tasks.texts("executor_id").tolist())) if lost.tasks is not None else []
    return f"executor{'' if len(ids) == 1 else 's'} {', '.join(map(str, ids[:4]))}"


def _title(lost: LostWork, ended: list[FailedJob], culprit: tuple[int, int] | None) -> str:
    count = max(1, len(lost.removed))
    who = _who(lost) if count == 1 else counted(count, "executor")
    failed = f"Job {ended[0].job_id} failed: " if ended else ""
    if culprit is not None:
        title = f"{failed}task {culprit[1]} of stage {culprit[0]} took {counted(count, 'executor')} with it"
    elif lost.rerun:
        title = f"{failed}{who} went away, and the shuffle output there was made again"
    else:
        title = f"{failed}{who} went away with tasks that had to run again"
    return title[0].upper() + title[1:]


def _summary(lost: LostWork, ended: list[FailedJob], culprit: tuple[int, int] | None) -> str:
    parts = []
    if lost.removed:
        whys = Counter(one.why for one in lost.removed)
        why, count = whys.most_common(1)[0]
        first = next(one for one in lost.removed if one.why == why)
        said = f" (“{first.reason[:150]}”)" if first.reason else ""
        only = "" if count == len(lost.removed) else f" in {count} of {len(lost.removed)} cases"
        parts.append(
            f"{_names(lost.removed)[0].upper()}{_names(lost.removed)[1:]} went away: {WORDS[why]}{only}{said}."
        )
    told = []
    if lost.tasks is not None and len(lost.tasks):
        verb = "was" if len(lost.tasks) == 1 else "were"
        told.append(f"{counted(len(lost.tasks), 'task attempt')} {verb} lost with it")
    if lost.fetches is not None and len(lost.fetches):
        told.append(f"{counted(len(lost.fetches), 'task attempt')} could not fetch shuffle output")
    if lost.rerun:
        tasks = sum(len(stage) for stage in lost.rerun)
        told.append(f"{counted(tasks, 'task')} of stages that were done ran again ({format_ms(lost.rerun_core_ms)})")
    if told:
        parts.append(f"{'; '.join(told)}.".capitalize())
    if culprit is not None:
        parts.append("The same task ran each time: look at what it does, not at the cluster.")
    if ended:
        parts.append(
            f"That ended {'job' if len(ended) == 1 else 'jobs'} {', '.join(str(j.job_id) for j in ended[:5])}."
        )
    return " ".join(parts)


def _where(run: Run, lost: LostWork, ended: list[FailedJob], culprit: tuple[int, int] | None) -> Where:
    key = None
    if ended:
        key = ended[0].key
    elif lost.fetches is not None and len(lost.fetches):
        key = lost.fetches.stages()[0] if lost.fetches.stages() else None
    elif lost.tasks is not None and lost.tasks.stages():
        key = lost.tasks.stages()[0]
    place = place_of(places(run), key).where if key is not None else Where()
    first = lost.removed[0] if lost.removed else None
    return Where(
        sql=place.sql,
        job=ended[0].job_id if ended else place.job,
        stage=place.stage,
        stage_attempt=place.stage_attempt,
        executor=first.executor_id if first else None,
        host=first.host if first else None,
    )


def _evidence(run: Run, lost: LostWork, culprit: tuple[int, int] | None) -> Iterator[Evidence]:
    start_ms = run.application.app_start_ms
    for one in lost.removed[:3]:
        at = f" {format_ms(one.removed_ms - start_ms)} after the start" if start_ms is not None else ""
        where = f" on {one.host}" if one.host else ""
        said = f": {one.reason[:200]}" if one.reason else ""
        yield Evidence(
            f"executor {one.executor_id}{where} was removed{at}{said}",
            "executors.removed_ms, executors.removed_reason",
            one.removed_ms - start_ms if start_ms is not None else None,
            "ms",
        )
    if len(lost.removed) > 3:
        whys = Counter(one.why for one in lost.removed)
        told = ", ".join(f"{count}: {WORDS[why]}" for why, count in whys.most_common())
        yield Evidence(f"{len(lost.removed)} executors in all ({told})", "executors.removed_reason", len(lost.removed))
    for part, text in ((lost.tasks, "ended with an executor"), (lost.fetches, "failed to fetch shuffle output")):
        if part is not None and len(part):
            yield Evidence(
                f"{counted(len(part), 'task attempt')} {text}, after {format_ms(part.core_ms)} in all",
                "tasks.status, tasks.reason, tasks.launch_ms, tasks.finish_ms",
                round(part.core_ms),
                "ms",
            )
    for stage in lost.rerun[:3]:
        ms = float(np.nansum(stage.durations_ms()))
        yield Evidence(
            f"stage {stage.key[0]} had succeeded and ran again (attempt {stage.key[1]}): "
            f"{counted(len(stage), 'task')}, {format_ms(ms)} of core time",
            "stages.stage_attempt, stages.status, tasks.launch_ms, tasks.finish_ms",
            round(ms),
            "ms",
        )
    if culprit is not None:
        yield Evidence(
            f"task {culprit[1]} of stage {culprit[0]} was running on each executor that was lost",
            "tasks.task_index, tasks.executor_id",
        )


RULE = Rule(
    code="H3",
    name="lost-executors",
    since="0.1",
    reads=(Reads(TASKS, ("status",)), Reads(STAGES), Reads(JOBS), Reads(EXECUTORS)),
    limits=Limits(),
    check=check,
)
