"""Which tasks a page tells apart: the slowest of each stage, and as many around its median to compare them with."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.profile.flame_tree import SingleTask

if TYPE_CHECKING:
    import pyarrow as pa

SLOW: Final = "slow"
MEDIAN: Final = "median"
MOST: Final = 20
"""Tasks of either kind of one stage."""
_SHARE: Final = 4
"""A stage of fewer than 80 tasks has a quarter of them in either kind, so that these stay two kinds."""


def single_tasks(tasks: pa.Table) -> tuple[SingleTask, ...]:
    """The `MOST` slowest task attempts of each stage by run time and the `MOST` around its median, by stage, then the
    slowest first. No task is of both kinds; one whose run time is not known is of neither.
    """
    known = tasks.select(["stage_id", "task_id", "executor_run_time_ms"]).drop_null()
    stages, ids, run_ms = (known[name].to_numpy() for name in known.column_names)
    order = np.lexsort((ids, -run_ms, stages))
    chosen: list[SingleTask] = []
    starts = np.flatnonzero(np.diff(stages[order], prepend=-1, append=-1))
    for begin, end in pairwise(starts):
        of_stage = order[begin:end]
        count = min(MOST, max(1, len(of_stage) // _SHARE))
        middle = max(count, (len(of_stage) - count + 1) // 2)
        for group, rows in ((SLOW, of_stage[:count]), (MEDIAN, of_stage[middle : middle + count])):
            chosen += [SingleTask(int(ids[row]), int(stages[row]), int(run_ms[row]), group) for row in rows]
    return tuple(chosen)
