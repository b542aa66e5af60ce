"""Which stages are long enough to be told of, and how their tasks would run with some of their time taken off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.simulate.stage_figures import StageFigures

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.simulate.stage_tasks import StageTasks
    from emberscope.tables.run import Run

# A stage is told of from this wall time on, or from this share of the application on (our proposal).
LEAST_WALL_MS: Final = 10_000
LEAST_APP_RATIO: Final = 0.01


def long_stages(run: Run, figures: StageFigures) -> NDArray[np.bool_]:
    """By stage attempt, whether it took long enough by itself, or as a share of the application."""
    length_ms = run.application.observed_ms
    least_ms = LEAST_WALL_MS if length_ms is None else min(LEAST_WALL_MS, LEAST_APP_RATIO * length_ms)
    long: NDArray[np.bool_] = np.nan_to_num(figures.wall_ms) >= max(1.0, least_ms)
    return long


def ratios(parts: NDArray[np.float64], wholes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Part over whole, 0 where there is no whole."""
    return np.divide(parts, wholes, out=np.zeros_like(parts, dtype=np.float64), where=wholes > 0)


def shortened(stage: StageTasks, less_ms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Durations of the stage's tasks with so much taken off each, in launch order, unknown ones left out."""
    durations = stage.durations_ms()
    shorter: NDArray[np.float64] = np.maximum(0.0, durations - less_ms)[~np.isnan(durations)]
    return shorter
