from __future__ import annotations

from dataclasses import replace

import pytest

from emberscope.rules.settings import bytes_setting, is_local, is_on, memory_words, number_setting, version
from tests.runs import run_of


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
