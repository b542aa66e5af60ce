from __future__ import annotations

from dataclasses import replace

import pytest

from emberscope.rules.settings import (
    bytes_setting,
    is_interactive,
    is_local,
    is_on,
    memory_words,
    number_setting,
    version,
)
from emberscope.tables.conf import CONF
from tests.runs import run_of, with_rows


def test_settings_as_numbers_with_sparks_defaults() -> None:
    run = run_of(conf={"spark.a": "2g", "spark.b": "512", "spark.c": "TRUE", "spark.d": "what"})
    assert bytes_setting(run, "spark.a", "1g") == 2 << 30
    assert bytes_setting(run, "spark.b", "1g", unit="m") == 512 << 20
    assert bytes_setting(run, "spark.d", "1g") == 1 << 30
    assert bytes_setting(run, "spark.x", "64m") == 64 << 20
    assert number_setting(run, "spark.b", 1) == 512
    assert number_setting(run, "spark.d", 3) == 3
    assert is_on(run, "spark.c", default=False)
    assert not is_on(run, "spark.d", default=True)
    assert is_on(run, "spark.x", default=True)


@pytest.mark.parametrize(
    ("text", "expected"), [("4.3.0", (4, 3)), ("3.3.0-amzn-0", (3, 3)), (None, (0, 0)), ("vendor", (0, 0))]
)
def test_versions(text: str | None, expected: tuple[int, int]) -> None:
    run = run_of()
    assert version(replace(run, application=replace(run.application, spark_version=text))) == expected


@pytest.mark.parametrize(
    ("master", "local"), [("local", True), ("local[4]", True), ("local-cluster[2,1,1024]", False), ("yarn", False)]
)
def test_local_mode(master: str, local: bool) -> None:
    assert is_local(run_of(conf={"spark.master": master})) is local


@pytest.mark.parametrize(("size", "words"), [(1 << 30, "1g"), (1536 << 20, "1536m"), (1, "1m"), (3 << 20, "3m")])
def test_sizes_as_spark_takes_them(size: int, words: str) -> None:
    assert memory_words(size) == words


@pytest.mark.parametrize(
    ("name", "setting", "command", "interactive"),
    [
        ("nightly", None, None, False),
        ("nightly", None, "org.apache.spark.deploy.SparkSubmit --name nightly pyspark-shell", False),
        ("Spark shell", None, None, True),
        ("PySparkShell", None, None, True),
        ("Databricks Shell", None, None, True),
        ("mine", "spark.repl.class.uri", None, True),
        ("mine", None, "org.apache.spark.deploy.SparkSubmit --class org.apache.spark.repl.Main spark-shell", True),
        ("mine", None, "SparkSubmit --class org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", True),
        ("mine", None, "SparkSubmit --class org.apache.spark.sql.connect.service.SparkConnectServer", True),
    ],
)
def test_sessions_are_told_by_name_setting_or_command(
    name: str, setting: str | None, command: str | None, interactive: bool
) -> None:
    rows = [{"key": setting, "value": "x", "scope": "spark"}] if setting else []
    rows += [{"key": "sun.java.command", "value": command, "scope": "jvm"}] if command else []
    run = with_rows(run_of(), "conf", CONF.from_rows(rows))
    assert is_interactive(replace(run, application=replace(run.application, app_name=name))) is interactive
