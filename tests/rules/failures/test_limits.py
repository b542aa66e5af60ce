"""Limits of Spark's own: broadcasts, results, Kryo's buffer."""

from __future__ import annotations

import pytest

from emberscope.rules.failures.broadcast import RULE as BROADCAST
from emberscope.rules.failures.kryo import RULE as KRYO
from emberscope.rules.failures.result_size import RULE as RESULTS
from emberscope.tuning.valid import defects
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

ABORTED = "22/01/01 00:01:00 ERROR FileFormatWriter: Aborting job. org.apache.spark.SparkException: "


# Messages of QueryExecutionErrors and BroadcastExchangeExec, Spark 2.4 to 4.0, and of HashedRelation.
@pytest.mark.parametrize(
    ("message", "title", "first"),
    [
        (
            "Could not execute broadcast in 300 secs. You can increase the timeout for broadcasts via "
            "spark.sql.broadcastTimeout or disable broadcast join by setting spark.sql.autoBroadcastJoinThreshold to "
            "-1",
            "A broadcast join gave up waiting for its table after 300 s (spark.sql.broadcastTimeout)",
            "check",
        ),
        (
            "Cannot broadcast the table that is larger than 8GB: 12 GB",
            "A broadcast join was given a table beyond the hard limit of 8 GB: it has 12 GB",
            "code",
        ),
        (
            "[_LEGACY_ERROR_TEMP_2249] Cannot broadcast the table that is larger than 8.0 GiB: 8.1 GiB.",
            "A broadcast join was given a table beyond the hard limit of 8 GB: it has 8.1 GiB",
            "code",
        ),
        (
            "Cannot broadcast the table over 357913941 rows: 400000000 rows",
            "A broadcast join was given a table of more rows than it can take: it has 400,000,000",
            "code",
        ),
        (
            "Not enough memory to build and broadcast the table to all worker nodes. As a workaround, you can either "
            "disable broadcast by setting spark.sql.autoBroadcastJoinThreshold to -1 or increase the spark driver "
            "memory",
            "The driver had no memory for the table of a broadcast join",
            "code",
        ),
        (
            "Can't acquire 1073741824 bytes memory to build hash relation, got 478549889 bytes",
            "An executor had no memory for the hash map of a join whose side was to be small",
            "code",
        ),
    ],
)
def test_each_end_of_a_broadcast(message: str, title: str, first: str) -> None:
    run = run_of_log(f"{ABORTED}{message}\n", rules=(BROADCAST,))
    (finding,) = found(BROADCAST, run)
    assert finding.title == title
    assert finding.advice[0].kind == first
    assert ("spark.sql.autoBroadcastJoinThreshold", "-1") in {(a.setting, a.value) for a in finding.advice}
    assert defects(finding.advice, run) == []


def test_healthy_broadcasts_say_nothing() -> None:
    line = "22/01/01 00:01:00 INFO TorrentBroadcast: Reading broadcast variable 3 took 12 ms\n"
    assert found(BROADCAST, run_of_log(line, rules=(BROADCAST,))) == []


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("broadcast join times out after 300 s", "gave up waiting"),
        ("why is my broadcast table larger than 8GB", "hard limit of 8 GB"),
    ],
)
def test_broadcasts_in_plain_words(words: str, title: str) -> None:
    (finding,) = found(BROADCAST, run_of_words(words, rules=(BROADCAST,)))
    assert title in finding.title


def results(tasks: int, size: str, limit: str = "1024.0 MB") -> str:
    # TaskSetManager of Spark 2 and 3.
    return (
        f"{ABORTED}Job aborted due to stage failure: Total size of serialized results of {tasks} tasks ({size}) is "
        "bigger "
        f"than spark.driver.maxResultSize ({limit})\n"
    )


def test_megabytes_a_task_are_collected_rows() -> None:
    run = run_of_log(results(16, "1048.5 MiB", "1024.0 MiB"), rules=(RESULTS,))
    (finding,) = found(RESULTS, run)
    assert finding.title == "16 tasks sent 65.5 MiB each: more than spark.driver.maxResultSize (1.0 GiB)"
    assert "collected rows" in finding.summary
    assert (finding.advice[-1].setting, finding.advice[-1].value) == ("spark.driver.maxResultSize", "2g")
    assert defects(finding.advice, run) == []


def test_kilobytes_a_task_are_too_many_tasks() -> None:
    # The figures of EMR's guide: 1024 MB over 179,502 tasks are 5,982 bytes each.
    (finding,) = found(RESULTS, run_of_log(results(179_502, "1024.0 MB"), rules=(RESULTS,)))
    assert finding.title.startswith("179,502 tasks are so many")
    assert "5,982 bytes" in finding.summary


def test_one_result_beyond_the_limit() -> None:
    line = (
        "22/01/01 00:01:00 WARN Executor: Finished task 0.0 in stage 1.0 (TID 1). Result is larger than maxResultSize "
        "(2.0 GiB > 1024.0 MiB), dropping it.\n"
    )
    (finding,) = found(RESULTS, run_of_log(line, rules=(RESULTS,)))
    assert finding.title == "Results of tasks were larger than spark.driver.maxResultSize (1.0 GiB)"


def test_results_of_healthy_tasks_say_nothing() -> None:
    line = "22/01/01 00:01:00 INFO Executor: Finished task 0.0 in stage 1.0 (TID 1). 5192 bytes result sent to driver\n"
    assert found(RESULTS, run_of_log(line, rules=(RESULTS,))) == []


# KryoSerializerInstance of Spark 2 to 4.
@pytest.mark.parametrize(
    ("message", "value"),
    [
        ("Kryo serialization failed: Buffer overflow. Available: 0, required: 37", "512m"),
        (
            "[KRYO_BUFFER_OVERFLOW] Kryo serialization failed: Buffer overflow. Available: 5, required: 500000000.",
            "954m",
        ),
        ("com.esotericsoftware.kryo.KryoException: Buffer overflow. Available: 0, required: 2000000000", "2047m"),
        (
            "java.lang.IllegalArgumentException: spark.kryoserializer.buffer.max must be less than 2048 mb, got: + "
            "2048 mb.",
            "2047m",
        ),
    ],
)
def test_the_buffer_follows_from_what_was_required(message: str, value: str) -> None:
    run = run_of_log(f"{ABORTED}{message}\n", rules=(KRYO,))
    (finding,) = found(KRYO, run)
    assert (finding.advice[0].setting, finding.advice[0].value) == ("spark.kryoserializer.buffer.max", value)
    assert "2048m" in finding.summary
    assert defects(finding.advice, run) == []


def test_other_trouble_with_kryo_is_not_its_buffer() -> None:
    line = f"{ABORTED}com.esotericsoftware.kryo.KryoException: Buffer underflow.\n"
    assert found(KRYO, run_of_log(line, rules=(KRYO,))) == []
