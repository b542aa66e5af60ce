"""What the loss of executors cost in wall time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from emberscope.rules.executors.lost_work import LostWork, durations_without
from emberscope.rules.price import Price, priced
from emberscope.simulate.replay import StageRun, makespan_ms, timeline
from emberscope.simulate.stage_figures import stage_figures
from emberscope.units import format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


def loss_price(run: Run, lost: LostWork) -> Price:
    """By replay without the attempts that failed and the tasks that ran again; and, where nothing else ran meanwhile,
    the time from the first start of each stage that failed to its last end, less what its tasks alone take on the cores
    that it had. The replay knows nothing of a stage that waits for its own second attempt, so the larger counts."""
    parts = [part for part in (lost.tasks, lost.fetches) if part is not None]
    changed = {**durations_without(run, parts), **{stage.key: np.zeros(0) for stage in lost.rerun}}
    price = priced(run, changed, "Without the attempts that failed and the tasks that ran again.")
    application = timeline(run)
    if application is None or price.wall_ms is None:
        return price
    again = {stage.key for stage in lost.rerun}
    total, words = 0.0, []
    for stage_id in sorted({key[0] for part in parts for key in part.stages()}):
        attempts = [one for one in application.stages if one.key[0] == stage_id and one.key not in again]
        if not attempts:
            continue
        start, end = min(one.start_ms for one in attempts), max(one.end_ms for one in attempts)
        if any(_meanwhile(one, stage_id, start, end) and one.key not in again for one in application.stages):
            continue
        alone = _alone_ms(run, stage_id, max(one.slots for one in attempts))
        failed = min(float(np.nanmin(part.numbers("launch_ms"))) for part in parts if len(part))
        total += min(max(0.0, end - start - alone), max(0.0, end - failed))
        words.append(
            f"stage {stage_id} took {format_ms(end - start)} from its first start to its last end, its tasks "
            f"alone take {format_ms(alone)}"
        )
    length = application.end_ms - application.start_ms
    if round(min(total, length)) <= price.wall_ms:
        return price
    return Price(round(min(total, length)), f"Nothing else ran meanwhile: {'; '.join(words[:3])}.")


def _meanwhile(one: StageRun, stage_id: int, start: float, end: float) -> bool:
    """Whether another stage ran for a while between these times."""
    return one.key[0] != stage_id and min(one.end_ms, end) - max(one.start_ms, start) > 0.05 * (end - start)


def _alone_ms(run: Run, stage_id: int, slots: int) -> float:
    """How long the tasks of a stage that succeeded, of all its attempts, take on so many slots."""
    figures = stage_figures(run)
    assert figures is not None
    durations = [
        one.durations_ms()[one.columns.flags("status", "success")[one.rows]]
        for one in figures.stages
        if one.key[0] == stage_id
    ]
    lengths = np.concatenate(durations)
    return makespan_ms(lengths[~np.isnan(lengths)], slots)
