"""What a change would save, in the words that stand under a finding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.simulate.replay import saving, timeline
from emberscope.simulate.stage_tasks import StageKey

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class Price(Struct, frozen=True):
    """How much earlier the application would end, None where that cannot be said, and how it was reckoned."""

    wall_ms: int | None
    basis: str


def priced(run: Run, changed: Mapping[StageKey, NDArray[np.float64]], how: str = "") -> Price:
    """The price of these stages' tasks having other durations (ms, in launch order), by replay.

    There may be more or fewer of them than before; none at all takes the work of the stage away. `how` is a sentence
    that says what was changed and stands before what the replay says.
    """
    application = timeline(run)
    if application is None:
        return Price(None, "The times of the application are not known, so nothing could be replayed.")
    found = saving(application, changed)
    return Price(found.wall_ms, f"{how} {found.basis}".strip())


def driver_saving(run: Run, ms: float, how: str) -> Price:
    """The price of time in which nothing but the driver worked: all of it, and never more than the application."""
    length_ms = run.application.observed_ms
    if length_ms is None:
        return Price(None, "The times of the application are not known, so it has no price.")
    return Price(round(min(max(0.0, ms), length_ms)), how)
