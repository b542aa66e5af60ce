"""Sums over the tasks of an application, kept while its tasks pass by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.eventlog.events import ABSENT
from emberscope.tables.run import TaskTotals

if TYPE_CHECKING:
    from numpy.typing import NDArray

SUMMED: Final = (
    "executor_run_time_ms",
    "executor_cpu_time_ns",
    "executor_deserialize_time_ms",
    "gc_time_ms",
    "result_size_bytes",
    "memory_spilled_bytes",
    "disk_spilled_bytes",
    "input_bytes",
    "input_records",
    "output_bytes",
    "output_records",
    "shuffle_read_local_bytes",
    "shuffle_read_remote_bytes",
    "shuffle_read_records",
    "shuffle_fetch_wait_ms",
    "shuffle_write_bytes",
    "shuffle_write_records",
)
STATUSES: Final = ("success", "failed", "killed")

_LARGEST: Final = 2**63 - 1


class Totals:
    """Takes batches of tasks in; `result` is the sums over all of them."""

    def __init__(self) -> None:
        self._statuses = np.zeros(len(STATUSES), dtype=np.int64)
        self._with_metrics = 0
        self._sums = dict.fromkeys(SUMMED, 0)
        self._known = dict.fromkeys(SUMMED, 0)

    def add(self, columns: dict[str, NDArray[np.int64]], statuses: NDArray[np.int64]) -> None:
        """A batch: its integer columns, and the positions in `STATUSES`."""
        self._statuses += np.bincount(statuses, minlength=len(STATUSES))
        self._with_metrics += int(columns["has_metrics"].sum())
        for name in SUMMED:
            column = columns[name]
            known = column[column != ABSENT]
            self._known[name] += len(known)
            self._sums[name] += _sum(known)

    def result(self) -> TaskTotals:
        succeeded, failed, killed = self._statuses.tolist()
        sums = {name: self._sums[name] if self._known[name] else None for name in SUMMED}
        return TaskTotals(succeeded, failed, killed, self._with_metrics, sums)


def _sum(values: NDArray[np.int64]) -> int:
    """Exact where the sum is beyond 64 bits, which would come out as another number and not as an error."""
    if len(values) and max(-int(values.min()), int(values.max())) > _LARGEST // len(values):
        return sum(values.tolist())
    return int(values.sum())
