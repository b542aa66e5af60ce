"""Times and time spans of a chunk as columns of nanoseconds."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from emberscope.jfr.header import Header

Longs = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

NS: Final = {"NANOSECONDS": 1, "MICROSECONDS": 1_000, "MILLISECONDS": 1_000_000, "SECONDS": 1_000_000_000}
_SECOND_NS: Final = 1_000_000_000
_LIMIT: Final = 1 << 63


def times_ns(header: Header, ticks: Longs) -> tuple[Longs, Mask]:
    """Epoch nanoseconds of times in ticks, by the chunk's own clock, and which of them do not fit and are nothing."""
    return _scaled(ticks, -header.start_ticks, _SECOND_NS, header.ticks_per_second, header.start_ns)


def spans_ns(header: Header, spans: Longs, unit: str) -> tuple[Longs, Mask]:
    """Nanoseconds of time spans in a unit of the metadata, and which are nothing: all of them in an unknown unit."""
    if unit == "TICKS":
        return _scaled(spans, 0, _SECOND_NS, header.ticks_per_second, 0)
    factor = NS.get(unit)
    if factor is None:
        return np.zeros(len(spans), np.int64), np.ones(len(spans), np.bool_)
    return _scaled(spans, 0, factor, 1, 0)


def ends_ns(header: Header, starts: Longs, spans: Longs) -> tuple[Longs, Mask]:
    """Epoch nanoseconds of the ends of time spans in ticks, and which do not fit and are nothing."""
    ends = starts + spans
    if not np.any(((starts ^ ends) & (spans ^ ends)) < 0):
        return times_ns(header, ends)
    return _exact([header.to_ns(start + span) for start, span in zip(starts.tolist(), spans.tolist(), strict=True)])


def _scaled(values: Longs, before: int, factor: int, divisor: int, after: int) -> tuple[Longs, Mask]:
    """(value + before) * factor // divisor + after, exact. Results that do not fit 64 bits are masked."""
    if not len(values):
        return values, np.zeros(0, np.bool_)
    low, high = int(values.min()), int(values.max())
    fits = all(
        -_LIMIT <= bound < _LIMIT
        for value in (low, high)
        for bound in (
            value + before,
            (value + before) * factor // divisor,
            _result(value, before, factor, divisor, after),
        )
    )
    if fits and divisor * factor < _LIMIT and -_LIMIT <= before < _LIMIT and -_LIMIT <= after < _LIMIT:
        shifted = values + before
        whole, rest = np.divmod(shifted, divisor)
        return whole * factor + rest * factor // divisor + after, np.zeros(len(values), np.bool_)
    return _exact([_result(value, before, factor, divisor, after) for value in values.tolist()])


def _exact(values: list[int]) -> tuple[Longs, Mask]:
    inside = [-_LIMIT <= value < _LIMIT for value in values]
    fitting = [value if fits else 0 for value, fits in zip(values, inside, strict=True)]
    return np.array(fitting, np.int64), ~np.array(inside, np.bool_)


def _result(value: int, before: int, factor: int, divisor: int, after: int) -> int:
    return (value + before) * factor // divisor + after
