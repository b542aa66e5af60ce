"""The tasks of each stage attempt as numpy columns: what the simulator, the rules and the report reckon with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.simulate.task_cpus import default_task_cpus, is_multiplied, task_cpus
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

StageKey = tuple[int, int]

_AMOUNTS: Final = ("_ms", "_ns", "_bytes", "_records")

# Rows are ordered by these, the first one first, whatever their order in the table.
_ORDER: Final = ("stage_id", "stage_attempt", "launch_ms", "task_id", "finish_ms")


@dataclass(frozen=True, slots=True)
class TaskColumns:
    """Table `tasks` in the order of stages, attempts and launches; each column is made when it is asked for first."""

    table: pa.Table
    order: NDArray[np.int64]
    made: dict[str, NDArray[Any]] = field(default_factory=dict, repr=False)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as float64; NaN where it is not known. No amount is below 0: what a clock set back made so is not
        known."""
        if name not in self.made:
            column = self.table[name].cast(pa.float64(), safe=False).to_numpy()
            values = np.asarray(column, dtype=np.float64)[self.order]
            self.made[name] = np.where(values < 0, np.nan, values) if name.endswith(_AMOUNTS) else values
        return self.made[name]

    def amounts(self, name: str) -> NDArray[np.float64]:
        """A column of times or sizes as float64, 0 where it is not known: for sums only."""
        made = f"{name} or 0"
        if made not in self.made:
            self.made[made] = np.nan_to_num(self.numbers(name))
        return self.made[made]

    def flags(self, name: str, value: str) -> NDArray[np.bool_]:
        """At which tasks a column of texts has this value."""
        made = f"{name}={value}"
        if made not in self.made:
            self.made[made] = _equal(self.table, name, value)[self.order]
        return self.made[made]

    def durations_ms(self) -> NDArray[np.float64]:
        """Launch to end of each task; NaN where one of them is not known, or the end comes first."""
        if "durations" not in self.made:
            lengths = self.numbers("finish_ms") - self.numbers("launch_ms")
            self.made["durations"] = np.where(lengths < 0, np.nan, lengths)
        return self.made["durations"]

    def good(self) -> NDArray[np.bool_]:
        """The attempts that succeeded and carry metrics."""
        if "good" not in self.made:
            self.made["good"] = self.flags("status", "success") & ~np.isnan(self.numbers("executor_run_time_ms"))
        return self.made["good"]


@dataclass(frozen=True, slots=True)
class StageTasks:
    """Ended task attempts of one stage attempt, ordered by launch and task id whatever the order of the rows.

    `rows` are their places in `columns`, `cpus` the cores that each of them occupies.
    """

    key: StageKey
    columns: TaskColumns
    rows: slice | NDArray[np.int64]
    cpus: int = 1
    run_time_divisor: int = 1

    def __len__(self) -> int:
        return self.rows.stop - self.rows.start if isinstance(self.rows, slice) else len(self.rows)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as float64; NaN where it is not known."""
        return self.columns.numbers(name)[self.rows]

    def amounts(self, name: str) -> NDArray[np.float64]:
        """A column of times or sizes as float64, 0 where it is not known: for sums only."""
        return self.columns.amounts(name)[self.rows]

    def texts(self, name: str) -> list[Any]:
        places = pa.array(self.columns.order[self.rows])
        return list(self.columns.table[name].take(places).to_pylist())

    def where(self, mask: NDArray[np.bool_]) -> StageTasks:
        """Only the tasks at which `mask` is true."""
        rows = np.arange(self.rows.start, self.rows.stop) if isinstance(self.rows, slice) else self.rows
        return StageTasks(self.key, self.columns, rows[mask], self.cpus, self.run_time_divisor)

    def succeeded(self) -> StageTasks:
        """Only attempts that succeeded and carry metrics."""
        return self.where(self.columns.good()[self.rows])

    def run_ms(self) -> NDArray[np.float64]:
        """Wall time in the body of each task; 0 where it is not known."""
        return self.amounts("executor_run_time_ms") / self.run_time_divisor

    def durations_ms(self) -> NDArray[np.float64]:
        """Launch to end of each task; NaN where one of them is not known."""
        return self.columns.durations_ms()[self.rows]

    def shuffle_read_bytes(self) -> NDArray[np.float64]:
        return self.amounts("shuffle_read_local_bytes") + self.amounts("shuffle_read_remote_bytes")

    def read_bytes(self) -> NDArray[np.float64]:
        """Input and shuffle read of each task."""
        return self.amounts("input_bytes") + self.shuffle_read_bytes()

    def read_records(self) -> NDArray[np.float64]:
        return self.amounts("input_records") + self.amounts("shuffle_read_records")


def has_status(table: pa.Table, status: str) -> NDArray[np.bool_]:
    """Which rows of a table (tasks, jobs, stages) have this status."""
    return _equal(table, "status", status)


def _equal(table: pa.Table, name: str, value: str) -> NDArray[np.bool_]:
    equal = pc.fill_null(pc.equal(table[name], value), False)
    return np.asarray(equal.to_numpy(zero_copy_only=False), dtype=np.bool_)


@once
def stage_tasks(run: Run) -> Sequence[StageTasks]:
    """Every stage attempt that has ended tasks, by stage and attempt. Empty where the run has no table `tasks`."""
    table = run.tables.get("tasks")
    if table is None or table.num_rows == 0:
        return ()
    keys = [table[name].fill_null(-1).to_numpy() for name in _ORDER[:2]]
    rest = [table[name].cast(pa.float64(), safe=False).to_numpy() for name in _ORDER[2:]]
    order = np.lexsort((*reversed(rest), *reversed(keys)))
    stages, attempts = keys[0][order], keys[1][order]
    starts = np.flatnonzero((np.diff(stages) != 0) | (np.diff(attempts) != 0)) + 1
    columns = TaskColumns(table, order)
    usual, others, multiplied = default_task_cpus(run), task_cpus(run), is_multiplied(run)
    found = []
    for first, last in pairwise([0, *starts.tolist(), len(order)]):
        key = (int(stages[first]), int(attempts[first]))
        cpus = others.get(key, usual)
        found.append(StageTasks(key, columns, slice(first, last), cpus, cpus if multiplied else 1))
    return found
