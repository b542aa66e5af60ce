"""How long a write went on after its last task: the commit, in which the driver works alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from emberscope.rules.storage.files import FileWrite, figure, writing_stages

if TYPE_CHECKING:
    from emberscope.tables.run import Run


def commit_ms(run: Run, write: FileWrite) -> float | None:
    """The commit as Spark measured it, or else from the end of the last task to the end of the execution; None where
    neither is known."""
    measured = figure(write.node, "job commit time")
    gap = gap_ms(run, write)
    if measured is not None:
        return measured if gap is None else min(measured, max(gap, 0.0))
    return gap


def gap_ms(run: Run, write: FileWrite) -> float | None:
    """From the end of the last task that wrote to the end of the execution; None where one is not known."""
    ends = [np.nanmax(stage.numbers("finish_ms"), initial=-np.inf) for stage in writing_stages(run, write)]
    last = max(ends, default=-np.inf)
    if write.plan.ended_ms is None or not np.isfinite(last):
        return None
    return max(0.0, write.plan.ended_ms - float(last))
