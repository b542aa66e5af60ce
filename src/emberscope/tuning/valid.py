"""Whether a single piece of advice can be followed as it stands: name, type, range and version of its setting."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from emberscope.settings.catalog import is_foreign, setting_of
from emberscope.settings.names import meant
from emberscope.settings.values import problem
from emberscope.tuning.situation import Situation, situation_of

if TYPE_CHECKING:
    from emberscope.rules.base import Advice
    from emberscope.tables.run import Run

# What Spark refuses in the options of executors: it sizes the heap itself, and settings do not belong there.
_REFUSED_OPTIONS: Final = re.compile(r"(^|\s)-(Xmx|Dspark\.)")

# Values that came later than their setting (Spark's release notes).
VALUES_SINCE: Final = {
    ("spark.io.compression.codec", "zstd"): (2, 3),
    ("spark.eventLog.compression.codec", "zstd"): (2, 3),
    ("spark.sql.parquet.compression.codec", "zstd"): (2, 4),
    ("spark.sql.orc.compression.codec", "zstd"): (3, 2),
    ("spark.sql.shuffle.partitions", "auto"): (99, 0),  # a vendor's
}


def refused(advice: Advice, situation: Situation) -> str | None:
    """Why this setting cannot be made so in this run's Spark, as a clause; None where it can."""
    if advice.kind not in ("set", "unset"):
        return None
    if not advice.setting or (advice.kind == "set" and advice.value is None):
        return "it names no setting or no value"
    if advice.kind == "unset" or advice.value is None:
        return None  # whatever it is, it can be removed
    key = situation.named(advice.setting)
    setting = setting_of(key)
    if setting is None:
        near = meant(key, situation.version)
        if near is None and (situation.distribution or is_foreign(key)):
            return None
        return f"Spark knows no such setting{f'; {near.key} may be meant' if near else ''}"
    if not situation.distribution and not setting.is_in(situation.version):
        major, minor = situation.version
        if situation.version != (0, 0):
            return f"Spark {major}.{minor} has no such setting"
    if setting.replaced is not None and setting.replaced.how == "removed":
        return "Spark reads it no more"
    if key.endswith("executor.extraJavaOptions") and _REFUSED_OPTIONS.search(advice.value):
        return "Spark takes neither -Xmx nor settings of its own in this one"
    since = VALUES_SINCE.get((key, advice.value.strip().lower()))
    if since is not None and (0, 0) < situation.version < since:
        return f"Spark {situation.version[0]}.{situation.version[1]} does not know this value yet"
    return problem(setting, advice.value)


def defects(advice: Sequence[Advice], run: Run) -> list[str]:
    """What is wrong with the advice of a rule, one sentence each: every one of them is a defect of that rule."""
    situation = situation_of(run)
    return [
        f"{item.kind} {item.setting}={item.value}: {why}"
        for item in advice
        if (why := refused(item, situation)) is not None
    ]
