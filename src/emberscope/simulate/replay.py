"""What a change of some stages' tasks would save: the recorded application is replayed with other task durations.

The model, and what it leaves out:

- Inside a stage: list scheduling. The tasks go, in the order in which they were launched, each to the slot (as many
  cores as a task of the stage occupies) that is free first. A stage that had the cluster to itself has all slots of
  that time; one that shared it, as many as it ever used.
- Between stages: a stage starts when the stages whose output it reads are done (or with its job), plus the delay that
  was recorded. A job starts when every job that was done by then is done, plus the recorded delay: what two threads
  of the driver did side by side stays side by side, and a saving is rather too small than too large.
- Delays of the driver and the scheduler are taken over as recorded. A stage that ends earlier does not lend its cores
  to others.

Only differences between two replays are used, so that an error that both share cancels out.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from emberscope.simulate.cores import most_between, observed_window, slot_steps
from emberscope.simulate.stage_tasks import StageKey, StageTasks, stage_tasks
from emberscope.tables.run import once
from emberscope.units import format_ms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class StageRun(Struct, frozen=True):
    """One stage attempt as it was recorded. Times are epoch ms; durations lie in launch order."""

    key: StageKey
    start_ms: float
    end_ms: float
    job: int | None
    parents: frozenset[int]
    durations_ms: NDArray[np.float64]
    slots: int


class JobRun(Struct, frozen=True):
    """One job as it was recorded."""

    job: int
    start_ms: float
    end_ms: float


class Timeline(Struct, frozen=True):
    """An application as the simulator sees it: jobs and stages by time, and the observed window in epoch ms.

    `replayed_end_ms` is the end of a replay without changes, which savings are measured against.
    """

    start_ms: int
    end_ms: int
    jobs: tuple[JobRun, ...]
    stages: tuple[StageRun, ...]
    replayed_end_ms: float = 0.0


class Ends(Struct, frozen=True):
    """When something ended as recorded and as replayed, in epoch ms."""

    recorded_ms: float
    replayed_ms: float

    def later(self, other: Ends) -> Ends:
        """Both ends of what waits for the two."""
        return Ends(max(self.recorded_ms, other.recorded_ms), max(self.replayed_ms, other.replayed_ms))


class Saving(Struct, frozen=True):
    """What a change is worth. `basis` says in words what was compared."""

    wall_ms: int
    stage_ms: int
    basis: str


@once
def timeline(run: Run) -> Timeline | None:
    """The recorded timeline; None where no task has known times, or no start of the application."""
    window, tasks = observed_window(run), stage_tasks(run)
    if window is None or not tasks:
        return None
    facts = _stage_facts(run)
    steps = {cpus: slot_steps(run, cpus) for cpus in {stage.cpus for stage in tasks}}
    spans = _task_spans(tasks)
    shared = _overlaps_another(spans)
    most_slots = {
        cpus: None if offered is None else most_between(offered, spans[:, 0], spans[:, 1]).tolist()
        for cpus, offered in steps.items()
    }
    stages = []
    for index, (stage, (launched, finished)) in enumerate(zip(tasks, spans.tolist(), strict=True)):
        if np.isnan(launched):
            continue
        submitted, completed, job, parents = facts.get(stage.key, (None, None, None, ()))
        if submitted is not None and completed is not None and completed < submitted:
            submitted = completed = None  # a clock was set: the tasks' own times are left
        start = launched if submitted is None else submitted
        durations = stage.durations_ms()
        most = most_slots[stage.cpus]
        if most is None:
            slots = _peak(stage)
        else:
            # The driver sees a task's end after it has launched the next one: more tasks than slots is an illusion.
            slots = max(1, min(_peak(stage), most[index]) if shared[index] else most[index])
        stages.append(
            StageRun(
                stage.key,
                start,
                max(start, finished if completed is None else completed),
                job,
                frozenset(parents),
                durations[~np.isnan(durations)],
                slots,
            )
        )
    if not stages:
        return None
    stages.sort(key=lambda s: (s.start_ms, s.key))
    application = Timeline(window[0], window[1], _jobs(run, window[1]), tuple(stages))
    return replace(application, replayed_end_ms=end_ms(application, {}))


def saving(application: Timeline, changed: Mapping[StageKey, NDArray[np.float64]]) -> Saving:
    """What the application would save if these stages had these task durations (ms, in launch order)."""
    cuts: dict[StageKey, float] = {}
    words = []
    for stage in application.stages:
        if stage.key not in changed:
            continue
        before = makespan_ms(stage.durations_ms, stage.slots)
        after = makespan_ms(changed[stage.key], stage.slots)
        recorded = stage.end_ms - stage.start_ms
        cuts[stage.key] = min(max(0.0, before - after), recorded)
        words.append(f"stage {stage.key[0]} {format_ms(recorded)} → {format_ms(recorded - cuts[stage.key])}")
    stage_ms = round(sum(cuts.values()))
    wall_ms = max(0, round(application.replayed_end_ms - end_ms(application, cuts)))
    length = application.end_ms - application.start_ms
    what = ", ".join(words[:3]) + (f" and {len(words) - 3} more" if len(words) > 3 else "")
    if stage_ms >= 1 and wall_ms < 0.05 * stage_ms:
        tail = "other work ran until after it, so the application would end at about the same time"
    else:
        tail = f"application {format_ms(length)} → {format_ms(length - wall_ms)}"
    return Saving(wall_ms, stage_ms, f"Replay of the recorded tasks: {what}; {tail}.")


def makespan_ms(durations_ms: NDArray[np.float64], slots: int) -> float:
    """Time until the last of these tasks ends when each goes to the slot that is free first."""
    if len(durations_ms) <= slots:
        return float(durations_ms.max(initial=0.0))
    free = [0.0] * max(1, slots)
    for duration in durations_ms.tolist():
        heapq.heapreplace(free, free[0] + duration)
    return max(free)


def end_ms(application: Timeline, cuts: Mapping[StageKey, float]) -> float:
    """When the application would end (epoch ms) if these stages took so much less time."""
    stages_of: dict[int | None, list[StageRun]] = {}
    for stage in application.stages:
        stages_of.setdefault(stage.job, []).append(stage)
    running: list[tuple[float, float]] = []  # recorded and replayed end of the jobs that were submitted so far
    barrier = Ends(application.start_ms, application.start_ms)  # of those that were done by then
    stage_ends: dict[int, Ends] = {}
    for job in sorted(application.jobs, key=lambda job: (job.start_ms, job.job)):
        while running and running[0][0] <= job.start_ms:
            barrier = barrier.later(Ends(*heapq.heappop(running)))
        start = barrier.replayed_ms + (job.start_ms - barrier.recorded_ms)
        last = Ends(job.start_ms, start)
        for stage in stages_of.get(job.job, ()):
            inputs = [
                stage_ends[parent]
                for parent in stage.parents
                if parent in stage_ends and stage_ends[parent].recorded_ms <= stage.start_ms
            ]
            ready = reduce(Ends.later, inputs) if inputs else Ends(job.start_ms, start)
            begin = ready.replayed_ms + (stage.start_ms - ready.recorded_ms)
            ends = Ends(stage.end_ms, begin + (stage.end_ms - stage.start_ms) - cuts.get(stage.key, 0.0))
            stage_ends[stage.key[0]] = ends
            last = last.later(ends)
        replayed = max(start, last.replayed_ms + (job.end_ms - last.recorded_ms))
        heapq.heappush(running, (job.end_ms, replayed))
    for pair in running:
        barrier = barrier.later(Ends(*pair))
    return barrier.replayed_ms + (application.end_ms - barrier.recorded_ms)


def _jobs(run: Run, window_end_ms: int) -> tuple[JobRun, ...]:
    table = run.tables.get("jobs")
    if table is None:
        return ()
    return tuple(
        JobRun(
            row["job_id"],
            row["submitted_ms"],
            max(row["submitted_ms"], window_end_ms if row["completed_ms"] is None else row["completed_ms"]),
        )
        for row in table.select(["job_id", "submitted_ms", "completed_ms"]).to_pylist()
        if row["job_id"] is not None and row["submitted_ms"] is not None
    )


def _stage_facts(run: Run) -> dict[StageKey, tuple[int | None, int | None, int | None, Sequence[int]]]:
    table = run.tables.get("stages")
    if table is None:
        return {}
    names = ("stage_id", "stage_attempt", "submitted_ms", "completed_ms", "job_id", "parent_ids")
    return {
        (stage, attempt): (submitted, completed, job, parents or ())
        for stage, attempt, submitted, completed, job, parents in zip(
            *(table[name].to_pylist() for name in names), strict=True
        )
    }


def _task_spans(stages: Sequence[StageTasks]) -> NDArray[np.float64]:
    """First launch and last end of each stage's tasks, of which both are known; NaN where there is none."""
    columns, starts = stages[0].columns, np.cumsum([0, *(len(stage) for stage in stages)])[:-1]
    launched, finished = columns.numbers("launch_ms"), columns.numbers("finish_ms")
    unknown = np.isnan(launched) | np.isnan(finished)
    first = np.fmin.reduceat(np.where(unknown, np.nan, launched), starts)
    last = np.fmax.reduceat(np.where(unknown, np.nan, finished), starts)
    return np.column_stack((first, last))


def _overlaps_another(spans: NDArray[np.float64]) -> NDArray[np.bool_]:
    """For each span (start, end) whether another one runs at the same time for a while."""
    order = np.argsort(spans[:, 0], kind="stable")
    starts, ends = spans[order, 0], spans[order, 1]
    ended_before = np.concatenate(([-np.inf], np.fmax.accumulate(ends)[:-1]))
    next_start = np.concatenate((starts[1:], [np.inf]))
    result = np.empty(len(spans), dtype=np.bool_)
    result[order] = (ended_before > starts) | (next_start < ends)
    return result


def _peak(stage: StageTasks) -> int:
    """The largest number of tasks of this stage that ran at one time, at least 1."""
    launched, finished = stage.numbers("launch_ms"), stage.numbers("finish_ms")
    known = ~np.isnan(launched) & ~np.isnan(finished) & (finished > launched)
    times = np.concatenate((launched[known], finished[known]))
    steps = np.concatenate((np.ones(known.sum()), -np.ones(known.sum())))
    order = np.lexsort((steps, times))
    return max(1, int(np.cumsum(steps[order]).max(initial=0)))
