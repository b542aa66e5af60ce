"""What any application takes to start: time that rules about idle drivers and executors leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.simulate.cores import core_steps
from emberscope.simulate.shares import Steps

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# Spark's own start and the first plan may take so long after the first executor came, or as long as that took where the
# machine is slow (our proposal).
START_MS: Final = 30_000


def started_ms(run: Run, pieces: Steps) -> float:
    """Until when (epoch ms) the application only started: its first job, or some time after its first executor."""
    changes, active = core_steps(run), np.flatnonzero(pieces.jobs > 0)
    begin, end = float(pieces.edges[0]), float(pieces.edges[-1])
    first_job = float(pieces.edges[active[0]]) if len(active) else end
    first_executor = begin if changes is None else max(begin, float(changes[0][0]))
    return min(first_job, first_executor + max(START_MS, first_executor - begin))
