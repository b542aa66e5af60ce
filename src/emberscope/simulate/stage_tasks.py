"""The tasks of each stage attempt as numpy columns: what the simulator, the rules and the report reckon with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

StageKey = tuple[int, int]

_ORDER: Final = ("stage_id", "stage_attempt", "launch_ms", "task_id", "finish_ms")


@dataclass(frozen=True, slots=True)
class StageTasks:
    """Ended task attempts of one stage attempt, ordered by launch and task id whatever the order of the rows."""

    key: StageKey
    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as float64; NaN where it is not known."""
        return np.asarray(self.table[name].cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)

    def amounts(self, name: str) -> NDArray[np.float64]:
        """A column of times or sizes as float64, 0 where it is not known: for sums only."""
        return np.nan_to_num(self.numbers(name))

    def texts(self, name: str) -> list[Any]:
        return list(self.table[name].to_pylist())

    def where(self, mask: NDArray[np.bool_]) -> StageTasks:
        """Only the tasks at which `mask` is true."""
        return StageTasks(self.key, self.table.filter(pa.array(mask)))

    def succeeded(self) -> StageTasks:
        """Only attempts that succeeded and carry metrics."""
        return self.where(has_status(self.table, "success") & ~np.isnan(self.numbers("executor_run_time_ms")))

    def durations_ms(self) -> NDArray[np.float64]:
        """Launch to end of each task; NaN where one of them is not known."""
        lengths: NDArray[np.float64] = self.numbers("finish_ms") - self.numbers("launch_ms")
        return np.where(lengths < 0, np.nan, lengths)

    def shuffle_read_bytes(self) -> NDArray[np.float64]:
        return self.amounts("shuffle_read_local_bytes") + self.amounts("shuffle_read_remote_bytes")

    def read_bytes(self) -> NDArray[np.float64]:
        """Input and shuffle read of each task."""
        return self.amounts("input_bytes") + self.shuffle_read_bytes()

    def read_records(self) -> NDArray[np.float64]:
        return self.amounts("input_records") + self.amounts("shuffle_read_records")


def has_status(table: pa.Table, status: str) -> NDArray[np.bool_]:
    """Which rows of a table (tasks, jobs, stages) have this status."""
    equal = pc.fill_null(pc.equal(table["status"], status), False)
    return np.asarray(equal.to_numpy(zero_copy_only=False), dtype=np.bool_)


def stage_tasks(run: Run) -> Sequence[StageTasks]:
    """Every stage attempt that has ended tasks, by stage and attempt. Empty where the run has no table `tasks`."""
    table = run.tables.get("tasks")
    if table is None or table.num_rows == 0:
        return ()
    table = table.sort_by([(name, "ascending") for name in _ORDER])
    keys = np.column_stack([table[name].fill_null(-1).to_numpy() for name in ("stage_id", "stage_attempt")])
    starts = np.flatnonzero(np.any(np.diff(keys, axis=0), axis=1)) + 1
    bounds = [0, *starts.tolist(), len(keys)]
    return [
        StageTasks((int(keys[first][0]), int(keys[first][1])), table.slice(first, last - first))
        for first, last in pairwise(bounds)
    ]
