"""State that nothing removes, a watermark that stands still, rows that came after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from emberscope.rules.base import Advice, Evidence, Finding
from emberscope.rules.streaming.batches import Batches
from emberscope.rules.streaming.finding import finding
from emberscope.units import format_bytes, format_count, format_ms

if TYPE_CHECKING:
    from emberscope.rules.streaming.streaming_query import Limits


def state(query: Batches, limits: Limits) -> Iterator[Finding]:
    rows, memory = query.numbers("state_rows"), query.numbers("state_memory_bytes")
    removed = query.total("state_rows_removed")
    known = rows[~np.isnan(rows)]
    if len(known) < limits.least_batches:
        return
    third = len(known) // 3
    first, last = float(known[:third].mean()), float(known[-third:].mean())
    most_bytes = float(np.nanmax(memory)) if not np.isnan(memory).all() else 0.0
    small = most_bytes < limits.state_bytes and last < limits.state_rows
    if small or last < limits.state_grown * max(1.0, first) or np.mean(np.diff(known) >= 0) < 0.9:
        return
    if removed > 0.05 * (known[-1] - known[0]):
        return
    yield finding(
        f"The state of streaming query {query.name} only grows",
        f"Streaming query {query.name} held {format_count(known[0])} rows of state at first and "
        f"{format_count(known[-1])} at last ({format_bytes(most_bytes)}); hardly any were removed.",
        [
            Evidence(
                f"state rows grew from {format_count(known[0])} to {format_count(known[-1])} over {len(known)} batches",
                "streaming_batches.state_rows",
                float(known[-1]),
                "rows",
            ),
            Evidence(
                f"{format_count(removed)} rows of state were removed",
                "streaming_batches.state_rows_removed",
                removed,
                "rows",
            ),
        ],
        (
            Advice(
                "code",
                "Give the state an end: `withWatermark` on the event time and a grouping by a window of it, a time "
                "bound in the condition of a stream join, or a timeout for state that you manage yourself.",
            ),
            Advice(
                "check",
                "If it has to be this large, keep it outside of the heap: the RocksDB state store (setting "
                "spark.sql.streaming.stateStore.providerClass; it needs a new checkpoint).",
            ),
        ),
        consequence="risk",
        confidence=0.7,
    )


def watermark(query: Batches, limits: Limits) -> Iterator[Finding]:
    started, marks, rows = (query.numbers(name) for name in ("started_ms", "watermark_ms", "input_rows"))
    known = (marks > 0) & (rows > 0)
    if known.sum() < limits.least_batches:
        return
    started, lag = started[known], started[known] - marks[known]
    passed, grown = float(started[-1] - started[0]), float(lag[-1] - lag[0])
    if lag[-1] < limits.watermark_ms or passed <= 0 or grown < 0.5 * passed:
        return
    yield finding(
        f"The watermark of streaming query {query.name} stands {format_ms(float(lag[-1]))} back and hardly moves",
        f"Streaming query {query.name}: in {format_ms(passed)} the watermark moved by {format_ms(passed - grown)}. "
        "Until it moves, no window is finished and no state is dropped.",
        [
            Evidence(
                f"the watermark was {format_ms(float(lag[0]))} back at first and {format_ms(float(lag[-1]))} at last",
                "streaming_batches.started_ms, watermark_ms",
                float(lag[-1]),
                "ms",
            )
        ],
        (
            Advice(
                "check",
                "Look for the input whose event times stand still: of several streams the slowest decides "
                "(spark.sql.streaming.multipleWatermarkPolicy is min), so one that is silent holds back all.",
            ),
        ),
        consequence="risk",
        confidence=0.6,
    )


def late(query: Batches, limits: Limits) -> Iterator[Finding]:
    late, rows = query.total("rows_dropped_by_watermark"), query.total("input_rows")
    if late < limits.late_rows or late < limits.late_ratio * rows:
        return
    yield finding(
        f"Streaming query {query.name} dropped {format_count(late)} rows that came too late",
        f"Streaming query {query.name}: {format_count(late)} rows were older than the watermark and are missing in the "
        f"result; {format_count(rows)} rows were read. The count is of rows as they reach the operators with state.",
        [
            Evidence(
                f"{format_count(late)} rows came after the watermark",
                "streaming_batches.rows_dropped_by_watermark",
                late,
                "rows",
            )
        ],
        (
            Advice(
                "code",
                "If these rows matter, let the watermark wait longer: the second argument of `withWatermark` has to be "
                "larger than the usual delay of events. State is then kept for that much longer.",
            ),
        ),
        consequence="lost",
        confidence=0.8,
    )
