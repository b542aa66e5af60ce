"""Writes src/emberscope/tuning's facts of Spark's settings from the jars of several versions of Spark.

    python tools/settings/collect.py JARS... > src/emberscope/settings/settings.tsv

Each argument is the directory `jars` of one installation of Spark. Every version says itself what it registers
(`SparkSettings.java`, run with these jars by the `java` on the path); names that its code spells without registering
them are read from the constants of its classes. What it writes are facts: no word of Spark's documentation is kept.
"""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

HEADER = ("key", "type", "unit", "defaults", "low", "high", "options", "since", "until", "session", "names", "replaced")
PROGRAM = Path(__file__).with_name("SparkSettings.java")
# Spark before 3.2 opens these itself on older Java only.
OPENED = ("java.nio", "sun.nio.ch", "java.lang")
ROWS = ('{"key":', '{"old":', '{"deprecated":', '{"removed":')
NAME = re.compile(r"spark(?:\.[a-zA-Z][\w-]*)+")
NUMBER = re.compile(r"-?\d+(\.\d+)?(E-?\d+)?|<.*>")  # what stands for no default is in angle brackets
SIZE = re.compile(r"\d+[kmgt]?b", re.IGNORECASE)
NS_IN_HOUR = 3_600_000_000_000
UNITS = {1: "ns", 1_000: "us", 1_000_000: "ms", 1_000_000_000: "s", 60_000_000_000: "min"}
NEAR = 2049  # probes lie close together up to here
Version = tuple[int, int]


def main(directories: list[str]) -> None:
    found: dict[str, dict[str, Any]] = {}
    versions: list[Version] = []
    for version, jars in sorted((version_of(Path(d)), Path(d)) for d in directories):
        versions.append(version)
        registered, replaced = registry(jars)
        for name in constants(jars) - registered.keys():
            registered[name] = {"type": "unregistered", "since": ""}
        for key, facts in registered.items():
            add(found, key, facts, version, versions[0])
        for key, facts in replaced.items():
            found.setdefault(key, {"type": "unregistered", "since": (0, 0)}).update(facts, last=version)
    print("\t".join(HEADER))
    for key in sorted(found):
        print(line(key, found[key], versions))


def add(found: dict[str, dict[str, Any]], key: str, facts: dict[str, Any], version: Version, first: Version) -> None:
    """Puts what one version says over what older ones said; of defaults all are kept."""
    old = found.get(key, {})
    named = facts["since"] or "0"
    said = tuple(int(part) for part in f"{named}.0".split(".")[:2]) if facts["since"] else None
    # Of what nobody says when it came, the first version that has it is known, but for the oldest that was asked.
    seen = version if version > first else (0, 0)
    defaults = dict(old.get("defaults", {}))
    if facts["type"] != "unregistered" and (not defaults or list(defaults.values())[-1] != facts["default"]):
        defaults[version] = facts["default"]
    if facts["type"] == "unregistered" and old.get("type", "unregistered") != "unregistered":
        facts = {name: value for name, value in old.items() if name not in ("since", "defaults", "last")}
    since = said or old.get("since", seen)
    found[key] = {**old, **facts, "since": since, "defaults": defaults, "last": version}


def line(key: str, facts: dict[str, Any], versions: list[Version]) -> str:
    until = "" if facts["last"] == versions[-1] else dotted(facts["last"])
    defaults = "|".join(f"{dotted(version)}={clean(value)}" for version, value in facts.get("defaults", {}).items())
    cells = (
        key,
        facts["type"],
        facts.get("unit", ""),
        defaults,
        facts.get("low", ""),
        facts.get("high", ""),
        facts.get("options", ""),
        dotted(facts["since"]) if facts["since"] > (0, 0) else "",
        until,
        "session" if facts.get("session") else "",
        ",".join(facts.get("names", ())),
        facts.get("replaced", ""),
    )
    return "\t".join(cells)


def dotted(version: Version) -> str:
    return f"{version[0]}.{version[1]}"


def clean(text: str) -> str:
    """A default as one cell; long texts and those that point elsewhere, or that this machine made, say nothing that can
    be compared."""
    made_here = text.startswith("<") or "file:" in text or re.fullmatch(r"\d+(\.\d+){3}", text)
    return "" if len(text) > 120 or made_here else re.sub(r"[\t\n|]", " ", text)


def version_of(jars: Path) -> Version:
    (core,) = jars.glob("spark-core_*.jar")
    major, minor = re.findall(r"-(\d+)\.(\d+)", core.name)[-1]
    return int(major), int(minor)


def registry(jars: Path) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """What this version registers, by key; and its deprecated and removed names."""
    opens = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
    command = [
        "java",
        *opens,
        "-cp",
        f"{jars}/*",
        str(PROGRAM),
        *(str(path) for path in sorted(jars.glob("spark-*.jar"))),
    ]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # Some versions log to the standard output.
    rows = [json.loads(line) for line in said.splitlines() if line.startswith(ROWS)]
    registered: dict[str, dict[str, Any]] = {}
    replaced: dict[str, dict[str, Any]] = {}
    for row in rows:
        if "key" in row:
            registered[row["key"]] = facts_of(row)
    for row in rows:
        if "old" in row:
            replaced[row["old"]] = {"replaced": f"renamed {short(row['in'])} {row['new']}"}
    for row in rows:
        for status in ("deprecated", "removed"):
            if status in row and row[status] not in replaced:
                named = [name for name in NAME.findall(row["comment"]) if name != row[status]]
                new = named[0] if named and (named[0] in registered or status == "deprecated") else ""
                replaced[row[status]] = {"replaced": f"{status} {short(row['in'])} {new}".strip()}
    for key, facts in registered.items():
        for name in facts["names"]:
            replaced.setdefault(name, {"replaced": f"renamed  {key}"})
    return registered, replaced


def short(version: str) -> str:
    return ".".join(version.split(".")[:2])


def facts_of(row: dict[str, Any]) -> dict[str, Any]:
    """Type, unit and range of a setting from what its converter made of the probes."""
    facts: dict[str, Any] = {
        "type": "string",
        "unit": "",
        "low": "",
        "high": "",
        "options": "",
        "since": row["since"],
        "default": row["default"],
        "names": row["alternatives"],
        "session": not row["static"],
    }
    if "probes" not in row:
        return facts
    taken = {text: made(answer) for text, answer in row["probes"].items()}
    refusals = (answer for answer in row["probes"].values() if isinstance(answer, dict))
    options = next((answer["options"] for answer in refusals if "options" in answer), None)
    numbers = sorted((float(text), text) for text in row["valid"])
    if taken["true"] is not None and taken["7"] is None and taken["!?"] is None:
        return facts | {"type": "bool"}
    if options and taken["7"] is None and taken["1g"] is None and taken["1h"] is None:
        return facts | {"type": "enum", "options": ",".join(sorted(re.findall(r"[\w.-]+", options)))}
    if taken["!?"] is not None or taken["1g"] == "1g":
        return facts
    if taken["1g"] is not None:
        unit = {1 << 30: "b", 1 << 20: "k", 1 << 10: "m", 1: "g"}[int(taken["1g"])]
        return facts | {"type": "bytes", "unit": unit} | bounds(numbers, row["default"])
    if SIZE.fullmatch(row["default"]):  # one of which a gigabyte is too much
        return facts | {"type": "bytes", "unit": "b"} | bounds(numbers, row["default"])
    if taken["1h"] is not None:
        unit = NS_IN_HOUR // int(taken["1h"])
        return facts | {"type": "time", "unit": UNITS[unit]} | bounds(numbers, row["default"])
    if numbers and NUMBER.fullmatch(row["default"]):
        whole = taken["1.5"] is None and "." not in row["default"] and not any("." in text for text in row["valid"])
        return facts | {"type": "int" if whole else "float"} | bounds(numbers, row["default"])
    return facts


def made(answer: str | dict[str, Any]) -> str | None:
    """The value that a probe was turned into; None where it was refused."""
    if isinstance(answer, dict):
        return None
    value = answer.partition(":")[2]
    inner = re.fullmatch(r"Some\((.*)\)", value)
    return inner[1] if inner else value


def bounds(numbers: list[tuple[float, str]], default: str) -> dict[str, str]:
    """Smallest and largest number that was taken; nothing where all were on that side, where the limit lies between two
    probes that are far apart, and where Spark's own default breaks it."""
    if not numbers:
        return {}
    (low, least), (high, most) = numbers[0], numbers[-1]
    standing = float(default) if NUMBER.fullmatch(default) and default[0] != "<" else None
    return {
        "low": "" if not -2 <= low <= NEAR or (standing is not None and standing < low) else least,
        "high": "" if high > NEAR or (standing is not None and standing > high) else most,
    }


def constants(jars: Path) -> set[str]:
    """Every text constant of Spark's classes that is the name of a setting."""
    found: set[str] = set()
    for path in jars.glob("spark-*.jar"):
        with zipfile.ZipFile(path) as jar:
            for name in jar.namelist():
                if name.endswith(".class"):
                    found |= {text for text in texts(jar.read(name)) if NAME.fullmatch(text) and text.count(".") > 1}
    return found


def texts(data: bytes) -> set[str]:
    """The UTF-8 entries of a class file's constant pool."""
    (count,) = struct.unpack_from(">H", data, 8)
    at, index, found = 10, 1, set()
    widths = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
    while index < count:
        tag = data[at]
        if tag == 1:
            (length,) = struct.unpack_from(">H", data, at + 1)
            if data[at + 3 : at + 9] == b"spark.":
                found.add(data[at + 3 : at + 3 + length].decode(errors="replace"))
            at += 3 + length
        else:
            at += 1 + widths[tag]
        index += 2 if tag in (5, 6) else 1
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
