"""Settings in the words of the place where they are pasted: one function for each dialect.

Whatever a value holds (spaces, quotes, `=`, newlines, any letter), its reader gets it back as it was; what a dialect
has no way to say is left out and told.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from emberscope.recorder.properties import line
from emberscope.tuning.patch import Patch
from emberscope.units import printable


class Written(Struct, frozen=True):
    """The text to paste, and what to know of it that the text itself does not say."""

    text: str
    notes: tuple[str, ...] = ()


def spark_defaults(settings: Mapping[str, str], notes: Sequence[str] = ()) -> Written:
    """Lines of `spark-defaults.conf` or of a properties file."""
    return Written(_comments(notes) + "".join(line(key, value) for key, value in settings.items()))


def flags(settings: Mapping[str, str], notes: Sequence[str] = ()) -> Written:
    """Arguments of spark-submit, for a shell."""
    given = [f"--conf {shlex.quote(f'{key}={value}')}" for key, value in settings.items()]
    return Written(" \\\n".join(given) + "\n", tuple(notes))


def python(settings: Mapping[str, str], notes: Sequence[str] = ()) -> Written:
    """The session's builder in Python."""
    calls = "".join(f"    .config({key!r}, {value!r})\n" for key, value in settings.items())
    return Written(f"{_comments(notes)}builder = (\n    SparkSession.builder\n{calls})\n")


def emr(settings: Mapping[str, str], notes: Sequence[str] = ()) -> Written:
    """The configuration of an EMR cluster, step or job: one classification."""
    return Written(_json([{"Classification": "spark-defaults", "Properties": dict(settings)}]), tuple(notes))


def glue(settings: Mapping[str, str], notes: Sequence[str] = ()) -> Written:
    """The job argument `--conf` of AWS Glue, which takes all settings in one text, split at white space."""
    split = [key for key, value in settings.items() if not value or re.search(r"[\s\"'\\]", key + value)]
    taken = [f"{key}={value}" for key, value in settings.items() if key not in split]
    told = [f"Glue splits its --conf at white space and quotes: set {key} in the job's code." for key in split]
    return Written(_json({"--conf": " --conf ".join(taken)} if taken else {}), (*notes, *told))


def databricks(settings: Mapping[str, str], notes: Sequence[str] = ()) -> Written:
    """The part of a Databricks cluster's JSON that holds Spark's settings."""
    return Written(_json({"spark_conf": dict(settings)}), tuple(notes))


def k8s(settings: Mapping[str, str], notes: Sequence[str] = ()) -> Written:
    """A SparkApplication of the Kubernetes operator. Its own fields win over `sparkConf`: what they name stands there
    alone."""
    parts: dict[str, list[str]] = {"driver": [], "executor": [], "dynamicAllocation": []}
    conf = []
    for key, value in settings.items():
        part, field, as_text = _FIELDS.get(key, ("", "", False))
        if part and (as_text or re.fullmatch(r"\d+|true|false", value)):
            parts[part].append(f"    {field}: {_yaml(value) if as_text else value}\n")
        else:
            conf.append(f"    {_yaml(key)}: {_yaml(value)}\n")
    body = f"  sparkConf:\n{''.join(conf)}" if conf else ""
    body += "".join(f"  {part}:\n{''.join(fields)}" for part, fields in parts.items() if fields)
    return Written(f"{_comments(notes)}spec:\n{body}" if body else f"{_comments(notes)}spec: {{}}\n")


# Setting to (part, field, whether its value is a text) of a SparkApplication.
_FIELDS: Final = {
    "spark.driver.cores": ("driver", "cores", False),
    "spark.driver.memory": ("driver", "memory", True),
    "spark.driver.memoryOverhead": ("driver", "memoryOverhead", True),
    "spark.executor.cores": ("executor", "cores", False),
    "spark.executor.instances": ("executor", "instances", False),
    "spark.executor.memory": ("executor", "memory", True),
    "spark.executor.memoryOverhead": ("executor", "memoryOverhead", True),
    "spark.dynamicAllocation.enabled": ("dynamicAllocation", "enabled", False),
    "spark.dynamicAllocation.initialExecutors": ("dynamicAllocation", "initialExecutors", False),
    "spark.dynamicAllocation.minExecutors": ("dynamicAllocation", "minExecutors", False),
    "spark.dynamicAllocation.maxExecutors": ("dynamicAllocation", "maxExecutors", False),
}

DIALECTS: Final[Mapping[str, Callable[[Mapping[str, str], Sequence[str]], Written]]] = {
    "spark-defaults": spark_defaults,
    "flags": flags,
    "python": python,
    "emr": emr,
    "glue": glue,
    "databricks": databricks,
    "k8s": k8s,
}


def written(patch: Patch, dialect: str) -> Written:
    """A patch in one dialect, with its remarks."""
    return DIALECTS[dialect](patch.settings, patch.remarks())


def patch_lines(patch: Patch) -> list[str]:
    """A patch as lines of `spark-defaults.conf`, remarks first; empty where there is nothing to change."""
    return written(patch, "spark-defaults").text.splitlines() if patch.changes else []


def _comments(notes: Sequence[str]) -> str:
    """Notes as lines that Python, YAML and properties files all leave alone."""
    return "".join(f"# {printable(' '.join(note.split()))}\n" for note in notes)


def _json(document: object) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _yaml(text: str) -> str:
    """A text in double quotes; letters that YAML does not let stand are escaped as it wants them."""
    return '"' + "".join(_ESCAPES.get(letter) or _shown(letter) for letter in text) + '"'


_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _shown(letter: str) -> str:
    code = ord(letter)
    if letter.isprintable():
        return letter
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
