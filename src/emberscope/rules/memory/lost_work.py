"""Task attempts that failed for want of memory: how many, where, and what the application lost with them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc
from msgspec import Struct

from emberscope.rules.price import Price, priced
from emberscope.simulate.stage_figures import StageFigures, stage_figures
from emberscope.simulate.stage_tasks import StageKey

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


class LostWork(Struct, frozen=True):
    """Failed attempts, as places in the order of `stage_tasks`. `message` is the error of the first of them in the
    stage that lost most, `said` the line of it that tells why; `core_ms` is launch to end of them all."""

    places: NDArray[np.int64]
    figures: StageFigures
    core_ms: float
    worst_stage: StageKey
    message: str
    said: str

    @property
    def count(self) -> int:
        return len(self.places)

    def price(self, run: Run) -> Price:
        """The application without these attempts."""
        changed = {}
        gone = np.zeros(len(self.figures.columns.order), dtype=np.bool_)
        gone[self.places] = True
        for stage in self.figures.stages:
            mine = gone[stage.rows]
            if mine.any():
                durations = stage.durations_ms()
                changed[stage.key] = durations[~mine & ~np.isnan(durations)]
        return priced(run, changed, "Without the attempts that failed so.")


def lost_with(run: Run, pattern: str) -> LostWork | None:
    """The failed attempts whose error matches; None for none."""
    figures = stage_figures(run)
    if figures is None:
        return None
    table = figures.columns.table
    matches = pc.fill_null(pc.match_substring_regex(table["error_message"], pattern), False)
    return _lost(figures, np.asarray(matches.to_numpy(zero_copy_only=False), dtype=np.bool_), pattern)


def ended(run: Run, pattern: str) -> bool:
    """Whether a job failed of an error that matches."""
    jobs = run.tables["jobs"]
    return bool(pc.any(pc.match_substring_regex(jobs["error_message"], pattern)).as_py())


def _lost(figures: StageFigures, matches: NDArray[np.bool_], pattern: str) -> LostWork | None:
    columns = figures.columns
    failed = matches[columns.order] & ~columns.flags("status", "success")
    places = np.flatnonzero(failed)
    if len(places) == 0:
        return None
    lengths = np.nan_to_num(np.maximum(0.0, columns.numbers("finish_ms") - columns.numbers("launch_ms")))
    stage = np.repeat(np.arange(len(figures.stages)), figures.counts)
    by_stage = np.bincount(stage[places], weights=lengths[places] + 1, minlength=len(figures.stages))
    worst = int(np.argmax(by_stage))
    first = places[stage[places] == worst][0]
    message = columns.table["error_message"][int(columns.order[first])].as_py() or ""
    return LostWork(
        places, figures, float(lengths[places].sum()), figures.stages[worst].key, message, _line_with(message, pattern)
    )


def _line_with(text: str, pattern: str) -> str:
    """The line in which the pattern is found, cut to a length that can be read."""
    found = re.search(pattern, text)
    if found is None:
        return ""
    begin, end = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
    return text[begin : end if end >= 0 else None].strip()[:160]
