"""Where the wall time went: parts that sum exactly to the application's duration, the last one what nothing explains.

Each instant is shared out over the cores (`simulate/shares.py`). A task's share is split by its own task metrics,
by the ms of its life: scheduling and (de)serialization around the body; in the body CPU time first, then, of the rest,
garbage collection, waiting for shuffle blocks, writing shuffle files, waiting for Python workers and (estimated from
bytes, `rules/spill_time.py`) waiting for the disk to spill, each cut to what is left, so that nothing counts twice. CPU
time is split by operator where the run was recorded. A task that never ended has no metrics and is a part
of its own; an ended task without metrics and rounding go to `residual`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from emberscope.report.cpu_split import cpu_split
from emberscope.report.machine import machine_words
from emberscope.report.outcome import is_told
from emberscope.rules.python_time import python_ms_by_task
from emberscope.rules.spill_time import disk_wait_ms
from emberscope.simulate.shares import Shares, shares
from emberscope.simulate.stage_tasks import has_status
from emberscope.simulate.task_cpus import run_ms_by_task
from emberscope.units import format_ms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

LABELS: Final[Mapping[str, str]] = {
    "driver_alone": "driver alone, no job",
    "waiting_for_executors": "waiting for executors",
    "scheduling": "scheduling, no task running",
    "cpu": "CPU in tasks",
    "python": "waiting for Python",
    "gc": "garbage collection",
    "shuffle_fetch_wait": "waiting for shuffle data",
    "shuffle_write": "writing shuffle files",
    "spill": "waiting for disk to spill, estimated",
    "task_overhead": "starting and ending tasks",
    "task_wait": "tasks off the CPU, no known wait",
    "task_unsplit": "tasks: CPU or waiting, the log does not tell",
    "failed_attempts": "failed and killed tasks",
    "unended_tasks": "tasks that never ended",
    "idle_cores": "idle cores",
    "residual": "not explained",
}


# Operators with less CPU time than this share of the application are told together.
_LEAST_RATIO: Final = 0.005


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the wall time. `part` is a stable name, `ratio` its share of the duration."""

    part: str
    wall_ms: int
    ratio: float
    note: str = ""

    @property
    def label(self) -> str:
        """The part in words."""
        if self.part in LABELS:
            return LABELS[self.part]
        return "CPU: " + self.part.removeprefix("cpu_").replace("_", " ")

    @property
    def is_cpu(self) -> bool:
        """Whether it is CPU time of tasks, of one operator or of all that are not split."""
        return self.part == "cpu" or self.part.startswith("cpu_")

    @property
    def operator(self) -> str:
        """The operator, or family of code, whose CPU time it is; empty where it is no such thing, or many."""
        named = self.part.startswith("cpu_") and self.part not in ("cpu_other", "cpu_none")
        return self.part.removeprefix("cpu_").replace("_", " ") if named else ""

    def document(self) -> dict[str, Any]:
        return {"part": self.part, "wall_ms": self.wall_ms, "ratio": round(self.ratio, 6)}


def waterfall(run: Run) -> tuple[Part, ...]:
    """The parts in the order in which they are read: the driver, the tasks (CPU by operator, largest first), the idle
    cores, the residual. Empty parts are left out, the residual never. Empty where the application's times are unknown,
    and where only its logs were read.
    """
    owned = None if is_told(run) else shares(run)
    if owned is None:
        return ()
    amounts: dict[str, float] = {
        "driver_alone": owned.driver_ms,
        "waiting_for_executors": owned.without_executor_ms,
        "scheduling": owned.waiting_ms,
    }
    for name, wall_ms in _task_parts(run, owned).items():
        amounts[name] = amounts.get(name, 0.0) + wall_ms
    amounts["unended_tasks"] = owned.unended_ms
    amounts["idle_cores"] = owned.idle_ms
    amounts["residual"] = max(0.0, owned.duration_ms - sum(amounts.values()))
    whole = _rounded(amounts, owned.duration_ms)
    notes = _notes(run, owned)
    return tuple(
        Part(name, wall_ms, wall_ms / owned.duration_ms, notes.get(name, ""))
        for name, wall_ms in whole.items()
        if wall_ms > 0 or name == "residual"
    )


def _notes(run: Run, owned: Shares) -> dict[str, str]:
    between = owned.driver_ms - owned.before_first_job_ms - owned.after_last_job_ms
    text = (
        f"{format_ms(owned.before_first_job_ms)} before the first job, {format_ms(between)} between jobs, "
        f"{format_ms(owned.after_last_job_ms)} after the last"
    )
    return {
        "driver_alone": text,
        "task_wait": "; ".join(
            filter(None, ("other processes on the machine, disk, network or locks", machine_words(run)))
        ),
        "task_unsplit": "the log has no CPU time of these tasks, as Spark before 2.1 wrote none",
        "unended_tasks": "they still ran when their executor was lost or the log ends; Spark logs metrics at the end",
    }


def _task_parts(run: Run, owned: Shares) -> dict[str, float]:
    """The wall time that tasks own, by part. What is in none of the parts is left to the residual."""
    tasks = run.tables.get("tasks")
    if tasks is None or tasks.num_rows == 0:
        return {}

    def amounts(name: str, unit: float = 1.0) -> NDArray[np.float64]:
        return np.maximum(np.nan_to_num(np.asarray(tasks[name].to_numpy(), dtype=np.float64)), 0.0) * unit

    known = ~np.isnan(np.asarray(tasks["executor_run_time_ms"].to_numpy(), dtype=np.float64))
    good = has_status(tasks, "success")
    life = np.nan_to_num(
        np.asarray(tasks["finish_ms"].to_numpy(), dtype=np.float64)
        - np.asarray(tasks["launch_ms"].to_numpy(), dtype=np.float64)
    )
    life = np.maximum(life, 0.0)
    left = np.minimum(np.maximum(np.nan_to_num(run_ms_by_task(run)), 0.0), life)  # of the body, not yet given to a part
    overhead = life - left
    pieces: dict[str, NDArray[np.float64]] = {}
    for name, wanted in (
        ("cpu", amounts("executor_cpu_time_ns", 1e-6)),
        ("gc", amounts("gc_time_ms")),
        ("shuffle_fetch_wait", amounts("shuffle_fetch_wait_ms")),
        ("shuffle_write", amounts("shuffle_write_time_ns", 1e-6)),
        ("python", python_ms_by_task(run)),
        ("spill", disk_wait_ms(amounts("disk_spilled_bytes"))),
    ):
        pieces[name] = np.minimum(wanted, left)
        left = left - pieces[name]
    # Spark before 2.1 logs no CPU time: what is left is work and waits in one, and no wait for Python can be told.
    timed = ~np.isnan(np.asarray(tasks["executor_cpu_time_ns"].to_numpy(), dtype=np.float64))
    pieces["task_wait"] = np.where(timed, left, 0.0)
    pieces["task_unsplit"] = np.where(timed, 0.0, left)
    pieces["task_overhead"] = overhead
    weight = np.divide(owned.task_ms, life, out=np.zeros_like(life), where=life > 0)
    weight = np.where(known & good, weight, 0.0)
    wall = {name: piece * weight for name, piece in pieces.items()}
    cpu = wall.pop("cpu")
    parts = _by_size(cpu_split(run, cpu), _LEAST_RATIO * owned.duration_ms)
    parts.update({name: float(values.sum()) for name, values in sorted(wall.items(), key=lambda i: _order(i[0]))})
    parts["failed_attempts"] = float(owned.task_ms[~good & known].sum())
    return parts


def _by_size(cpu: Mapping[str, float], least_ms: float) -> dict[str, float]:
    """The parts of CPU time, largest first; those under `least_ms` are told together, last."""
    large = {name: wall_ms for name, wall_ms in cpu.items() if wall_ms >= least_ms and name != "cpu"}
    rest = sum(cpu.values()) - sum(large.values())
    name = "cpu_other" if large else "cpu"
    return {**dict(sorted(large.items(), key=lambda item: (-item[1], item[0]))), name: max(0.0, rest)}


def _order(name: str) -> int:
    return list(LABELS).index(name)


def _rounded(amounts: Mapping[str, float], total: int) -> dict[str, int]:
    """Whole numbers that sum to `total`: each rounded down, the ms that are left go to the largest remainders."""
    scale = total / sum(amounts.values()) if sum(amounts.values()) > total else 1.0
    exact = {name: value * scale for name, value in amounts.items()}
    whole = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (-(exact[name] - whole[name]), name))
    for name in by_remainder[: total - sum(whole.values())]:
        whole[name] += 1
    whole["residual"] += total - sum(whole.values())
    return whole
