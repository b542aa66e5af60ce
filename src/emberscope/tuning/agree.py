"""Values that must agree: cores with those of a task, numbers of executors, heap and overhead with the container."""

from __future__ import annotations

from msgspec.structs import replace

from emberscope.tuning.patch import Change
from emberscope.tuning.situation import Situation, as_number
from emberscope.units import format_count

_MOST = "yarn.scheduler.maximum-allocation-mb"
_HADOOPS_DEFAULT = "8192"  # what a client without the cluster's files believes


def agree(changes: dict[str, Change], situation: Situation) -> list[str]:
    """Mends the values of `changes` where they cannot stand beside each other or what the run had; notes on what had to
    be left out."""
    _cores(changes, situation)
    _bound(changes, situation)
    _executors(changes, situation)
    return _container(changes, situation)


def _value(key: str, changes: dict[str, Change], situation: Situation) -> float | None:
    return as_number(key, changes[key].value) if key in changes else situation.number(key)


def _amend(key: str, value: str, note: str, changes: dict[str, Change]) -> None:
    change = changes[key]
    changes[key] = replace(change, value=value, notes=(*change.notes, note))


def _cores(changes: dict[str, Change], situation: Situation) -> None:
    cores, cpus = _value("spark.executor.cores", changes, situation), _value("spark.task.cpus", changes, situation)
    if "spark.executor.cores" in changes and cores is not None and cpus is not None and cores < cpus:
        note = f"no fewer than spark.task.cpus={cpus:.0f}, or no task would ever run."
        _amend("spark.executor.cores", f"{cpus:.0f}", note, changes)


def _bound(changes: dict[str, Change], situation: Situation) -> None:
    """With dynamic allocation the number of executors is only what it starts with: its bound is another setting."""
    dynamic, fixed, most = (
        "spark.dynamicAllocation.enabled",
        "spark.executor.instances",
        "spark.dynamicAllocation.maxExecutors",
    )
    on = changes[dynamic].value if dynamic in changes else situation.value(dynamic)
    if fixed not in changes or most in changes or (on or "").strip().lower() != "true":
        return
    change = changes.pop(fixed)
    note = f"in place of {fixed}, which with dynamic allocation is only the number to start with."
    changes[most] = replace(change, setting=most, old=situation.own(most), notes=(*change.notes, note))


def _executors(changes: dict[str, Change], situation: Situation) -> None:
    """minExecutors <= initialExecutors <= maxExecutors; what was asked for first stays."""
    prefix = "spark.dynamicAllocation."
    for low, high in (("minExecutors", "maxExecutors"), ("initialExecutors", "maxExecutors")):
        least, most = _value(prefix + low, changes, situation), _value(prefix + high, changes, situation)
        if least is None or most is None or least <= most:
            continue
        if prefix + high in changes and prefix + low not in changes:
            note = f"lowered with maxExecutors: it cannot be more than that ({format_count(most)})."
            old = situation.own(prefix + low)
            codes = changes[prefix + high].codes
            changes[prefix + low] = Change(prefix + low, f"{most:.0f}", old, codes, "", (note,))
        elif prefix + low in changes:
            _amend(prefix + low, f"{most:.0f}", f"no more than maxExecutors ({format_count(most)}).", changes)


def _container(changes: dict[str, Change], situation: Situation) -> list[str]:
    """Heap and overhead within the largest container that YARN gives, where the log tells that."""
    heap, most = "spark.executor.memory", situation.hadoop.get(_MOST, "")
    size = _value(heap, changes, situation)
    if heap not in changes or not most.isdigit() or most == _HADOOPS_DEFAULT or size is None:
        return []
    overhead = _value("spark.executor.memoryOverhead", changes, situation)
    factor = _value("spark.executor.memoryOverheadFactor", changes, situation) or 0.1
    beside = overhead if overhead is not None else max(384.0, factor * size)
    before = situation.number(heap) or 1024.0
    limit = float(most)
    if size + beside <= limit or before + beside > limit:  # it fits; or this limit is not the cluster's
        return []
    fits = int(limit - overhead if overhead is not None else min(limit - 384, limit / (1 + factor)))
    words = f"a container of YARN has {format_count(limit)} MiB at most here"
    if fits > before:
        _amend(heap, f"{fits}m", f"{words}, overhead and all; {changes[heap].value} was asked for.", changes)
        return []
    change = changes.pop(heap)
    return [f"Left out: {heap}={change.value} ({', '.join(change.codes)}): {words}."]
