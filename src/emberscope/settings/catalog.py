"""The catalogue of Spark's settings: facts of every setting that Spark 3.0 to 4.3 registers or spells in its code.

`settings.tsv` beside this file has a line for each; `tools/settings/collect.py` makes it from Spark's own jars.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, Literal, cast

Version = tuple[int, int]
"""Major and minor version of Spark; (0, 0) where it is not known."""

Kind = Literal["bool", "int", "float", "bytes", "time", "string", "enum", "unregistered"]

OLDEST: Final[Version] = (3, 0)
"""The oldest version that the catalogue was made from: what older ones had is not told."""

# Names under these are made up by users and vendors, or read by modules that are not part of Spark's distribution.
OPEN: Final = re.compile(
    r"spark\.(hadoop|hive|executorEnv|yarn\.appMasterEnv|metrics\.conf|ssl|kafka|streaming\.kafka|mesos|history|"
    r"sql\.catalog|sql\.streaming\.checkpointFileManagerClass|(driver|executor|worker)\.resource|task\.resource|"
    r"kubernetes\.(driver|executor|driverEnv|file)|scheduler\.allocation|io\.[a-z]+\.key|ui\.|repl|redaction)\b"
)

# Names that Spark puts together from that of a module or a queue and spells nowhere (TransportConf, LiveListenerBus),
# and one that EMR's Spark has.
_PUT_TOGETHER: Final = re.compile(
    r"spark\.(?:(?:shuffle|rpc|files)\.io\.\w+|scheduler\.listenerbus\.eventqueue\.\w+\.\w+"
    r"|yarn\.heterogeneousExecutors\.\w+)$"
)

# One of the driver's queues of events by itself (AsyncEventQueue, since 3.0): what the setting for all of them takes.
_OF_ONE_QUEUE: Final = re.compile(r"(spark\.scheduler\.listenerbus\.eventqueue)\.\w+(\.capacity)")

# Ranges that Spark checks elsewhere than where it registers the setting (SparkSubmit, UnifiedMemoryManager, Kryo).
_RANGES: Final[Mapping[str, tuple[float | None, float | None]]] = {
    "spark.default.parallelism": (1, None),
    "spark.driver.cores": (1, None),
    "spark.driver.memory": (1, None),
    "spark.dynamicAllocation.maxExecutors": (1, None),
    "spark.dynamicAllocation.minExecutors": (0, None),
    "spark.executor.cores": (1, None),
    "spark.executor.instances": (0, None),
    "spark.executor.memory": (1, None),
    "spark.kryoserializer.buffer.max": (1, 2047),
    "spark.memory.fraction": (0.01, 1),
    "spark.memory.storageFraction": (0, 0.99),
    "spark.task.maxFailures": (1, None),
}


@dataclass(frozen=True, slots=True)
class Replaced:
    """What became of an old name: `renamed` ones are still read, `removed` ones are not, `deprecated` ones may be."""

    how: Literal["renamed", "deprecated", "removed"]
    since: Version
    by: str | None


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `unit` is what Spark takes a bare number for: b k m g, or ns us ms s min.

    `low` and `high` are the smallest and largest number that Spark takes, as far as it was asked (in `unit`); None for
    no limit. `defaults` are the default values by the version that brought them. `since` is (0, 0) where Spark does not
    say it and its oldest version here has it; `until` is the last version that had it, None where the newest has.
    `session`: whether one session may change it. `names` are older names that Spark still reads.
    """

    key: str
    kind: Kind
    unit: str
    defaults: tuple[tuple[Version, str], ...]
    low: float | None
    high: float | None
    options: tuple[str, ...]
    since: Version
    until: Version | None
    session: bool
    names: tuple[str, ...]
    replaced: Replaced | None

    def is_in(self, version: Version) -> bool:
        """Whether this version of Spark has it, as far as the catalogue can tell."""
        if version == (0, 0):
            return True
        return self.since <= version and (self.until is None or version <= self.until or version < OLDEST)

    def default(self, version: Version) -> str | None:
        """Its default in this version, of the newest where that is not known; None where it has none in words."""
        known = [value for since, value in self.defaults if version == (0, 0) or since <= version]
        return (known[-1] or None) if known else None


@cache
def lines() -> Mapping[str, str]:
    """The lines of the catalogue by the names of their settings: most runs need few of them."""
    rows = Path(__file__).with_name("settings.tsv").read_text(encoding="utf-8").splitlines()
    return {row[: row.index("\t")]: row for row in rows[1:]}


@cache
def settings() -> Mapping[str, Setting]:
    """All settings by their name."""
    return {key: _setting(line) for key, line in lines().items()}


@cache
def _families() -> frozenset[str]:
    return frozenset(key.split(".")[1] for key in lines())


def is_foreign(key: str) -> bool:
    """Whether a name is of a family that Spark has no setting of (a plugin's, a vendor's, a program's own), or one that
    Spark makes while it runs."""
    words = key.split(".")
    if _PUT_TOGETHER.match(key) is not None:
        return True
    return words[0] != "spark" or len(words) < 2 or words[1] not in _families() or OPEN.match(key) is not None


def setting_of(key: str) -> Setting | None:
    """The setting of this very name; None for one that is not in the catalogue."""
    line = lines().get(key)
    if line is not None:
        return _setting(line)
    of_one = _OF_ONE_QUEUE.fullmatch(key)
    general = setting_of(of_one[1] + of_one[2]) if of_one else None
    return None if general is None else replace(general, key=key, defaults=(), since=(3, 0))


@cache
def _older() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    renamed = (key for key, line in lines().items() if not line.endswith("\t\t"))
    for setting in filter(None, map(setting_of, renamed)):
        for name in setting.names:
            found.setdefault(setting.key, []).append(name)
        if setting.replaced is not None and setting.replaced.by is not None and setting.replaced.how != "removed":
            found.setdefault(setting.replaced.by, []).append(setting.key)
    return {key: tuple(dict.fromkeys(names)) for key, names in found.items()}


def older_names(key: str) -> tuple[str, ...]:
    """The names that this setting had before, whether they are still read or not."""
    return _older().get(key, ())


def is_read(key: str, version: Version) -> bool:
    """Whether this version reads a setting under this name: not one that it has given up for another."""
    setting = setting_of(key)
    if setting is None or not setting.is_in(version):
        return False
    replaced = setting.replaced
    return replaced is None or replaced.how == "renamed" or (0, 0) < version < replaced.since


@lru_cache(256)
def version_of(text: str | None) -> Version:
    """Major and minor version of a text such as `3.5.3-amzn-0`; (0, 0) where it has none."""
    found = re.match(r"(\d+)\.(\d+)", text or "")
    return (int(found[1]), int(found[2])) if found else (0, 0)


@cache
def _setting(line: str) -> Setting:
    key, kind, unit, defaults, low, high, options, since, until, session, names, replaced = line.split("\t")
    least, most = _RANGES.get(key, (float(low) if low else None, float(high) if high else None))
    return Setting(
        key,
        cast(Kind, kind),
        unit,
        tuple((version_of(v), text) for v, _, text in (part.partition("=") for part in defaults.split("|") if part)),
        least,
        most,
        tuple(options.split(",")) if options else (),
        version_of(since),
        version_of(until) if until else None,
        session == "session",
        tuple(names.split(",")) if names else (),
        _replaced(replaced),
    )


def _replaced(text: str) -> Replaced | None:
    if not text:
        return None
    how, since, by = [*text.split(" "), ""][:3]
    return Replaced(cast(Literal["renamed", "deprecated", "removed"], how), version_of(since), by or None)
