"""Questions that ask how to do it better: each is answered by its own rule, with the numbers that it names."""

from __future__ import annotations

import pytest

from emberscope.rules.failure_catalog import FAILURE_RULES
from tests.rules.log_lines import run_of_words
from tests.runs import found

BY_CODE = {rule.code: rule for rule in FAILURE_RULES}
QUESTIONS = (
    (
        "W23",
        "I join a 2 TB fact table with a 30 MB dimension and Spark does a sort merge join that shuffles everything.",
    ),
    ("W23", "Why does Spark not use a broadcast hash join although the hint is there?"),
    ("W24", "count(distinct user_id) over 5 billion rows takes forever"),
    ("W24", "dropDuplicates on our events is slow and causes a huge shuffle"),
    ("W25", "Writing to postgres through jdbc takes hours, only one connection is active in the database"),
    ("W26", "row_number() over (order by ts) without partition by is very slow"),
    ("W27", "Our Delta merge takes 2 hours although we only update the rows of yesterday"),
    ("W28", "The first query after the start takes 40 seconds, the next one only 3 seconds"),
    ("W29", "How many shuffle partitions should I use for 1.5 TB of shuffle data on 100 nodes with 16 cores?"),
    ("W30", "Which is better, repartition or coalesce, from 2000 partitions to 10 after a filter?"),
    ("W31", "Query on a hive table partitioned by dt scans all partitions when we filter with to_date(ts)"),
    ("W32", "How can I see which line of my python code is slow in the executors?"),
    ("W33", "The history server shows our application as incomplete although it finished yesterday"),
    ("W34", "I cache a dataframe of 300 GB in 200 GB of memory and the job got slower than without"),
    ("W35", "We loop over 400 tables and write each one with its own job, which takes hours"),
    ("W36", "After the join we get far more rows than before, the output is 50 times larger"),
    ("W37", "Our EMR cluster is too expensive for this job, how do we reduce the cost?"),
    ("W38", "The orderBy before the write is slow and spills"),
    ("W39", "groupByKey on our RDD runs out of memory for large keys"),
    ("W40", "In our loop each iteration takes longer than the one before"),
    ("W41", "Tasks on one node are always slower than the rest although the data is even"),
    ("W42", "One big job takes all executors and other jobs of the notebook have to wait"),
    ("W43", "Reading csv with inferSchema=true triggers a job before anything else"),
    ("W44", "Timestamps in parquet are off by 2 hours when I read them with spark"),
    ("W45", "Setting spark.driver.memory in SparkConf has no effect in my notebook"),
    ("W46", "Overwriting one day with partitionBy deletes all other partitions of the table"),
)


@pytest.mark.parametrize(("code", "question"), QUESTIONS)
def test_is_answered_by_its_rule_which_says_what_would_confirm_it(code: str, question: str) -> None:
    (finding,) = found(BY_CODE[code], run_of_words(question))
    assert finding.consequence == "risk"
    assert [one.kind for one in finding.advice].count("check") == 1
    assert len(finding.advice) > 1


@pytest.mark.parametrize("code", sorted({code for code, _ in QUESTIONS}))
def test_answers_few_of_the_other_questions(code: str) -> None:
    others = [question for other, question in QUESTIONS if other != code]
    assert sum(bool(found(BY_CODE[code], run_of_words(question))) for question in others) <= 3


def test_a_number_of_partitions_is_computed_from_data_and_cores_alone() -> None:
    run = run_of_words(
        "How many shuffle partitions for a shuffle of 1.5 TB on 100 nodes with 16 cores and 64 GB memory?"
    )
    (finding,) = found(BY_CODE["W29"], run)
    assert finding.title.endswith(": 12,288")
    assert ("spark.sql.shuffle.partitions", "12288") in [(one.setting, one.value) for one in finding.advice]
    run = run_of_words("How many shuffle partitions should I set on executors with 64 GB memory?")
    (finding,) = found(BY_CODE["W29"], run)
    assert all(one.setting != "spark.sql.shuffle.partitions" for one in finding.advice)
