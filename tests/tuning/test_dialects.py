"""What is written in a dialect is read back by whoever reads it: a shell, Java, Python, JSON and YAML."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emberscope.recorder import properties
from emberscope.tuning.dialects import DIALECTS, Written

HARD = {
    "spark.a": "two words",
    "spark.b": 'it\'s "quoted" $HOME `x` \\n',
    "spark.c": "k=v:w,#x!y",
    "spark.d": "line\nline\ttab",
    "spark.e": "größe 数 \U0001f525",
    "spark.f": "",
    "spark.g": "true",
    "spark.h": "=: # - {x} [y] & * ? | > %",
    "spark.i": "null",
    "spark.j": "0123",
    "spark.k": "a\\",
    "spark.executor.memory": "8g",
    "spark.executor.cores": "4",
    "spark.dynamicAllocation.enabled": "true",
}
# What any configuration can hold: no NUL, which no shell argument has, and no half of a surrogate pair.
VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=30)
SETTINGS = st.dictionaries(st.from_regex(r"spark\.[a-z.A-Z]{1,12}", fullmatch=True), VALUES, min_size=1, max_size=5)


class Builder:
    def __init__(self) -> None:
        self.got: dict[str, str] = {}

    def config(self, key: str, value: str) -> Builder:
        self.got[key] = value
        return self


def python(text: str) -> dict[str, str]:
    builder = Builder()
    exec(text, {"SparkSession": type("SparkSession", (), {"builder": builder})})
    return builder.got


def shell(text: str) -> dict[str, str]:
    """The arguments as bash hands them on."""
    said = subprocess.run(
        ["bash", "-c", 'set -f; show() { printf "%s\\0" "$@"; }; show ' + text], capture_output=True, check=True
    ).stdout
    words = said.decode().split("\0")[:-1]
    assert words[::2] == ["--conf"] * (len(words) // 2)
    return dict(word.split("=", 1) for word in words[1::2])


def k8s(text: str) -> dict[str, str]:
    """The settings that Spark gets from a SparkApplication: its own fields win over sparkConf."""
    spec: dict[str, Any] = yaml.safe_load(text)["spec"]
    found = dict(spec.get("sparkConf", {}))
    for part in ("driver", "executor", "dynamicAllocation"):
        for field, value in spec.get(part, {}).items():
            found[f"spark.{part}.{field}"] = json.dumps(value) if isinstance(value, bool) else str(value)
    return found


def wrote(dialect: str, values: dict[str, str], *notes: str) -> Written:
    return DIALECTS[dialect](values, notes)


@given(SETTINGS)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_value_comes_back(values: dict[str, str]) -> None:
    assert python(wrote("python", values).text) == values
    assert json.loads(wrote("emr", values).text) == [{"Classification": "spark-defaults", "Properties": values}]
    assert json.loads(wrote("databricks", values).text) == {"spark_conf": values}
    assert k8s(wrote("k8s", values).text) == values


@given(SETTINGS)
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])
def test_every_value_comes_back_from_a_shell(values: dict[str, str]) -> None:
    assert shell(wrote("flags", values).text) == values


@pytest.mark.parametrize(
    ("dialect", "read"),
    [
        ("flags", shell),
        ("python", python),
        ("emr", lambda text: json.loads(text)[0]["Properties"]),
        ("databricks", lambda text: json.loads(text)["spark_conf"]),
        ("k8s", k8s),
    ],
)
def test_hard_values_come_back_and_notes_do_no_harm(dialect: str, read: Any) -> None:
    assert read(wrote(dialect, HARD, "a note\nspark.evil=1", '"); import os').text) == HARD


def test_java_reads_the_properties_back() -> None:
    text = wrote("spark-defaults", HARD, "a note\nspark.evil=1 \\").text
    said = subprocess.run(
        ["java", str(Path(__file__).with_name("ReadProperties.java"))],
        input=text.encode(),
        capture_output=True,
        check=True,
    ).stdout
    rows = [line.split(" ") for line in said.decode().splitlines()]
    read = {bytes.fromhex(key[1:]).decode(): bytes.fromhex(value[1:]).decode() for key, value in rows}
    assert read == HARD
    assert properties.parse(text) == HARD


def test_glue_takes_one_text_without_white_space_in_values() -> None:
    written = wrote("glue", {"spark.a": "1", "spark.b": "x=y", "spark.c": "two words"}, "a note")
    assert json.loads(written.text)["--conf"].split(" --conf ") == ["spark.a=1", "spark.b=x=y"]
    assert written.notes[0] == "a note"
    assert "spark.c" in written.notes[1]


def test_k8s_has_in_fields_what_fields_override() -> None:
    values = {"spark.executor.memory": "8g", "spark.executor.instances": "3", "spark.sql.shuffle.partitions": "400"}
    spec = yaml.safe_load(wrote("k8s", values).text)["spec"]
    assert spec == {
        "sparkConf": {"spark.sql.shuffle.partitions": "400"},
        "executor": {"memory": "8g", "instances": 3},
    }
