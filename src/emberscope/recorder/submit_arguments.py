"""The options of spark-submit and of the shells: what the user sets there, and how to add to it in place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

PROGRAMS: Final = frozenset({"spark-submit", "pyspark", "spark-shell", "spark-sql", "sparkR", "run-example"})
"""Programs that take spark-submit's options."""

# Those that hand unknown arguments on and go on reading options; spark-submit stops at the first one.
_SHELLS: Final = PROGRAMS - {"spark-submit", "run-example"}

_WITH_VALUE: Final = frozenset(
    {
        "--archives",
        "--class",
        "--conf",
        "--deploy-mode",
        "--driver-class-path",
        "--driver-cores",
        "--driver-java-options",
        "--driver-library-path",
        "--driver-memory",
        "--exclude-packages",
        "--executor-cores",
        "--executor-memory",
        "--files",
        "--jars",
        "--keytab",
        "--kill",
        "--master",
        "--name",
        "--num-executors",
        "--packages",
        "--principal",
        "--properties-file",
        "--proxy-user",
        "--py-files",
        "--queue",
        "--remote",
        "--repositories",
        "--status",
        "--total-executor-cores",
    }
)
_SWITCHES: Final = frozenset(
    {
        "--help",
        "-h",
        "--load-spark-defaults",
        "--supervise",
        "--usage-error",
        "--verbose",
        "-v",
        "--version",
    }
)

# Options that say the same as a setting; the option wins over `--conf`.
_AS_SETTING: Final = {
    "--jars": "spark.jars",
    "--driver-java-options": "spark.driver.extraJavaOptions",
    "--driver-class-path": "spark.driver.extraClassPath",
    "--deploy-mode": "spark.submit.deployMode",
    "--master": "spark.master",
    "--remote": "spark.remote",
}


@dataclass(frozen=True, slots=True)
class Option:
    """One option as it stands: at `index`, its value in the next argument or after `=`."""

    name: str
    value: str
    index: int
    joined: bool


def options(arguments: Sequence[str], *, program: str = "spark-submit") -> list[Option]:
    """The options with a value among spark-submit's arguments, up to the primary resource."""
    found: list[Option] = []
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        joined = re.fullmatch(r"(--[^=]+)=(.+)", argument, re.S)
        name = joined[1] if joined else argument
        name = "--conf" if name == "-c" else name
        if name in _WITH_VALUE:
            if joined:
                found.append(Option(name, joined[2], index, True))
            elif index + 1 < len(arguments):
                found.append(Option(name, arguments[index + 1], index, False))
                index += 1
        elif name not in _SWITCHES and program not in _SHELLS:
            break
        index += 1
    return found


def settings(arguments: Sequence[str], *, program: str = "spark-submit") -> dict[str, str]:
    """The Spark settings that these arguments give, by `--conf` or by an option of their own."""
    given = options(arguments, program=program)
    found: dict[str, str] = {}
    for option in given:
        if option.name == "--conf" and "=" in option.value:
            key, _, value = option.value.partition("=")
            found[key] = value
    for option in given:
        if option.name in _AS_SETTING:
            found[_AS_SETTING[option.name]] = option.value
    return found


def properties_file(arguments: Sequence[str], *, program: str = "spark-submit") -> str | None:
    """The file that is read in place of `spark-defaults.conf`, if one is named."""
    named = [option.value for option in options(arguments, program=program) if option.name == "--properties-file"]
    return named[-1] if named else None


def reads_defaults_too(arguments: Sequence[str]) -> bool:
    """Whether `spark-defaults.conf` is read although a properties file is named (Spark 4)."""
    return "--load-spark-defaults" in arguments


def with_settings(arguments: Sequence[str], values: Mapping[str, str], *, program: str = "spark-submit") -> list[str]:
    """The arguments with these settings: where a setting stands already its value is replaced, else it is put first.

    The values must have been merged with the user's before. Nothing behind the primary resource is touched.
    """
    result = list(arguments)
    placed: set[str] = set()
    for option in options(arguments, program=program):
        key = option.value.partition("=")[0] if option.name == "--conf" else _AS_SETTING.get(option.name, "")
        if key not in values:
            continue
        placed.add(key)
        value = f"{key}={values[key]}" if option.name == "--conf" else values[key]
        result[option.index + (not option.joined)] = f"{option.name}={value}" if option.joined else value
    added = [argument for key in values if key not in placed for argument in ("--conf", f"{key}={values[key]}")]
    return added + result
