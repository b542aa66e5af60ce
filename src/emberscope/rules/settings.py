"""Spark settings as the run had them, in numbers, with Spark's own defaults where nothing was set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emberscope.errors import UsageError
from emberscope.units import parse_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

MIB = 1 << 20


def bytes_setting(run: Run, key: str, default: str, *, unit: str = "b") -> int:
    """A size in bytes; `unit` is what Spark takes a bare number of this setting for."""
    value = run.setting(key)
    try:
        return parse_bytes(default if value is None else value, default_unit=unit)
    except UsageError:
        return parse_bytes(default, default_unit=unit)


def number_setting(run: Run, key: str, default: float) -> float:
    value = run.setting(key)
    try:
        return default if value is None else float(value)
    except ValueError:
        return default


def is_on(run: Run, key: str, *, default: bool) -> bool:
    value = run.setting(key)
    return default if value is None else value.strip().lower() == "true"


def version(run: Run) -> tuple[int, int]:
    """Major and minor version of Spark; (0, 0) where it is not known."""
    parts = (run.application.spark_version or "").split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (ValueError, IndexError):
        return 0, 0


def is_local(run: Run) -> bool:
    """Whether driver and tasks share one JVM (master local, local[n])."""
    master = run.application.master or run.setting("spark.master") or ""
    return master == "local" or master.startswith("local[")


def memory_words(size_bytes: float) -> str:
    """A size as Spark's settings take it, in whole MiB or GiB: `1536m`, `4g`."""
    mebibytes = max(1, round(size_bytes / MIB))
    return f"{mebibytes // 1024}g" if mebibytes % 1024 == 0 else f"{mebibytes}m"
