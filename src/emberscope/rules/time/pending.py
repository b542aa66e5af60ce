"""Tasks that waited to be launched while their stage ran: how many, in each piece of the application's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.simulate.shares import active, steps
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class Pending(Struct, frozen=True):
    """Each array has a place for each piece of `steps`: the cores for which first attempts of tasks waited, and of
    these what idle cores could have run."""

    cores: NDArray[np.float64]
    held_back: NDArray[np.float64]


@once
def pending(run: Run) -> Pending | None:
    """None where times or executors are not known.

    A task waits from the submission of its stage until its launch; what is started again or as a copy does not count.
    """
    pieces, figures = steps(run), stage_figures(run)
    if pieces is None or pieces.cores is None or figures is None:
        return None
    columns = figures.columns
    submitted = _submitted(run)
    begins = np.array([submitted.get(key, np.nan) for key in figures.keys], dtype=np.float64)
    cpus = np.array([stage.cpus for stage in figures.stages], dtype=np.int64)
    row = np.repeat(np.arange(len(figures.stages)), figures.counts)
    launched = columns.numbers("launch_ms")
    first = np.nan_to_num(columns.numbers("attempt")) == 0
    first &= ~columns.flags("status", "killed")
    waited = first & ~np.isnan(begins[row]) & (launched > begins[row])
    begin, end, weight = begins[row][waited], launched[waited], cpus[row][waited]
    # Launches are edges of pieces, submissions of stages are not: the middle of a piece stands for it.
    middles = (pieces.edges[:-1] + pieces.edges[1:]) / 2
    cores = active(middles, begin, end, weight).astype(np.float64)
    idle = np.maximum(0.0, (pieces.cores - pieces.occupied).astype(np.float64))
    return Pending(cores, np.minimum(cores, idle))


def _submitted(run: Run) -> dict[tuple[int, int], float]:
    table = run.tables.get("stages")
    if table is None:
        return {}
    columns = [table[name].to_pylist() for name in ("stage_id", "stage_attempt", "submitted_ms")]
    return {(stage, attempt): ms for stage, attempt, ms in zip(*columns, strict=True) if ms is not None}
