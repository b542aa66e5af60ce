from __future__ import annotations

import pytest

from emberscope.rules.places import Operator, place_of, places, short_call_site
from tests.runs import run_of, spark_wrote, stage


@pytest.mark.parametrize(
    ("detail", "keys"),
    [
        ("SortMergeJoin [key#1L, day#2], [key#9L, day#3], Inner", "key, day"),
        ("HashAggregate(keys=[origin#17], functions=[count(1)])", "origin"),
        ("HashAggregate(keys=[], functions=[count(1)])", ""),
        ("SortAggregate(key=[route#49], functions=[max(gust#1149)])", "route"),
        ("Exchange hashpartitioning(route#49, day#2L, 32), REPARTITION_BY_NUM, [plan_id=402]", "route, day"),
        ("Exchange SinglePartition, ENSURE_REQUIREMENTS", ""),
        ("Sort [tailnum#38 ASC NULLS FIRST, at#5L DESC NULLS LAST], false, 0", "tailnum, at"),
        ("Window [max(gust#9) windowspecdefinition(route#4, at#1 ASC NULLS FIRST)], [route#4], [at#1 ASC]", ""),
    ],
)
def test_keys_of_an_operator(detail: str, keys: str) -> None:
    assert Operator(0, detail.split("(")[0].split(" ")[0], detail).keys == keys


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("collect at /home/me/jobs/daily.py:23", "collect at daily.py:23"),
        ("count at NativeMethodAccessorImpl.java:0", "count at NativeMethodAccessorImpl.java:0"),
        ("save at s3://bucket/a look at that", "save at s3://bucket/a look at that"),
        ("", ""),
    ],
)
def test_call_sites_are_told_by_file(text: str, short: str) -> None:
    assert short_call_site(text) == short


def test_no_stage_has_less_than_no_tasks() -> None:
    known = places(run_of(stages=[stage(number, 0, 1, task_count=count) for number, count in enumerate((-1, 0, 4))]))
    assert [known[number, 0].task_count for number in range(3)] == [None, 0, 4]


def test_a_stage_that_spark_ran_is_told_in_words_of_the_program() -> None:
    place = places(spark_wrote("skew_spill_python"))[4, 0]
    assert (
        place.words == "SortMergeJoin by key, SQL execution 0 “join step”, collect at findings_skew_spill_python.py:23"
    )
    assert (place.where.sql, place.where.stage, place.where.stage_attempt) == (0, 4, 0)


def test_a_stage_without_sql_is_told_by_description_and_call_site() -> None:
    known = places(run_of(stages=[stage(0, 0, 1, description="nightly load"), stage(1, 0, 1, stage_attempt=2)]))
    assert known[0, 0].sentence == "Stage 0 (“nightly load”, collect at job.py:0)"
    assert known[1, 2].title == "Stage 1 (attempt 2)"


def test_a_stage_of_which_only_tasks_are_known_has_its_number() -> None:
    assert place_of({}, (7, 0)).sentence == "Stage 7"
