"""Which setting sizes the heap that tasks run in, and how large it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emberscope.rules.settings import bytes_setting, is_local

if TYPE_CHECKING:
    from emberscope.tables.run import Run


def heap_setting(run: Run) -> tuple[str, int]:
    """Name and value in bytes of the setting: in local mode tasks run in the driver. Spark's default is 1g."""
    key = "spark.driver.memory" if is_local(run) else "spark.executor.memory"
    # Spark takes a bare number of these two for MiB.
    return key, bytes_setting(run, key, "1g", unit="m")
