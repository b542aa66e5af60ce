"""A few tasks read their input far more slowly than the others.

## What it means
Tasks of one stage read files at much the same pace, as long as the storage gives them what they ask for. Here a few
tasks got a tenth of the usual bytes per second or less, and used the CPU for less than half of their time: they waited
for storage. One disk, one data node or one hot object was slow, or a store such as S3 slowed its readers down.

## What it costs
The wall time that the application would have saved, by replay, if these tasks had read as fast as the median task; and
the core time that they waited.

## What to do
Look at where the slow files are stored, and at the storage's own figures for that time: throttling ("503 Slow Down" in
the executors' logs), a failing disk, a data node under load. Speculation (`spark.speculation`) starts a second reader
of the same input, which may get another copy of the block. More partitions or more memory do not help.

## When to ignore it
When the input lay in an archive and had to be fetched first, or when the price is small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, set_conf
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.rules.python_time import python_stages
from emberscope.rules.settings import is_on
from emberscope.rules.skew.slow_node import slow_machines
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageTasks
from emberscope.tables.run import once
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_bytes, format_ms, format_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Compass asks for a tenth of the median rate, 10 MB and 5 minutes. We ask for less time, since the price says what
    it is worth, and for little CPU time, without which costly rows would look like slow storage."""

    ratio: float = 10.0  # median rate over the task's (Compass)
    least_bytes: int = 10_000_000  # input of a task that is compared (Compass)
    least_ms: float = 10_000.0  # run time of a slow task (proposal)
    least_app_ratio: float = 0.01  # of the application's wall time (proposal)
    cpu_ratio: float = 0.5  # CPU time over run time: above, the task computed (proposal)
    least_tasks: int = 4  # compared tasks: a median of fewer says nothing (proposal)


class SlowReads(Struct, frozen=True):
    """The slow readers of one stage attempt: `slow` are places in `tasks` (the successes), `rates` bytes per ms of all,
    `usual` the median of those that were compared."""

    tasks: StageTasks
    slow: NDArray[np.int64]
    rates: NDArray[np.float64]
    usual: float


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for found in slow_reads(run):
        yield _finding(run, found)


@once
def slow_reads(run: Run) -> list[SlowReads]:
    """By stage; those of machines that were slow in everything are not among them."""
    figures, limits = stage_figures(run), RULE.limits
    if figures is None:
        return []
    divisors = np.array([stage.run_time_divisor for stage in figures.stages], dtype=np.float64)
    longest = np.nan_to_num(figures.most("executor_run_time_ms")) / divisors
    floor_ms = max(limits.least_ms, limits.least_app_ratio * (run.application.observed_ms or 0))
    worth = (longest >= floor_ms) & (np.nan_to_num(figures.most("input_bytes")) >= limits.least_bytes)
    worth &= figures.counts >= limits.least_tasks
    machines = {executor for one, _ in slow_machines(run) for executor in one.executors} if worth.any() else set()
    found = []
    # Off the CPU in a stage with Python functions is waiting for Python, and not for storage.
    python = python_stages(run) if worth.any() else {}
    for place in np.flatnonzero(worth).tolist():
        if figures.stages[place].key[0] in python:
            continue
        tasks = figures.stages[place].succeeded()
        read, run_ms = tasks.amounts("input_bytes"), np.maximum(1.0, tasks.run_ms())
        compared = (read >= limits.least_bytes) & (tasks.shuffle_read_bytes() < read)
        if compared.sum() < limits.least_tasks:
            continue
        rates = read / run_ms
        usual = float(np.median(rates[compared]))
        cpu_ms = tasks.numbers("executor_cpu_time_ns") / 1e6
        slow = compared & (run_ms >= floor_ms) & (rates * limits.ratio <= usual) & (cpu_ms < limits.cpu_ratio * run_ms)
        slow &= np.array([executor not in machines for executor in tasks.texts("executor_id")])
        if slow.any():
            found.append(SlowReads(tasks, np.flatnonzero(slow), rates, usual))
    return found


def _finding(run: Run, found: SlowReads) -> Finding:
    tasks, slow = found.tasks, found.slow
    place = place_of(places(run), tasks.key)
    read, run_ms = tasks.amounts("input_bytes"), tasks.run_ms()
    worst = int(slow[np.argmin(found.rates[slow])])
    cpu = float(tasks.amounts("executor_cpu_time_ns")[slow].sum() / 1e6 / run_ms[slow].sum())
    durations, waited_ms = _as_usual(run, found)
    price = priced(run, {tasks.key: durations}, "The slow readers read as fast as the median task.")
    hosts = Counter(str(tasks.texts("host")[index]) for index in slow.tolist())
    alone = len(hosts) == 1 and len(set(tasks.texts("host"))) > 1
    task = tasks.numbers("task_id")[worst]
    pace, usual = (f"{format_bytes(rate * 1000)}/s" for rate in (float(found.rates[worst]), found.usual))
    return Finding(
        title=f"{place.title} waited for storage: {counted(len(slow), 'task')} read "
        f"{found.usual / found.rates[worst]:.0f}× slower than the others",
        summary=f"{place.sentence}: a task read {format_bytes(read[worst])} at {pace} where the median task read at "
        f"{usual}, and computed for "
        f"{format_ratio(cpu)} of its time only.",
        where=replace(
            place.where,
            task=None if np.isnan(task) else int(task),
            executor=tasks.texts("executor_id")[worst],
            host=tasks.texts("host")[worst],
        ),
        evidence=(
            Evidence(
                f"the slowest of {counted(len(slow), 'slow reader')} read at {pace}, the median task at {usual}",
                "tasks.input_bytes, tasks.executor_run_time_ms",
                round(found.usual / found.rates[worst], 1),
                "ratio",
            ),
            Evidence(
                f"the slow readers ran {format_ms(float(run_ms[slow].sum()))} and were on the CPU for "
                f"{format_ratio(cpu)} of it",
                "tasks.executor_cpu_time_ns",
                round(cpu, 4),
                "ratio",
            ),
            Evidence(f"they ran on {counted(len(hosts), 'host')}", "tasks.host", len(hosts), "hosts"),
        ),
        advice=tuple(_advice(run, alone, next(iter(hosts)))),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(waited_ms),
        saving_basis=price.basis,
        confidence=0.8,
    )


def _as_usual(run: Run, found: SlowReads) -> tuple[NDArray[np.float64], float]:
    """The durations of all attempts of the stage if the slow ones read at the usual rate, and the time saved."""
    figures = stage_figures(run)
    assert figures is not None
    stage = next(one for one in figures.stages if one.key == found.tasks.key)
    durations = stage.durations_ms()
    ids = found.tasks.numbers("task_id")[found.slow]
    usual_ms = found.tasks.amounts("input_bytes")[found.slow] / found.usual
    quicker = durations.copy()
    for task, spent_ms in zip(ids.tolist(), usual_ms.tolist(), strict=True):
        here = stage.numbers("task_id") == task
        quicker[here] = np.minimum(durations[here], spent_ms)
    known = ~np.isnan(durations)
    return quicker[known], float((durations - quicker)[known].sum())


def _advice(run: Run, alone: bool, host: str) -> Iterator[Advice]:
    yield Advice(
        "check",
        (f"All slow readers ran on host {host}: look at its disks and its network first. " if alone else "")
        + "Look at the storage's figures for that time, and for “Slow Down” and “retry” in the executors' logs.",
    )
    if not is_on(run, "spark.speculation", default=False):
        yield set_conf(
            "spark.speculation",
            "true",
            "Lets Spark start a second reader of the same input elsewhere, which may get another copy. Only where "
            "tasks may run twice (no side effects outside Spark).",
        )


RULE = Rule(
    code="B5",
    name="slow-read",
    since="0.1",
    reads=(Reads(TASKS, ("executor_run_time_ms", "executor_cpu_time_ns")), Reads(STAGES)),
    limits=Limits(),
    check=check,
)
