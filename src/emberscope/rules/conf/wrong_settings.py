"""Settings that Spark does not read as they stand: misspelt names, wrong values, old names.

## What it means
Spark ignores a setting whose name it does not know, without a word. So nothing comes of a slip in a name, of a name
from a later version or from an earlier one, of an old name beside the new one, or of a detail of something that is
switched off; and whoever wrote it believes that it works. Some values of the wrong kind show only when code first reads
them. Names of vendors and of your own programs are not judged.

## What it costs
Nothing by itself, so it has no price: it costs what the setting was meant to save. A misspelt
`spark.sql.shuffle.partitions`, for example, leaves the default of 200.

## What to do
Write the names as given below. Remove what has no effect, so that the next reader is not misled. Old names that Spark
still reads are listed because a later version may stop reading them.

## When to ignore it
When another program reads the setting: a plugin, a vendor's Spark, your own code. Old names may also stay where the
same configuration must serve old versions of Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Consequence, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.settings import is_vendors, version
from emberscope.settings.catalog import OLDEST, OPEN, Setting, Version, is_read, older_names, setting_of
from emberscope.settings.names import meant
from emberscope.settings.switches import switches_of
from emberscope.settings.values import problem
from emberscope.tables.conf import CONF
from emberscope.tables.run import settings_of
from emberscope.units import counted

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Which names and values there are is Spark's own registry, version by version (`settings/settings.tsv`). How far
    a slip may be from the name that was meant is our proposal: nothing but capitals, dots and dashes differ, or one
    letter in fourteen, two in twenty-four."""

    most_told: int = 12  # settings told one by one (proposal)


class Wrong(Struct, frozen=True):
    """One setting: what is wrong with it in a sentence, whether it does nothing as it stands, and what to do."""

    key: str
    what: str
    idle: bool
    advice: tuple[Advice, ...]


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    values = {key: value for (scope, key), value in settings_of(run).items() if scope == "spark"}
    found = [wrong for key in sorted(values) if (wrong := _wrong(key, values, version(run), vendor=is_vendors(run)))]
    if not found:
        return
    found.sort(key=lambda wrong: not wrong.idle)
    idle = sum(wrong.idle for wrong in found)
    old = len(found) - idle
    parts = [f"{counted(idle, 'setting')} without effect"] if idle else []
    parts += [f"{counted(old, 'setting')} under an old or wrong name"] if old else []
    consequence: Consequence = "risk" if idle else "hint"
    yield Finding(
        title=" and ".join(parts),
        summary="Spark reads past names that it does not know without a word, and the run goes as if nobody had set "
        "them. What is wrong with each stands below.",
        where=Where(),
        evidence=tuple(Evidence(wrong.what, "conf") for wrong in found[: limits.most_told]),
        advice=tuple(item for wrong in found[: limits.most_told] for item in wrong.advice),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="What the settings were to bring is not known, so there is no price.",
        confidence=0.9 if idle else 0.8,
        consequence=consequence,
    )


def _wrong(key: str, values: Mapping[str, str], spark: Version, *, vendor: bool) -> Wrong | None:
    setting, value = setting_of(key), values[key]
    if not key.startswith("spark.") or OPEN.match(key):
        return None
    if setting is None:
        near = meant(key, spark)
        return _slip(key, value, near, values) if near is not None else None
    shadowed = setting.replaced.by if setting.replaced is not None else None
    if shadowed in values and shadowed is not None and values[shadowed] != value and not vendor:
        what = f"{key}={value} is read no more beside {shadowed}={values[shadowed]}, its new name."
        return Wrong(key, what, True, (Advice("unset", f"{shadowed} counts.", key),))
    if vendor or not spark >= OLDEST:
        return None
    return _of_version(setting, value, spark) or _of_value(setting, value) or _of_switch(setting, value, values, spark)


def _slip(key: str, value: str, near: Setting, values: Mapping[str, str]) -> Wrong:
    what = f"{key}={value}: Spark knows no such setting; {near.key} is probably meant."
    if near.key in values:
        return Wrong(key, what, False, (Advice("unset", f"{near.key} is set too, and counts.", key),))
    remove = Advice("unset", "Nothing reads it.", key)
    if problem(near, value) is not None:
        return Wrong(key, what, True, (remove, Advice("check", f"Set {near.key}; “{value}” is no value for it.")))
    return Wrong(key, what, True, (set_conf(near.key, value, f"The name as Spark reads it, for {key}."), remove))


def _of_version(setting: Setting, value: str, spark: Version) -> Wrong | None:
    key, replaced = setting.key, setting.replaced
    words = f"Spark {spark[0]}.{spark[1]}"
    if not setting.is_in(spark) and setting.kind != "unregistered":
        newer = setting.since > spark
        when = (
            f"it came with {_dotted(setting.since)}" if newer else f"{_dotted(setting.until)} was the last to have it"
        )
        advice = Advice("check", f"{key} needs Spark {_dotted(setting.since)}." if newer else f"Remove {key}.")
        return Wrong(key, f"{key}={value} does nothing in {words}: {when}.", True, (advice,))
    if replaced is None or replaced.since > spark:
        return None
    new = setting_of(replaced.by) if replaced.by is not None else None
    instead = f": {replaced.by} is its new name" if replaced.by else ""
    unit = "; mind its unit" if new is not None and new.unit else ""
    advice = Advice("check", f"Write {replaced.by} in place of {key}{unit}." if replaced.by else f"Remove {key}.")
    if is_read(key, spark) or replaced.how == "deprecated":
        since = f" since Spark {_dotted(replaced.since)}" if replaced.since > (0, 0) else ""
        return Wrong(key, f"{key} is out of use{since}{instead}.", False, (advice,))
    return Wrong(key, f"{key}={value} does nothing in {words}{instead}.", True, (advice,))


def _of_value(setting: Setting, value: str) -> Wrong | None:
    if "redacted" in value or "$" in value:
        return None
    why = problem(setting, value)
    if why is None:
        return None
    return Wrong(setting.key, f"{setting.key}: {why}.", True, (Advice("check", f"Mend the value of {setting.key}."),))


def _of_switch(setting: Setting, value: str, values: Mapping[str, str], spark: Version) -> Wrong | None:
    """A detail of something that is off because nobody switched it on; where somebody said no, it was on purpose."""
    for switch, wanted in switches_of(setting.key):
        named = (switch.key, *older_names(switch.key))
        default = switch.default(spark)
        if default is None or default.lower() == wanted.lower() or any(name in values for name in named):
            continue
        if setting.default(spark) == value or not switch.is_in(spark):
            continue
        what = f"{setting.key}={value} does nothing while {switch.key} is {default}, Spark's default."
        text = f"Set {switch.key}={wanted} too if you want it, or remove {setting.key}."
        return Wrong(setting.key, what, True, (Advice("check", text),))
    return None


def _dotted(spark: Version | None) -> str:
    return f"{spark[0]}.{spark[1]}" if spark else "another version"


RULE = Rule(
    code="G9",
    name="wrong-settings",
    since="0.1",
    reads=(Reads(CONF, ("key", "value")),),
    limits=Limits(),
    check=check,
)
