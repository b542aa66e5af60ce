"""Whether Spark would take a value for a setting, and what number it stands for."""

from __future__ import annotations

import math
import re
from typing import Final

from emberscope.settings.catalog import Setting

_BYTES: Final = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_NS: Final = {
    "ns": 1,
    "us": 1e3,
    "ms": 1e6,
    "s": 1e9,
    "m": 60e9,
    "min": 60e9,
    "h": 3600e9,
    "d": 86400e9,
}
_SIZE: Final = re.compile(r"(-?\d+)(k|m|g|t|p)?b?")
_TIME: Final = re.compile(r"(-?\d+)(us|ms|s|m|min|h|d)?")


def problem(setting: Setting, value: str) -> str | None:
    """Why Spark would refuse this value, in the words of a clause (`"fast" is no number`); None where it takes it."""
    text = value.strip()
    if setting.kind == "bool":
        return None if text.lower() in ("true", "false") else f"“{text}” is neither true nor false"
    if setting.kind == "enum":
        known = {option.lower() for option in setting.options}
        return None if text.lower() in known else f"“{text}” is none of {', '.join(setting.options)}"
    if setting.kind in ("string", "unregistered"):
        return None
    number = number_of(setting, text)
    if number is None:
        return f"“{text}” is no {_WORDS[setting.kind]}"
    if setting.low is not None and number < setting.low:
        return f"“{text}” is less than {_limit(setting, setting.low)}, the least that Spark takes"
    if setting.high is not None and number > setting.high:
        return f"“{text}” is more than {_limit(setting, setting.high)}, the most that Spark takes"
    return None


def number_of(setting: Setting, value: str) -> float | None:
    """The number that a value stands for, in the setting's own unit; None where it is none, or the setting has none."""
    text = value.strip().lower()
    if setting.kind == "int":
        return float(text) if re.fullmatch(r"[+-]?\d+", text) else None
    if setting.kind == "float":
        try:
            number = float(text)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    if setting.kind == "bytes":
        found = _SIZE.fullmatch(text)
        # Java reads `1024b` as bytes and `1024` in the unit of the setting.
        unit = found[2] or ("b" if text.endswith("b") else setting.unit) if found else ""
        return int(found[1]) * _BYTES[unit] / _BYTES[setting.unit] if found else None
    if setting.kind == "time":
        found = _TIME.fullmatch(text)
        return int(found[1]) * _NS[found[2] or setting.unit] / _NS[setting.unit] if found else None
    return None


_WORDS: Final = {
    "int": "whole number",
    "float": "number",
    "bytes": "size as Spark writes it (512m, 8g)",
    "time": "time as Spark writes it (30s, 5min)",
}


def _limit(setting: Setting, number: float) -> str:
    return f"{number:g}{setting.unit}" if setting.kind in ("bytes", "time") else f"{number:g}"
