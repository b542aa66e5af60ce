"""Settings that hang on a switch: without it they do nothing."""

from typing import Final

from emberscope.settings.catalog import Setting, setting_of

KRYO: Final = "org.apache.spark.serializer.KryoSerializer"

# (settings that begin so, the setting they need, its value).
COME_ALONG: Final = (
    ("spark.sql.adaptive.", "spark.sql.adaptive.enabled", "true"),
    ("spark.sql.adaptive.coalescePartitions.", "spark.sql.adaptive.coalescePartitions.enabled", "true"),
    ("spark.sql.adaptive.skewJoin.", "spark.sql.adaptive.skewJoin.enabled", "true"),
    ("spark.kryoserializer.", "spark.serializer", KRYO),
    ("spark.eventLog.rolling.", "spark.eventLog.rolling.enabled", "true"),
)
# Those that change how an application runs: nobody gets them because of a detail of theirs.
NOT_BY_THEMSELVES: Final = (
    ("spark.speculation.", "spark.speculation", "true"),
    ("spark.dynamicAllocation.", "spark.dynamicAllocation.enabled", "true"),
    ("spark.memory.offHeap.", "spark.memory.offHeap.enabled", "true"),
    ("spark.eventLog.", "spark.eventLog.enabled", "true"),
    ("spark.storage.decommission.", "spark.decommission.enabled", "true"),
    ("spark.storage.decommission.", "spark.storage.decommission.enabled", "true"),
    ("spark.sql.cbo.", "spark.sql.cbo.enabled", "true"),
    ("spark.shuffle.push.", "spark.shuffle.push.enabled", "true"),
)
SWITCHES: Final = COME_ALONG + NOT_BY_THEMSELVES

# What keeps shuffle files when dynamic allocation takes their executor away: all of one line must be on.
TRACKING: Final = "spark.dynamicAllocation.shuffleTracking.enabled"
SHUFFLE_KEEPERS: Final = (
    ("spark.shuffle.service.enabled",),
    (TRACKING,),
    ("spark.decommission.enabled", "spark.storage.decommission.shuffleBlocks.enabled"),
)


def switches_of(key: str) -> list[tuple[Setting, str]]:
    """The switches on which a setting hangs, with the value that each must have."""
    found = ((prefix, setting_of(switch), value) for prefix, switch, value in SWITCHES)
    return [(s, value) for prefix, s, value in found if s is not None and key.startswith(prefix) and key != s.key]
