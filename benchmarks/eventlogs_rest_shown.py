"""How Spark 4.3 counts and words the metrics of a SQL execution on its pages, from table `task_accumulables`.

The rules are those of `SQLAppStatusListener`, `LiveStageMetrics` and `MetricUtils.stringValue`.
"""

from __future__ import annotations

import re
import struct
from collections import defaultdict
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal

import pyarrow as pa

SPREAD = "total (min, med, max (stageId: taskId))\n"
AVERAGES = "(min, med, max (stageId: taskId)):\n"
_UNITS = ("EiB", 60), ("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)


def size_text(size: int) -> str:
    for unit, bits in _UNITS:
        if size >= 2 << bits:
            return f"{_half_up(Decimal(size) / (1 << bits), 1)} {unit}"
    return f"{_half_up(Decimal(size), 1)} B"


def duration_text(ms: int) -> str:
    if ms < 1000:
        return f"{ms} ms"
    for below, unit, of_unit, digits in (
        (60_000, "s", 1000, 1),
        (3_600_000, "m", 60_000, 1),
        (None, "h", 3_600_000, 2),
    ):
        if below is None or ms < below:
            return f"{_half_up(Decimal(repr(_float32(_float32(ms) / of_unit))), digits)} {unit}"
    raise AssertionError


def one_text(kind: str, value: int) -> str:
    """One value of a metric of this type."""
    if kind == "size":
        return size_text(value)
    if kind == "timing":
        return duration_text(value)
    if kind == "nsTiming":
        return duration_text(int(value / 1_000_000))
    if kind == "average":
        return _grouped(Decimal(value) / 10)
    return f"{value:,}" if kind == "sum" else f"[unknown] {value:,}"


def metric_text(kind: str, values: list[int]) -> str:
    """A metric as the page has it, without the task that has the maximum."""
    if kind == "sum":
        return f"{sum(values):,}"
    valid = sorted(value for value in values if (value > 0 if kind == "average" else value >= 0))
    if len(valid) <= 1:
        return one_text(kind, valid[0] if valid else 0)
    spread = ", ".join(one_text(kind, value) for value in (valid[0], valid[len(valid) // 2], valid[-1]))
    if kind == "average":
        return f"{AVERAGES}({spread})"
    return f"{SPREAD}{one_text(kind, sum(valid))} ({spread})"


def without_task(text: str) -> str:
    """What the page says, without the task that has the maximum: which of several it names is chance."""
    return re.sub(r" \((?:stage \d+\.\d+: task \d+|driver)\)\)$", ")", text)


class Shown:
    """The updates of a log, counted as Spark's pages do."""

    def __init__(self, updates: pa.Table, stages: pa.Table) -> None:
        self._last: dict[int, tuple[int, int]] = {}
        for row in stages.select(["stage_id", "stage_attempt", "task_count"]).to_pylist():
            # The server's arrays keep the length of the first attempt, which has all tasks.
            attempt, count = self._last.get(row["stage_id"], (0, 0))
            self._last[row["stage_id"]] = (max(attempt, row["stage_attempt"]), max(count, row["task_count"] or 0))
        self._driver: dict[tuple[int, int], list[int]] = defaultdict(list)
        # By stage and accumulator: the value of each task index of the last attempt.
        self._tasks: dict[int, dict[int, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
        done: dict[tuple[int, int], int] = {}
        for row in updates.to_pylist():
            stage_id, task_id = row["stage_id"], row["task_id"]
            if stage_id is None:
                self._driver[row["sql_execution_id"], row["accumulator_id"]].append(row["update"])
                continue
            task = (stage_id, row["task_index"])
            if row["stage_attempt"] < self._last[stage_id][0] or done.get(task, task_id) != task_id:
                continue
            self._tasks[stage_id][row["accumulator_id"]][row["task_index"]] = row["update"]
            if row["succeeded"]:
                done[task] = task_id

    def values(self, execution_id: int, stage_ids: Iterable[int], accumulator_id: int) -> list[int]:
        """All values of a metric: one for each task of a stage that updated it, and one for each driver update."""
        values = []
        for stage_id in stage_ids:
            by_index = self._tasks[stage_id].get(accumulator_id)
            if by_index is not None:
                absent = max(0, self._last[stage_id][1] - len(by_index))
                values += [*by_index.values(), *[0] * absent]
        return values + self._driver[execution_id, accumulator_id]


def _float32(value: float) -> float:
    return float(struct.unpack("f", struct.pack("f", value))[0])


def _half_up(value: Decimal, digits: int) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def _grouped(value: Decimal) -> str:
    whole = f"{value.quantize(Decimal('0.001')):,f}"
    return whole.rstrip("0").rstrip(".")
