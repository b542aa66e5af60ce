"""Settings that lean on others: what a change needs to have an effect, and what makes it have none."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from emberscope.recorder.merge import LISTS, OPTIONS, joined_list
from emberscope.settings.catalog import setting_of
from emberscope.settings.switches import COME_ALONG, SHUFFLE_KEEPERS, SWITCHES, TRACKING
from emberscope.tuning.situation import Situation

if TYPE_CHECKING:
    from emberscope.tuning.patch import Change

ADAPTIVE: Final = "spark.sql.adaptive.enabled"
_FIRST_WITH_TRACKING: Final = (3, 0)

_LINE_ENDS: Final = re.compile(r"[\r\n]+")
_COLLECTOR: Final = re.compile(r"-XX:\+Use\w+GC")

# In local mode there are no executors but the driver itself.
_OF_EXECUTORS: Final = ("spark.executor.", "spark.dynamicAllocation.", "spark.cores.max", "spark.decommission.")
_OF_CLUSTERS: Final = (
    "spark.dynamicAllocation.",
    "spark.executor.instances",
    "spark.executor.cores",
    "spark.cores.max",
)
_OF_EVERYBODY: Final = ("spark.executor.heartbeatInterval", "spark.executor.extraJavaOptions")


def idle_because(key: str, situation: Situation, changed: Collection[str]) -> str | None:
    """Why a change of this setting would do nothing in this run, as a clause; None where it does something.

    A switch that the user has thrown on purpose is not thrown back: what hangs on it is left out. Some of those that
    are off because nobody asked for them come with the change (`needed_by`). `changed` are the settings that are to be
    changed with it.
    """
    if situation.local and key.startswith(_OF_EXECUTORS) and key not in _OF_EVERYBODY:
        return "in local mode tasks run in the driver, so it does nothing"
    if situation.vendor == "databricks" and key.startswith(_OF_CLUSTERS):
        return "on Databricks each worker is one executor: choose the type and number of workers of the cluster instead"
    for prefix, switch, value in SWITCHES:
        if key.startswith(prefix) and key != switch and switch not in changed:
            own = situation.own(switch)
            if own is not None and own.strip().lower() != value.lower():
                return f"it does nothing while {switch} is {own}, which was set so"
            by_itself = (prefix, switch, value) in COME_ALONG
            if own is None and not by_itself and situation.known and not situation.distribution:
                now = situation.value(switch)
                if now is not None and now.strip().lower() != value.lower():
                    return f"it does nothing while {switch} is {now}, Spark's default"
    initial = "spark.sql.adaptive.coalescePartitions.initialPartitionNum"
    first = situation.own(initial)
    if key == "spark.sql.shuffle.partitions" and first is not None and _is_on(ADAPTIVE, situation, {}):
        return f"it does nothing beside {initial}={first}; change that one"
    if key == "spark.sql.shuffle.partitions" and (situation.own(key) or "").strip().lower() == "auto":
        return "it is auto: the engine chooses the number by itself"
    return None


def needed_by(
    key: str, value: str | None, situation: Situation, changes: Mapping[str, Change]
) -> Iterator[tuple[str, str]]:
    """The settings, with their values, that must come along so that this change has its effect."""
    if value is None:
        return
    for prefix, switch, wanted in COME_ALONG:
        if key.startswith(prefix) and key != switch and switch not in changes:
            setting = setting_of(switch)
            if setting is None or not setting.is_in(situation.version):
                continue
            if situation.distribution and situation.own(switch) is None:  # its default may be another one there
                continue
            if (situation.value(switch) or "").strip().lower() != wanted.lower():
                yield switch, wanted
    turned_on = key == "spark.dynamicAllocation.enabled" and value.strip().lower() == "true"
    if turned_on and not keeps_shuffle_files(situation, changes):
        tracks = situation.version == (0, 0) or situation.version >= _FIRST_WITH_TRACKING
        yield (TRACKING if tracks else "spark.shuffle.service.enabled"), "true"


def keeps_shuffle_files(situation: Situation, changes: Mapping[str, Change]) -> bool:
    """Whether shuffle files outlive an executor that dynamic allocation takes away, or the executor is kept."""
    plugin = situation.own("spark.shuffle.sort.io.plugin.class") or situation.own("spark.shuffle.manager")
    service_elsewhere = situation.distribution or (plugin is not None and plugin not in ("sort", "tungsten-sort"))
    return service_elsewhere or any(
        all(_is_on(name, situation, changes) for name in keeper) for keeper in SHUFFLE_KEEPERS
    )


def added_to_lists(key: str, value: str, situation: Situation) -> str:
    """The value, behind what the user has in the same list or line of options already; a JVM takes one collector."""
    own = situation.own(key)
    if own is None or key not in LISTS | OPTIONS:
        return value
    if key in LISTS:
        return joined_list(own, value)
    wanted = value.split()
    collector = any(_COLLECTOR.fullmatch(option) for option in wanted)
    kept = [o for o in own.split() if o not in wanted and not (collector and _COLLECTOR.fullmatch(o))]
    return " ".join([*kept, _LINE_ENDS.sub(" ", value).strip()])  # white space may be part of a value in quotes


def _is_on(key: str, situation: Situation, changes: Mapping[str, Change]) -> bool:
    value = changes[key].value if key in changes else situation.value(key)
    return (value or "").strip().lower() == "true"
