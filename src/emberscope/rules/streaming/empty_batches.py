"""Batches that read no rows, and what their tasks cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from emberscope.rules.base import Advice, Evidence, Finding, set_conf
from emberscope.rules.settings import is_on
from emberscope.rules.streaming.batches import Batches
from emberscope.rules.streaming.finding import finding
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.run import once
from emberscope.units import format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.rules.streaming.streaming_query import Limits
    from emberscope.tables.run import Run


def empty(run: Run, query: Batches, limits: Limits) -> Iterator[Finding]:
    mask = query.numbers("input_rows") == 0
    empty = query.where(mask)
    took_ms = empty.total("duration_ms")
    if len(query) < limits.empty_batches or len(empty) < limits.empty_ratio * len(query) or took_ms < limits.empty_ms:
        return
    task_ms = _task_ms(run)
    ids = empty.numbers("batch_id").astype(np.int64).tolist()
    core_ms = sum(task_ms.get((query.query_id, batch), 0.0) for batch in ids)
    has_state = query.total("state_rows") > 0
    advice = [
        Advice(
            "code",
            "Use a longer trigger, such as `.trigger(processingTime='1 minute')`, or `availableNow` on a schedule "
            "where results may be that old.",
        )
    ]
    if has_state and is_on(run, "spark.sql.streaming.noDataMicroBatches.enabled", default=True):
        advice.append(
            set_conf(
                "spark.sql.streaming.noDataMicroBatches.enabled",
                "false",
                "Queries with state run a batch without rows to finish windows and timeouts. Without it these wait for "
                "the next rows.",
            )
        )
    yield finding(
        f"{format_ratio(len(empty) / len(query))} of the batches of streaming query {query.name} had no rows",
        f"Streaming query {query.name}: {format_count(len(empty))} of {format_count(len(query))} batches read no row "
        f"and took {format_ms(took_ms)} together.",
        [
            Evidence(
                f"{format_count(len(empty))} of {format_count(len(query))} batches read no row",
                "streaming_batches.input_rows",
                len(empty) / len(query),
                "ratio",
            ),
            Evidence(
                f"their tasks ran for {format_ms(core_ms)}",
                "jobs.streaming_batch_id, tasks.executor_run_time_ms",
                round(core_ms),
                "ms",
            ),
        ],
        tuple(advice),
        core_ms=round(core_ms),
        consequence="hint",
        confidence=0.8,
    )


@once
def _task_ms(run: Run) -> dict[tuple[str | None, int], float]:
    """Run time of the tasks by query and batch."""
    jobs = run.tables.get("jobs")
    if jobs is None:
        return {}
    figures = stage_figures(run)
    if figures is None:
        return {}
    by_stage: dict[int, float] = {}
    for key, total_ms in zip(figures.keys, figures.total("executor_run_time_ms").tolist(), strict=True):
        by_stage[key[0]] = by_stage.get(key[0], 0.0) + total_ms
    found: dict[tuple[str | None, int], float] = {}
    seen: set[int] = set()
    columns = ["job_id", "streaming_query_id", "streaming_batch_id", "stage_ids"]
    for row in sorted(jobs.select(columns).to_pylist(), key=lambda row: row["job_id"] or 0):
        if row["streaming_batch_id"] is None:
            continue
        place = (row["streaming_query_id"], row["streaming_batch_id"])
        stages = [stage for stage in row["stage_ids"] or () if stage not in seen]
        seen.update(stages)
        found[place] = found.get(place, 0.0) + sum(by_stage.get(stage, 0.0) for stage in stages)
    return found
