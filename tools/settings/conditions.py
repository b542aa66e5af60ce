"""Writes the facts of Spark's error conditions from the jars of several versions of Spark.

    python tools/settings/conditions.py JARS... > src/emberscope/settings/conditions.tsv

Each argument is the directory `jars` of one installation of Spark. Its jars hold the conditions as one JSON document:
in spark-common-utils from 3.5 on, in spark-core before. What is kept are facts: the name, the SQLSTATE, the versions
that have it, and of the message only the two or three words around each parameter, by which its value is found in a
message again.
"""

from __future__ import annotations

import json
import re
import sys
import zipfile
from pathlib import Path
from typing import Any

HEADER = ("condition", "sqlstate", "since", "until", "parameters")
NAMES = ("error/error-conditions.json", "error/error-classes.json", "error-classes.json")
SUBCLASSES = re.compile(r"error/error-conditions-[\w-]+\.json|error/[\w-]+-error-conditions\.json")
PARAMETER = re.compile(r"<([A-Za-z]\w*)>")
SEPARATOR = "¦"
WORDS_BEFORE, WORDS_AFTER = 3, 2
Version = tuple[int, int]


def main(directories: list[str]) -> None:
    found: dict[str, dict[str, Any]] = {}
    versions = sorted((version_of(Path(directory)), Path(directory)) for directory in directories)
    for version, jars in versions:
        for name, state, text in conditions(jars):
            entry = found.setdefault(name, {"since": version})
            entry.update(state=state or entry.get("state", ""), parameters=parameters(text), last=version)
    oldest, newest = versions[0][0], versions[-1][0]
    print("\t".join(HEADER))
    for name, entry in sorted(found.items()):
        since = "" if entry["since"] == oldest else "{}.{}".format(*entry["since"])
        until = "" if entry["last"] == newest else "{}.{}".format(*entry["last"])
        print("\t".join((name, entry["state"], since, until, SEPARATOR.join(entry["parameters"]))))


def version_of(jars: Path) -> Version:
    """Major and minor version of the Spark that these jars are."""
    for jar in jars.glob("spark-core_*.jar"):
        numbers = re.search(r"_2\.\d+-(\d+)\.(\d+)", jar.name)
        if numbers:
            return int(numbers[1]), int(numbers[2])
    raise SystemExit(f"{jars} holds no spark-core jar")


def conditions(jars: Path) -> list[tuple[str, str, str]]:
    """Name, SQLSTATE, message of each condition and its subclasses (`NAME.SUBCLASS`), without the legacy ones."""
    rows = []
    for name, entry in document(jars).items():
        if name.startswith("_LEGACY_"):
            continue
        state = entry.get("sqlState", "")
        rows.append((name, state, "\n".join(entry.get("message", ()))))
        for sub, more in (entry.get("subClass") or {}).items():
            rows.append((f"{name}.{sub}", more.get("sqlState", state), "\n".join(more.get("message", ()))))
    return rows


def document(jars: Path) -> dict[str, Any]:
    """All conditions of one version."""
    for jar in (*jars.glob("spark-common-utils_*.jar"), *jars.glob("spark-core_*.jar")):
        with zipfile.ZipFile(jar) as members:
            names = set(members.namelist())
            for name in NAMES:
                if name in names:
                    read = json.loads(members.read(name))
                    # In 4.x error-classes.json is the list of classes of SQLSTATEs.
                    if all(isinstance(entry, dict) and "message" in entry for entry in read.values()):
                        return dict(read)
    raise SystemExit(f"{jars} holds no error conditions")


def parameters(message: str) -> list[str]:
    """`before<parameter>after` for each, with the few words that stand around it."""
    text = re.sub(r"\s+", " ", message).strip()
    pieces = PARAMETER.split(text)
    found = []
    for index in range(1, len(pieces), 2):
        before, after = pieces[index - 1], pieces[index + 1]
        head = re.findall(r"\S*\s*", before)
        tail = re.findall(r"\s*\S*", after)
        near = "".join([part for part in head if part][-WORDS_BEFORE:])
        next_ = "".join([part for part in tail if part][:WORDS_AFTER])
        found.append(f"{near}<{pieces[index]}>{next_}".replace("\t", " "))
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
