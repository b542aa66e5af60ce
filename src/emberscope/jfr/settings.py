"""What a recording says of how it was made, and what one of its samples stands for."""

from __future__ import annotations

import re
from typing import Final

from emberscope.jfr.chunk import Chunk
from emberscope.jfr.events import ACTIVE_SETTING, EXECUTION_SAMPLE

_PERIOD: Final = re.compile(r"(\d{1,18}) ?(ns|us|ms|s|m|h|d|)")
_UNITS_NS: Final = {
    "": 1,
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
}
_CLOCKS: Final = frozenset({"cpu", "itimer", "ctimer", "wall"})
_DEFAULT_INTERVAL_NS: Final = 10_000_000
_LIMIT: Final = 1 << 63


def settings_of(chunk: Chunk) -> dict[str, str]:
    """The settings of each event type: `event#setting` to value, the last that held where a chunk has several.

    They are said at the beginning of a chunk and whenever they change, and lie in no order.
    """
    ids = chunk.numbers(ACTIVE_SETTING, "id")
    names, values = chunk.texts(ACTIVE_SETTING, "name"), chunk.texts(ACTIVE_SETTING, "value")
    if ids is None or names is None or values is None:
        return {}
    starts = chunk.numbers(ACTIVE_SETTING, "startTime")
    when = starts.tolist() if starts is not None else [0] * len(names)
    said = sorted(zip(when, ids.tolist(), names, values, strict=True), key=lambda setting: setting[0])
    found = ((i, name, value) for _, i, name, value in said)
    return {f"{chunk.metadata.name_of(i)}#{name}": value for i, name, value in found if name and value is not None}


def cpu_period_ns(settings: dict[str, str]) -> int | None:
    """What one execution sample stands for; None where the recording does not say it in time.

    The JDK writes `period` (number and unit), async-profiler `interval` (ns), where 0 is its default of 10 ms and an
    event that is no clock counts in its own unit.
    """
    period = settings.get(f"{EXECUTION_SAMPLE}#period")
    if period is not None:
        return _setting_ns(period)
    interval = settings.get(f"{EXECUTION_SAMPLE}#interval")
    if settings.get("jdk.ActiveRecording#event", "cpu") not in _CLOCKS:
        return None
    return _DEFAULT_INTERVAL_NS if interval == "0" else _setting_ns(interval)


def wall_period_ns(settings: dict[str, str]) -> int | None:
    """What one execution sample of a sleeping thread stands for: `wall` of async-profiler (ns)."""
    return _setting_ns(settings.get(f"{EXECUTION_SAMPLE}#wall"))


def _setting_ns(text: str | None) -> int | None:
    """Nanoseconds of a setting such as `10000000 ns`, `20 ms` or a bare number of ns; None for 0 and for words."""
    found = _PERIOD.fullmatch(text or "")
    if found is None:
        return None
    value = int(found[1]) * _UNITS_NS[found[2]]
    return value if 0 < value < _LIMIT else None
