"""Room beside the heap: what a container that was killed held, and the setting that gives it more."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emberscope.errors import UsageError
from emberscope.rules.base import Advice, set_conf
from emberscope.rules.failures.ending import groups_of
from emberscope.rules.settings import MIB, bytes_setting, has_all_settings, memory_words, number_setting, version
from emberscope.units import format_bytes, parse_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emberscope.logs.signature import Signature
    from emberscope.rules.said import Said
    from emberscope.tables.run import Run

SIZE: Final = r"[\d.]{1,18} ?[KMGT]i?B?"

# Spark's own tenth (spark.executor.memoryOverheadFactor), at least 384 MiB; EMR's 0.1875 is what is advised at least.
_FACTOR, _WIDE_FACTOR, _LEAST = 0.10, 0.1875, 384 * MIB
_MORE: Final = 1.5  # times what there was, at least
_SPARE: Final = 1.1  # times what was used beside the heap, at least
_STEP: Final = 256 * MIB
_OLD_KEYS: Final = (2, 3)
_AM: Final = re.compile(r"AM Container|ApplicationMaster|appattempt_|container_(?:e\d+_)?\d+_\d+_\d+_0*1\b")


def size_of(text: str | None) -> int | None:
    """Bytes of a size in a message; None where there is none."""
    try:
        return parse_bytes(text) if text else None
    except UsageError:
        return None


def figures_of(row: Said, signature: Signature) -> dict[str, str]:
    """The groups of all that a signature matches in this row: a message may have a code before its figures."""
    found = groups_of(row, signature)
    for match in re.finditer(signature.pattern, row.text, re.MULTILINE):
        found = {**{name: text for name, text in match.groupdict().items() if text}, **found}
    return found


def is_driver(row: Said) -> bool:
    """Whether a line about a container is about that of the application master, the driver in cluster mode."""
    about = row.executor_id or ""
    if about and about != "driver":
        return False
    return about == "driver" or _AM.search(row.text) is not None


def key_of(run: Run, rows: Sequence[Said], driver: bool) -> str:
    """The setting of the memory beside the heap, by the name that this Spark reads."""
    now = version(run)
    old = (0, 0) < now < _OLD_KEYS
    if now == (0, 0):
        old = any("spark.yarn.executor.memoryOverhead" in row.text for row in rows)
    part = "driver" if driver else "executor"
    return f"spark.yarn.{part}.memoryOverhead" if old else f"spark.{part}.memoryOverhead"


def more_overhead(
    run: Run, rows: Sequence[Said], *, used: int | None = None, limit: int | None = None, driver: bool = False
) -> Advice:
    """The setting with a value: from what was used of the limit, from the settings, or twice Spark's share."""
    key = key_of(run, rows, driver)
    heap, now = _parts(run, key, limit, driver)
    if heap is None or now is None:
        part = "driver" if driver else "executor"
        size = "spark.driver.memory" if driver else "spark.executor.memory"
        return set_conf(
            f"spark.{part}.memoryOverheadFactor",
            "0.2",
            f"Twice the usual tenth of {size} (before Spark 3.3 as a size in {key}, where max(384m, a tenth) is "
            "usual).",
        )
    beside = _SPARE * (used - heap) if used else 0.0
    value = -(-round(max(_WIDE_FACTOR * heap, beside, _MORE * now)) // _STEP) * _STEP
    because = (
        f"{format_bytes(used)} were used and about {format_bytes(heap)} of it may be heap" if used else "half more"
    )
    return set_conf(key, memory_words(value), f"Memory beside the heap, now about {format_bytes(now)}; {because}.")


def _parts(run: Run, key: str, limit: int | None, driver: bool) -> tuple[int | None, int | None]:
    """Heap and overhead as set, or as Spark shares a container of this size out; None where neither is known."""
    size = "spark.driver.memory" if driver else "spark.executor.memory"
    factor = number_setting(run, f"{size}OverheadFactor", _WIDE_FACTOR if run.application.vendor == "emr" else _FACTOR)
    if run.setting(size) is not None or (limit is None and has_all_settings(run)):
        heap = bytes_setting(run, size, "1g", unit="m") or 1 << 30
        usual = max(_LEAST, round(factor * heap))
        return heap, bytes_setting(run, key, f"{usual // MIB}m", unit="m") if run.setting(key) else usual
    if limit is None:
        return None, None
    heap = max(limit - _LEAST, 0) if limit < _LEAST * (1 + factor) / factor else round(limit / (1 + factor))
    return heap, limit - heap
