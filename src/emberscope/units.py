"""Units at the edges: Spark's spellings in, words for people out. Inside, every number carries its unit in its name."""

import re
from typing import Final

from emberscope.errors import UsageError

_BYTES: Final = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
# A half is rounded up, as the page's scripts do, so that one figure reads the same everywhere.
_UPWARDS: Final = 1e-9
_MS: Final = {"us": 0.001, "ms": 1, "": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


def parse_bytes(text: str, *, default_unit: str = "") -> int:
    """Bytes of a Spark size such as `1g`, `512m`, `8 GiB` or a bare number in `default_unit`.

    Spark's suffixes are binary (`JavaUtils.byteStringAs`). Raises `UsageError` for anything else.
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgtp]?)i?(b?)\s*", text, re.IGNORECASE)
    if found is None:
        raise UsageError(f"{text!r} is not a size.", hint="Write it as Spark does: 512m, 8g.")
    suffix = found[2].lower() or ("" if found[3] else default_unit)
    return int(float(found[1]) * _BYTES[suffix])


def parse_ms(text: str, *, default_unit: str = "ms") -> float:
    """Milliseconds of a Spark time such as `30s`, `5min`, `100ms` or a bare number in `default_unit`."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(us|ms|s|min|m|h|d|)\s*", text, re.IGNORECASE)
    if found is None:
        raise UsageError(f"{text!r} is not a time.", hint="Write it as Spark does: 30s, 5min.")
    return float(found[1]) * _MS[found[2].lower() or default_unit]


def format_ms(ms: float) -> str:
    """A time for people: `820 ms`, `12.3 s`, `4 min 05 s`, `2 h 10 min`."""
    if ms < 0 and round(ms):
        return "-" + format_ms(-ms)
    if ms < 999.5:
        return f"{abs(ms) + _UPWARDS:.0f} ms"
    if ms < 59_950:
        return f"{ms / 1000 + _UPWARDS:.1f} s"
    seconds = round(ms / 1000)
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60:02d} s"
    minutes = round(ms / 60_000)
    return f"{minutes // 60:,} h {minutes % 60:02d} min"


def format_time(epoch_ms: int) -> str | None:
    """A moment for people: `2026-11-30 14:30:00 UTC`; None for one that no calendar has, as a broken clock tells it."""
    from datetime import UTC, datetime, timedelta

    try:
        return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=epoch_ms):%Y-%m-%d %H:%M:%S} UTC"
    except OverflowError:
        return None


def format_bytes(size_bytes: float) -> str:
    """A size for people, in binary units: `512 B`, `1.5 MiB`, `12 GiB`."""
    if size_bytes < 0:
        return "-" + format_bytes(-size_bytes)
    value = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1023.5:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 99.5 else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} PiB"


def format_count(count: float) -> str:
    """A count with thin separators: `1,234,567`."""
    return f"{count:,.0f}"


def counted(count: int, one: str) -> str:
    """So many of a thing, given in the singular: `1 attempt`, `2,000 attempts`."""
    return f"{format_count(count)} {one}{'' if count == 1 else 's'}"


def format_ratio(ratio: float) -> str:
    """A share of one as per cent: `12.3 %`, `0.4 %`, `100 %`; one that would round to zero is `<0.1 %`."""
    if 0 < ratio < 0.0005:
        return "<0.1 %"
    return f"{ratio * 100:.0f} %" if ratio >= 0.9995 or ratio == 0 else f"{ratio * 100:.1f} %"


def printable(text: str) -> str:
    """Without control characters: names and messages come from logs and files, and a terminal obeys what it is sent."""
    return "".join(letter if letter == "\n" or letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
