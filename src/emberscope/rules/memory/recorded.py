"""Peaks of a counter that recordings hold, by process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from emberscope.tables.run import Run

HEAP: Final = "heap_used_bytes"
RSS: Final = "rss_bytes"

PEAKS_RECORD: Final = "spark.eventLog.logStageExecutorMetrics=true (Spark 3.0 and later)"
PROCESSES_RECORD: Final = f"spark.executor.processTreeMetrics.enabled=true and {PEAKS_RECORD}"
"""How event logs come to hold the peaks of heaps, and those of whole processes."""


def recorded_peaks(run: Run, name: str) -> Mapping[str, float]:
    """The largest value of a series by executor (or driver); empty where nothing was recorded."""
    series = run.tables.get("series")
    if series is None or series.num_rows == 0:
        return {}
    mine = series.filter(pc.and_(pc.equal(series["name"], name), pc.is_finite(series["value"])))
    ids = mine["executor_id"].cast(pa.string())
    peaks = pa.table({"id": ids, "value": mine["value"]}).group_by("id").aggregate([("value", "max")])
    pairs = zip(peaks["id"].to_pylist(), peaks["value_max"].to_pylist(), strict=True)
    return {one: float(value) for one, value in pairs if one is not None}
