"""What the many ways to write a time in a log mean, in epoch milliseconds."""

from __future__ import annotations

import re
from calendar import timegm
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

_ZONE: Final = r"(?P<zone> ?Z| ?UTC| ?GMT| ?[+-]\d\d:?\d\d)?"
_TIME: Final = r"(?P<hour>\d\d):(?P<minute>\d\d):(?P<second>\d\d)(?:[.,:](?P<fraction>\d{1,9}))?"
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = rf"(?P<name>(?i:{'|'.join(_MONTHS)}))"

STAMP: Final = (
    # 2018-05-16 00:53:32,123  2018-05-16T00:53:32.123Z  2018/05/16 00:53:32 +0200  18/05/16 00:53:32
    rf"(?P<year>\d{{4}}|\d\d)(?P<dash>[-/.])(?P<month>\d\d)(?P=dash)(?P<day>\d\d)[T ] ?{_TIME}{_ZONE}",
    # 16 May 2018 00:53:32,123   16/May/2018:00:53:32 +0000
    rf"(?P<day>\d\d?)[ /-]{_MONTH}[ /-](?P<year>\d{{4}})[ :]{_TIME}{_ZONE}",
    # Wed May 16 00:53:32 UTC 2018   May 16 00:53:32 (no year)
    rf"(?:(?i:mon|tue|wed|thu|fri|sat|sun)\w* )?{_MONTH} {{1,2}}(?P<day>\d\d?),? {_TIME}"
    r"(?: [A-Z]{3,4})?(?: (?P<year>\d{4}))?",
    # I0516 00:53:32.123456 (klog, no year)
    rf"[IWEF](?P<month>\d\d)(?P<day>\d\d) {_TIME}",
    # 00:53:32.123 (no day)
    rf"{_TIME}",
)
"""Patterns of a time at the head of a line, the most telling first."""

_PATTERNS: Final = tuple(re.compile(pattern) for pattern in STAMP)
_EPOCH: Final = re.compile(r"(?P<epoch>1[0-9]{9})(?P<fraction>\d{3}|\.\d{1,9})?\b")


@lru_cache(maxsize=4096)
def stamp_of(text: str, year: int | None = None) -> tuple[int, int | None, bool] | None:
    """The length of the time with which `text` begins, the time in epoch ms, and whether it named its zone.

    Where no zone is named the time is as if it were UTC, and `year` is that of times that name none. None in place of
    the time where day or year are not known.
    """
    for pattern in _PATTERNS:
        found = pattern.match(text)
        if found is not None:
            parts = found.groupdict()
            return found.end(), _millis(parts, year), bool(parts.get("zone"))
    found = _EPOCH.match(text)
    if found is None:
        return None
    fraction = (found["fraction"] or "").lstrip(".")
    return found.end(), int(found["epoch"]) * 1000 + int((fraction + "000")[:3]), True


def _millis(parts: dict[str, str | None], else_year: int | None) -> int | None:
    day = parts.get("day")
    year = parts.get("year") or (str(else_year) if else_year else None)
    if year is None or day is None:
        return None
    name = parts.get("name")
    month = _MONTHS.index(name.lower()[:3]) + 1 if name else int(parts["month"] or 0)
    whole = int(year) if len(year) == 4 else 2000 + int(year)
    clock = [int(parts[key] or 0) for key in ("hour", "minute", "second")]
    try:
        datetime(whole, month, int(day), clock[0], clock[1], min(clock[2], 59))
    except ValueError:
        return None
    seconds = timegm((whole, month, int(day), *clock))
    millis = int(((parts.get("fraction") or "") + "000")[:3])
    return seconds * 1000 + millis - _zone_ms(parts.get("zone"))


def _zone_ms(zone: str | None) -> int:
    zone = (zone or "").strip()
    if not zone or zone[0] not in "+-":
        return 0
    minutes = int(zone[1:3]) * 60 + int(zone[-2:])
    return (minutes if zone[0] == "+" else -minutes) * 60_000


def spoken(time_ms: int) -> str:
    """A time as people read it, in UTC."""
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=time_ms)).strftime("%Y-%m-%d %H:%M:%S")
