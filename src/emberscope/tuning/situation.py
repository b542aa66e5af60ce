"""What a change of settings meets: the version of Spark, where the application ran, and what was set already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.settings import is_local, is_vendors
from emberscope.settings.catalog import Setting, Version, is_read, older_names, setting_of, version_of
from emberscope.settings.values import number_of
from emberscope.tables.run import settings_of

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_WRITTEN: Final = frozenset({"log_events", "conf"})
"""The tables of what people and programs wrote: settings in them are a few of all."""


class Situation(Struct, frozen=True):
    """`values` and `hadoop`: what the run had set, of Spark's and of Hadoop's settings. `distribution`: whether Spark
    was not the plain one of its project but that of `vendor`. `known`: whether what is not in `values` was not set;
    logs and questions show only the settings that somebody happened to write."""

    version: Version
    distribution: bool
    vendor: str | None
    local: bool
    values: Mapping[str, str]
    hadoop: Mapping[str, str]
    known: bool = True

    def own(self, key: str) -> str | None:
        """What the user set, by this name or by an older one that Spark reads too."""
        if key in self.values:
            return self.values[key]
        names = (name for name in older_names(key) if name in self.values and is_read(name, self.version))
        return next((self.values[name] for name in names), None)

    def value(self, key: str) -> str | None:
        """What held in the run: set, or Spark's default; None where it has none."""
        own = self.own(key)
        if own is not None:
            return own
        setting = setting_of(key)
        return setting.default(self.version) if setting is not None else None

    def number(self, key: str) -> float | None:
        """The number that held, in the setting's own unit; None where there is none."""
        setting, value = setting_of(key), self.value(key)
        return number_of(setting, value) if setting is not None and value is not None else None

    def named(self, key: str) -> str:
        """The name by which this version knows a setting: an older one where the newer is too new."""
        setting = setting_of(key)
        if setting is None or self.distribution or setting.is_in(self.version):
            return key
        return next((name for name in older_names(key) if is_read(name, self.version)), key)


def situation_of(run: Run) -> Situation:
    found = settings_of(run)
    application = run.application
    return Situation(
        version_of(application.spark_version),
        is_vendors(run),
        application.vendor,
        is_local(run),
        {key: value for (scope, key), value in found.items() if scope == "spark"},
        {key: value for (scope, key), value in found.items() if scope == "hadoop"},
        not set(run.tables) <= _WRITTEN,
    )


def as_number(key: str, value: str | None) -> float | None:
    """The number that a value of this setting stands for."""
    setting: Setting | None = setting_of(key)
    return number_of(setting, value) if setting is not None and value is not None else None
