"""The total of one metric of a plan over the stages of its execution."""

from __future__ import annotations

from collections.abc import Sequence

from emberscope.eventlog.accumulables import StageValue
from emberscope.eventlog.sql_retries import RepeatedTasks


def totals(
    accumulator_id: int, values: Sequence[StageValue], own: Sequence[StageValue], repeated: RepeatedTasks, cached: bool
) -> tuple[int | None, int | None]:
    """The total over all task attempts, and that of the last attempts, as Spark's pages show it. Null: none counted.

    `values` are those of all stages, `own` those of the execution, both in the order in which the stages completed. An
    accumulator counts on over the stages that share it. Spark sets those of a plan to 0 before it runs again, but not
    those of a `cached` plan: there, what other executions counted before is taken off.
    """
    before = 0
    if cached and own and own[0].value is not None:
        at = values.index(own[0])
        before = max((value.value or 0 for value in values[:at]), default=0)
    total: int | None = None
    shown: int | None = None
    last = before
    repeats: set[int] = set()
    for stage_id, stage_attempt, value in own:
        if value is None:
            continue
        # Stages complete in another order than they count only where they run at the same time.
        added = max(0, value - last)
        last = max(last, value)
        total = (total or 0) + added
        if repeated.repeated_stage(stage_id):
            repeats.add(stage_id)
        elif stage_attempt == 0:
            shown = (shown or 0) + added - repeated.not_shown(stage_id).get(accumulator_id, 0)
    for stage_id in repeats:
        in_last = repeated.last_attempt(stage_id).get(accumulator_id)
        if in_last is not None:
            shown = (shown or 0) + in_last
    return total, shown
