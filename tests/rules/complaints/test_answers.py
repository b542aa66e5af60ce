from __future__ import annotations

import pytest

from emberscope.rules.complaints.answer import cores, shuffle_partitions, sizes
from emberscope.rules.complaints.few_partitions import RULE as FEW_PARTITIONS
from emberscope.rules.complaints.file_listing import RULE as FILE_LISTING
from emberscope.rules.complaints.single_writer import RULE as SINGLE_WRITER
from emberscope.rules.complaints.skew import RULE as SKEW
from emberscope.rules.complaints.small_files import RULE as SMALL_FILES
from emberscope.rules.complaints.small_partitions import RULE as SMALL_PARTITIONS
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

RULES = (SKEW, SMALL_PARTITIONS, FEW_PARTITIONS, SINGLE_WRITER, SMALL_FILES, FILE_LISTING)
# As people ask in forums and trackers, in our own words.
QUESTIONS = {
    "my join has one task that takes two hours, the rest finish within seconds": "W1",
    "stage is stuck at 199/200 for an hour": "W1",
    "why thousands of tiny tasks after a groupBy on a small table": "W2",
    "spark.sql.shuffle.partitions=2000 for 10 MB, 8 cores: tasks take 5 ms": "W2",
    "one big gzip file is read by a single task and it runs out of memory": "W3",
    "my csv comes in only 1 partition and it is slow": "W3",
    "writing to an Iceberg table uses a single task": "W4",
    "our job writes 12000 files of 1 MB into S3": "W5",
    "listing files on S3 takes 20 minutes before the job begins": "W6",
    "what is the default of spark.executor.memory": "",
    "job fails with OutOfMemoryError on the driver after collect": "",
}


@pytest.mark.parametrize(("words", "code"), QUESTIONS.items(), ids=QUESTIONS)
def test_each_question_is_known_by_its_words(words: str, code: str) -> None:
    told = [rule.code for rule in RULES if found(rule, run_of_words(words))]
    assert told == ([code] if code else [])


def test_values_are_computed_from_the_numbers_in_the_question() -> None:
    words = "spark.sql.shuffle.partitions=2000 for 10 MB, 8 cores: tasks take 5 ms"
    (few,) = found(SMALL_PARTITIONS, run_of_words(words))
    assert [(a.setting, a.value) for a in few.advice if a.kind == "set"][-1] == ("spark.sql.shuffle.partitions", "8")
    (files,) = found(SMALL_FILES, run_of_words("our job writes 12000 files of 1 MB into S3"))
    assert "repartition(94)" in files.advice[0].text


def test_says_what_it_takes_for_granted_and_what_would_confirm_it() -> None:
    (skew,) = found(SKEW, run_of_words("one task runs for 50 minutes, others finish in seconds"))
    assert "Taken for granted" in skew.summary
    assert skew.advice[-1].kind == "check"
    assert skew.consequence == "risk"


@pytest.mark.parametrize("ms", [9_000, 64_000])
def test_a_listing_in_a_log_is_told_of_where_it_took_long(ms: int) -> None:
    line = f"24/01/01 00:00:00 INFO InMemoryFileIndex: It took {ms} ms to list leaf files for 1200 paths."
    told = found(FILE_LISTING, run_of_log(line))
    assert [finding.consequence for finding in told] == (["hint"] if ms > 10_000 else [])


def test_numbers_in_words() -> None:
    assert sizes("50 MB of 1.5 GiB") == [50 << 20, 3 << 29]
    assert cores("3 executors x 4 cores = 12 cores") == 12
    assert cores("8 vcpus") == 8
    assert shuffle_partitions("with shuffle partitions of 400") == 400
    assert shuffle_partitions("nothing") is None
