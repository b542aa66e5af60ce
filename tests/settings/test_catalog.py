"""The catalogue against Spark itself, and the words in which it refuses."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pyspark
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.settings.catalog import is_read, older_names, setting_of, settings, version_of
from emberscope.settings.names import distance, meant
from emberscope.settings.values import number_of, problem


def test_it_knows_every_setting_that_this_spark_names_in_its_core() -> None:
    (core,) = (Path(pyspark.__file__).parent / "jars").glob("spark-core_*.jar")
    with zipfile.ZipFile(core) as jar:
        config = b"".join(jar.read(name) for name in jar.namelist() if "internal/config/" in name)
    named = {text.decode() for text in re.findall(rb"(?<=[\0-\x7f])spark(?:\.[a-z]\w*){2,}(?=[^\w.])", config)}
    registered = {key for key, setting in settings().items() if setting.kind != "unregistered"}
    assert len(named & registered) > 200
    assert len(named - settings().keys()) < 0.1 * len(named)  # what is left are classes and words of documentation


def test_its_facts_are_those_of_spark() -> None:
    assert len(settings()) > 1500
    memory = settings()["spark.executor.memory"]
    assert (memory.kind, memory.unit, memory.default((3, 5)), memory.session) == ("bytes", "m", "1g", False)
    adaptive = settings()["spark.sql.adaptive.enabled"]
    assert (adaptive.default((3, 1)), adaptive.default((3, 2)), adaptive.session) == ("false", "true", True)
    assert settings()["spark.network.timeout"].unit == "s"
    factor = settings()["spark.executor.memoryOverheadFactor"]
    assert (factor.is_in((3, 2)), factor.is_in((3, 3)), factor.is_in((2, 4))) == (False, True, False)
    assert "spark.yarn.executor.memoryOverhead" in older_names("spark.executor.memoryOverhead")
    assert is_read("spark.yarn.executor.memoryOverhead", (3, 5))
    assert is_read("spark.blacklist.enabled", (3, 0))
    assert not is_read("spark.blacklist.enabled", (3, 5))


@pytest.mark.parametrize(
    ("key", "value", "number"),
    [
        ("spark.executor.memory", "4g", 4096),
        ("spark.executor.memory", "4096", 4096),
        ("spark.executor.memory", "1048576b", 1),
        ("spark.network.timeout", "120", 120),
        ("spark.network.timeout", "2min", 120),
        ("spark.sql.autoBroadcastJoinThreshold", "10MB", 10485760),
        ("spark.sql.autoBroadcastJoinThreshold", "-1", -1),
        ("spark.task.maxFailures", "8", 8),
        ("spark.memory.fraction", "0.6", 0.6),
        ("spark.serializer", "x", None),
    ],
)
def test_values_are_numbers_in_the_unit_of_the_setting(key: str, value: str, number: float | None) -> None:
    assert number_of(settings()[key], value) == number
    assert problem(settings()[key], value) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.executor.memory", "4 gigs"),
        ("spark.executor.memoryOverheadFactor", "13516m"),
        ("spark.executor.cores", "0"),
        ("spark.executor.cores", "2.5"),
        ("spark.network.timeout", "soon"),
        ("spark.sql.adaptive.enabled", "on"),
        ("spark.kryoserializer.buffer.max", "2g"),
        ("spark.sql.storeAssignmentPolicy", "RANDOM"),
    ],
)
def test_values_that_spark_refuses_are_refused(key: str, value: str) -> None:
    assert problem(settings()[key], value)


def test_every_default_is_a_value_that_spark_takes() -> None:
    wrong = {
        (setting.key, value)
        for setting in settings().values()
        if (value := setting.default((0, 0))) and problem(setting, value) is not None
    }
    assert wrong == set()


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("spark.executor.memory.overhead", "spark.executor.memoryOverhead"),
        ("spark.sql.shufle.partitions", "spark.sql.shuffle.partitions"),
        ("spark.dynamicallocation.enabled", "spark.dynamicAllocation.enabled"),
        ("spark.executor.memoryOverHead", "spark.executor.memoryOverhead"),
        ("spark.sql.adpative.enabled", "spark.sql.adaptive.enabled"),
        ("spark.executor.core", "spark.executor.cores"),
        ("spark.myteam.retries", None),
        ("spark.databricks.delta.optimizeWrite.enabled", None),
        ("spark.hadoop.fs.s3a.impl", None),
        ("spark.executor.memory", None),
        ("spark.sql.catalog.mine", None),
    ],
)
def test_a_slip_is_told_from_a_name_of_somebody_else(key: str, wanted: str | None) -> None:
    found = meant(key, (3, 5))
    assert (found.key if found else None) == wanted


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_distance_is_a_distance(a: str, b: str) -> None:
    assert distance(a, b, 9) == distance(b, a, 9)
    assert (distance(a, b, 9) == 0) == (a == b)
    assert distance(a, b, 0) == (0 if a == b else None)


def test_versions_are_read_from_whatever_vendors_write() -> None:
    assert [version_of(text) for text in ("3.5.3-amzn-0", "4.3.0", "", None, "x")] == [(3, 5), (4, 3)] + [(0, 0)] * 3


def test_a_queue_of_events_has_the_setting_of_all_queues_under_its_own_name() -> None:
    of_all, of_one = (
        setting_of(f"spark.scheduler.listenerbus.eventqueue{name}.capacity") for name in ("", ".eventLog")
    )
    assert of_all is not None
    assert of_one is not None
    assert (of_one.kind, of_one.low) == (of_all.kind, of_all.low)
    assert of_one.default((4, 0)) is None
    assert setting_of("spark.scheduler.listenerbus.eventqueue.eventLog.size") is None
