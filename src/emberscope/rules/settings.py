"""Spark settings as the run had them, in numbers, with Spark's own defaults where nothing was set."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from emberscope.errors import UsageError
from emberscope.units import parse_bytes, parse_ms

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
    """A number; the default where nothing was set, or nothing that is a finite number."""
    value = run.setting(key)
    try:
        number = default if value is None else float(value)
    except ValueError:
        return default
    return number if math.isfinite(number) else default


def ms_setting(run: Run, key: str, default: str, *, unit: str = "ms") -> float:
    """A time in milliseconds; the default where nothing was set, or nothing that is a time."""
    value = run.setting(key)
    try:
        return parse_ms(default if value is None else value, default_unit=unit)
    except UsageError:
        return parse_ms(default, default_unit=unit)


def has_all_settings(run: Run) -> bool:
    """Whether what is not set here was not set at all: an event log lists every setting, a log or a question some."""
    return "conf" in run.tables and "jobs" in run.tables


def is_on(run: Run, key: str, *, default: bool) -> bool:
    value = run.setting(key)
    return default if value is None else value.strip().lower() == "true"


def version(run: Run) -> tuple[int, int]:
    """Major and minor version of Spark; (0, 0) where it is not known."""
    return run.application.version


def is_vendors(run: Run) -> bool:
    """Whether the log is of a vendor's Spark: with settings of its own, other defaults, and parts of newer versions."""
    return run.application.vendor not in (None, "rapids")


def is_local(run: Run) -> bool:
    """Whether driver and tasks share one JVM (master local, local[n])."""
    master = run.application.master or run.setting("spark.master") or ""
    return master == "local" or master.startswith("local[")


def is_standalone(run: Run) -> bool:
    """Whether Spark's own cluster manager runs it (master spark://…, local-cluster[…])."""
    master = run.application.master or run.setting("spark.master") or ""
    return master.startswith(("spark://", "local-cluster"))


# How sure a rule is that idle time can go where it may be a person who thinks (our proposal): so little that not even
# an application that was idle throughout gets more than medium.
INTERACTIVE_CONFIDENCE: Final = 0.15

# Signs that a person types at the application: its default names, and the main classes of Spark's shells and servers.
_SESSION_NAMES: Final = (
    "spark shell",
    "pysparkshell",
    "pyspark-shell",
    "sparkr",
    "databricks shell",
    "sparksql:",
    "thrift jdbc/odbc server",
    "spark connect server",
)
_SESSION_CLASSES: Final = re.compile(
    r"org\.apache\.spark\.(repl\.Main|sql\.hive\.thriftserver\.|sql\.connect\.service\.SparkConnectServer)"
)


def is_interactive(run: Run) -> bool:
    """Whether the application is a shell, a notebook or a server that waits for people, as far as its log tells.

    The command `pyspark-shell` is no sign: each Python program that starts Spark by itself runs it. A notebook that
    gives its application a name of its own can therefore not be told from a program.
    """
    name = (run.application.app_name or "").strip().lower()
    return (
        name.startswith(_SESSION_NAMES)
        or run.setting("spark.repl.class.uri") is not None
        or _SESSION_CLASSES.search(run.setting("sun.java.command", scope="jvm") or "") is not None
    )


def memory_words(size_bytes: float) -> str:
    """A size as Spark's settings take it, in whole MiB or GiB: `1536m`, `4g`."""
    mebibytes = max(1, round(size_bytes / MIB))
    return f"{mebibytes // 1024}g" if mebibytes % 1024 == 0 else f"{mebibytes}m"
