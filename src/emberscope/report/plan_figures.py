"""What an operator counted: the few figures that its box shows, out of the metrics of Spark, Photon and RAPIDS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from emberscope.units import format_bytes, format_count, format_ms

# Of each list the first that counted: the names that Spark, Databricks' Photon and NVIDIA's RAPIDS give them.
_ROWS: Final = (
    "number of output rows",
    "output rows",
    "join output rows",
    "shuffle records written",
    "records read",
    "number of rows",
)
_BYTES: Final = (
    "size of files read",
    "written output",
    "shuffle bytes written",
    "num bytes written",
    "partition data size",
    "data size",
    "data returned from python workers",
    "buffered relation size",
    "num bytes read",
    "cloud storage response size",
    "filesystem read data size",
)
# Times of tasks. Those of one line happen one after the other and are added up.
_TASK_TIMES: Final = (
    ("exclusive time",),
    ("op time",),
    ("gpu time",),
    ("time to run python workers",),
    ("shuffle write time", "fetch wait time"),
    ("sort time",),
    ("time in aggregation build",),
    ("aggregation time",),
    ("scan time",),
    ("time in hash build",),
    ("time to build hash map",),
    ("total time",),
    ("duration",),
)
# Times for which the driver waited: no task ran in them on account of the operator.
_DRIVER_TIMES: Final = (
    ("time to collect", "time to build", "time to broadcast"),
    ("task commit time", "job commit time"),
)
_PEAKS: Final = ("peak memory", "peak memory usage", "peak device memory")
_OLD_UNIT: Final = re.compile(r"\s*\((?:ms|bytes)\)$| total \(min, med, max\)$")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric as Spark has it. `value` is null where nothing counted."""

    accumulator_id: int
    name: str
    type: str | None
    value: int | None

    @property
    def plain_name(self) -> str:
        return _OLD_UNIT.sub("", self.name).lower()

    @property
    def is_bytes(self) -> bool:
        return self.type == "size" or self.name.endswith("(bytes)")

    @property
    def milliseconds(self) -> float | None:
        """The value as a time; None for what is none."""
        if self.value is None:
            return None
        if self.type == "nsTiming":
            return self.value / 1e6
        return float(self.value) if self.type == "timing" or self.name.endswith("(ms)") else None

    @property
    def words(self) -> str:
        time_ms = self.milliseconds
        if self.value is None:
            return "–"
        if time_ms is not None:
            return format_ms(time_ms)
        return format_bytes(self.value) if self.is_bytes else format_count(self.value)


@dataclass(frozen=True, slots=True)
class Figures:
    """Totals over the tasks of an execution; None where the operator does not count it. The peak is that of each task,
    summed, as Spark sums it. `in_tasks` is false for a time that the driver waited."""

    rows: int | None = None
    size_bytes: int | None = None
    time_ms: float | None = None
    in_tasks: bool = True
    spilled_bytes: int | None = None
    peak_bytes: int | None = None
    partitions: int | None = None

    def words(self) -> list[str]:
        """What there is to say, in short phrases; a spill stands apart."""
        said = []
        if self.rows is not None:
            said.append(f"{format_count(self.rows)} row{'' if self.rows == 1 else 's'}")
        if self.size_bytes:
            said.append(format_bytes(self.size_bytes))
        if self.time_ms is not None and self.time_ms >= 0.5:
            said.append(format_ms(self.time_ms))
        if self.peak_bytes:
            said.append(f"peak {format_bytes(self.peak_bytes)}")
        return said


def figures(metrics: Sequence[Metric]) -> Figures:
    """The figures of one operator."""
    known = {metric.plain_name: metric for metric in metrics if metric.value is not None and metric.value >= 0}
    task_ms, driver_ms = _time(known, _TASK_TIMES), _time(known, _DRIVER_TIMES)
    spills = [m.value for name, m in known.items() if "spill" in name and m.is_bytes and m.value is not None]
    return Figures(
        _first(known, _ROWS),
        _first(known, _BYTES),
        task_ms if task_ms is not None else driver_ms,
        task_ms is not None,
        max(spills, default=None),
        _first(known, _PEAKS),
        _first(known, ("number of partitions", "partitions")),
    )


def _first(known: dict[str, Metric], names: Iterable[str]) -> int | None:
    return next((known[name].value for name in names if name in known), None)


def _time(known: dict[str, Metric], groups: Iterable[tuple[str, ...]]) -> float | None:
    for names in groups:
        times = [time for name in names if name in known and (time := known[name].milliseconds) is not None]
        if times:
            return sum(times)
    return None
