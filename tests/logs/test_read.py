"""Records, their places and their counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from emberscope.logs.matcher import Matcher
from emberscope.logs.read import _Block
from emberscope.logs.signature import Signature
from emberscope.logs.sniff import has_prose, looks_like_log
from emberscope.sources.logs import run_of_text

KILLED = Signature(
    "killed",
    r"exceeding .*?memory limits. (?P<used>[\d.]+ GB) of (?P<limit>[\d.]+ GB)",
    ("Container killed by YARN",),
    (("killed", "yarn"),),
)
HEAP = Signature("heap", r"OutOfMemoryError: (?P<what>.+)", ("java.lang.OutOfMemoryError",))


def rows(text: str, path: str = "log") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run_of_text(text, (KILLED, HEAP), path).tables["log_events"].to_pylist()
    return found


TRACE = """21/02/03 07:55:00 INFO Executor: Running task 0.0 in stage 1.0 (TID 5)
21/02/03 07:55:00 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID 5)
org.apache.spark.SparkException: Task failed while writing rows.
\tat org.apache.spark.sql.execution.datasources.FileFormatWriter$.executeTask(FileFormatWriter.scala:296)
\tat org.apache.spark.scheduler.Task.run(Task.scala:131)
Caused by: java.lang.OutOfMemoryError: Java heap space
\tat java.util.Arrays.copyOfRange(Arrays.java:3664)
\tat java.lang.String.<init>(String.java:207)
\t... 9 more
21/02/03 07:55:01 INFO ShutdownHookManager: Shutdown hook called
"""


def test_a_trace_is_one_record_with_its_causes() -> None:
    (row,) = rows(TRACE)

    assert (row["line"], row["level"], row["logger"], row["role"]) == (2, "ERROR", "Executor", "executor")
    assert row["exception"] == "org.apache.spark.SparkException"
    assert row["causes"] == [
        "org.apache.spark.SparkException: Task failed while writing rows.",
        "java.lang.OutOfMemoryError: Java heap space",
    ]
    assert row["frames"] == [
        "java.util.Arrays.copyOfRange(Arrays.java:3664)",
        "java.lang.String.<init>(String.java:207)",
    ]
    heap = json.loads(row["fields"])["heap"]
    assert heap == {
        "what": "Java heap space",
        "@line": 6,
        "@message": "Caused by: java.lang.OutOfMemoryError: Java heap space",
    }


def test_blocks_may_end_anywhere(monkeypatch: Any) -> None:
    whole = rows(TRACE * 10)
    for size in (37, 100, 1000):
        monkeypatch.setattr("emberscope.logs.read._BLOCK", size)
        assert rows(TRACE * 10) == whole
    assert whole[0]["count"] == 10


def test_figures_of_signatures_are_kept_apart_and_others_counted() -> None:
    line = (
        "18/05/16 00:53:{0:02d} WARN YarnAllocator: Container killed by YARN for exceeding memory limits. "
        "{1} GB of 8 GB physical memory used."
    )
    text = "\n".join(line.format(second, 8 + second / 10) for second in range(3))
    noise = "\n".join(f"18/05/16 00:54:{second:02d} WARN Client: Retry {second} of 60" for second in range(60))

    found = rows(f"{text}\n{noise}\n")

    assert [json.loads(row["fields"])["killed"]["used"] for row in found[:3]] == ["8.0 GB", "8.1 GB", "8.2 GB"]
    assert [(row["count"], row["message"]) for row in found[3:]] == [(60, "Retry 0 of 60")]
    assert found[3]["last_ms"] - found[3]["time_ms"] == 59_000


def test_records_that_come_again_are_told_by_their_bytes_as_by_their_meaning(monkeypatch: Any) -> None:
    """Without the short cut the rows are the same."""
    lines = [
        *(f"18/05/16 00:53:{n % 60:02d} ERROR Utils: Retry {n} of 900\n" for n in range(900)),
        *(f"18/05/16 00:54:{n % 60:02d} WARN X: java.lang.OutOfMemoryError: no {n % 500}\n" for n in range(1000)),
        *(f"18/05/16 00:55:{n % 60:02d} ERROR Y: it failed\n\tat a.B.c(B.java:{n % 3})\n" for n in range(300)),
        *(f"18/05/16 00:56:{n % 60:02d} INFO Z: ERROR {n} is a word\n" for n in range(300)),
    ]
    text = "".join(lines[::2] + lines[1::2])
    quick = rows(text)
    monkeypatch.setattr("emberscope.logs.repeats.Repeats.begins", lambda self, line: False)
    assert rows(text) == quick
    assert sum(row["count"] for row in quick) == 900 + 1000 + 300


def test_a_literal_with_digits_is_not_missed_after_others() -> None:
    exited = Signature("exited", r"exit code (?P<code>137)\b", ("exit code 137",))
    text = "".join(f"18/05/16 00:53:00 WARN X: it ended with exit code {code}\n" for code in (143, 134, 137, 143))
    found = run_of_text(text, (exited,)).tables["log_events"].to_pylist()
    assert [(row["count"], row["signatures"]) for row in found] == [(3, []), (1, ["exited"])]


def test_what_holds_a_literal_with_digits_is_read_once_too(monkeypatch: Any) -> None:
    """Else a literal such as `task 0.0` of a rule would have every stage of a healthy log taken apart."""
    first = Signature("first", r"Finished task 0\.0 in stage [\d.]+\. (?P<bytes>\d+) bytes", ("Finished task 0.0 in",))
    asked: list[str] = []
    found = Matcher.found
    monkeypatch.setattr(Matcher, "found", lambda self, text: asked.append(text) or found(self, text))
    lines = [
        f"21/02/03 07:{n // 60:02}:{n % 60:02} INFO X: Finished task {n % 3}.0 in stage {n}.0 in 9 ms"
        for n in range(99)
    ]
    lines.append("21/02/03 07:50:00 INFO X: Finished task 0.0 in stage 7.0. 1870 bytes result")
    (row,) = run_of_text("\n".join(lines), (first,), "log").tables["log_events"].to_pylist()
    assert json.loads(row["fields"])["first"]["bytes"] == "1870"
    assert len(asked) < 10, "those of a kind are known by the first"


def test_nothing_of_a_healthy_log_is_kept() -> None:
    text = "18/05/16 00:53:32 INFO Utils: Successfully started service 'sparkDriver' on port 1.\n" * 1000
    assert rows(text + "18/05/16 00:53:32 INFO X: ERROR is only a word here\n") == []


def test_lines_of_aggregated_logs_belong_to_their_container() -> None:
    # The headings are those that `yarn logs -applicationId` prints in Hadoop 3.
    text = (
        "Container: container_1526432012000_0007_01_000003 on host-3.example.com_8041\n"
        "LogAggregationType: AGGREGATED\n"
        "====================\nLogType:stderr\nLogLength:99\nLogContents:\n"
        "18/05/16 00:53:30 INFO CoarseGrainedExecutorBackend: Starting executor ID 2 on host host-3.example.com\n"
        + TRACE
    )
    begun, row = rows(text)
    assert begun["message"].startswith("Starting executor ID 2")

    assert row["container_id"] == "container_1526432012000_0007_01_000003"
    assert (row["host"], row["executor_id"], row["role"]) == ("host-3.example.com", "2", "executor")
    assert row["app_id"] == "application_1526432012000_0007"


def test_places_by_path() -> None:
    emr = "j-1/containers/application_1526432012000_0007/container_1526432012000_0007_01_000001/stderr.gz"
    assert {row["app_id"] for row in rows(TRACE, emr)} == {"application_1526432012000_0007"}
    assert [row["role"] for row in rows(TRACE, emr)] == ["am"]
    assert [(row["role"], row["executor_id"]) for row in rows(TRACE, "pods/sales-1a2b-exec-7.log")] == [
        ("executor", "7")
    ]


def test_a_line_of_any_length_and_bytes_of_any_kind(monkeypatch: Any) -> None:
    monkeypatch.setattr("emberscope.logs.read._BLOCK", 1000)
    long = "18/05/16 00:53:32 ERROR X: java.lang.OutOfMemoryError: much" + "x" * 100_000
    found = rows(long + "\n" + "\x00\x01\x7f\n" + TRACE)

    assert [row["line"] for row in found] == [1, 4]
    assert len(found[0]["text"]) <= 8000


def test_a_long_line_is_not_kept_behind_a_short_one_either(monkeypatch: Any) -> None:
    monkeypatch.setattr("emberscope.logs.read._BLOCK", 1000)
    sizes = []
    made = _Block.__init__
    monkeypatch.setattr(
        _Block, "__init__", lambda self, data, *rest: sizes.append(len(data)) or made(self, data, *rest)
    )
    text = "18/05/16 00:53:31 INFO X: begin\n18/05/16 00:53:32 ERROR X: " + "x" * 3_000_000 + "\n" + TRACE
    run = run_of_text(text, (KILLED, HEAP), "log")
    assert max(sizes) < 80_000
    assert [row["line"] for row in run.tables["log_events"].to_pylist()] == [2, 4]
    (note,) = [note for note in run.coverage.notes if note.code == "limited"]
    assert 2_900_000 < note.lost["bytes"] < 3_000_000


def test_secrets_are_taken_out() -> None:
    (row,) = rows("18/05/16 00:53:32 ERROR X: cannot log in with password=hunter22 here\n")
    assert "hunter22" not in str(row)


def test_the_reader_counts_all_lines() -> None:
    run = run_of_text(TRACE * 3)
    assert run.application.lines == TRACE.count("\n") * 3


def test_a_time_without_a_year_is_of_the_year_of_its_log() -> None:
    # A kubelet (klog) between records that name their year.
    text = (
        "2020-01-14T23:50:30.000Z INFO X: y\n"
        "E0114 23:50:38.123456    1234 eviction_manager.go:572] eviction manager: pods evicted\n"
    )
    (row,) = rows(text)
    assert row["time_ms"] == 1579045838123
    assert rows(text.split("\n", 1)[1])[0]["time_ms"] is None


@pytest.mark.parametrize("piece", ["a.B", "aaaa ", "word, ", "a.", "(", "[", "x=", "at a.b", "Caused by: a.B: ", "A"])
def test_no_line_takes_long(piece: str) -> None:
    """What would take minutes if a pattern went back and forth in it."""
    line = piece * (20_000 // len(piece))
    text = f"18/05/16 00:53:32 ERROR X: {line}\n{line}\nERROR {line}\n{{{line}\n[{line}\n"
    assert rows(text)
    assert looks_like_log(text.encode())
    has_prose(f"{line}\n")
    has_prose(f"A{line}!\n")


WRAPPERS = (
    # containerd's files under /var/log/pods; Livy's server log; Airflow's log of a SparkSubmitOperator
    "2021-02-03T07:55:00.123456789Z stderr F ",
    "21/02/03 07:55:03 INFO LineBufferedStream: ",
    "[2021-02-03, 07:55:00 UTC] {spark_submit.py:521} INFO - ",
    # A quotation in a ticket
    "> ",
    ">> ",
)


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_lines_that_another_program_passed_on_are_read_as_they_were_written(wrapper: str) -> None:
    wrapped = "".join(f"{wrapper}{line}\n" for line in TRACE.rstrip("\n").split("\n"))
    (row,), (bare,) = rows(wrapped), rows(TRACE)
    assert {**row, "role": None} == {**bare, "role": None}


def test_diagnostics_of_yarn_stay_in_the_record_of_the_driver() -> None:
    # The layout is that of YarnAllocator with the diagnostics of Hadoop 3 (SPARK-24788 and others show it).
    text = (
        "21/02/03 07:55:00 WARN YarnAllocator: Container from a bad node: container_1_0001_01_000002 on host: host-1. "
        "Exit status: 143. Diagnostics: [2021-02-03 07:54:59.123]Container killed on request. Exit code is 143\n"
        "[2021-02-03 07:54:59.124]Container exited with a non-zero exit code 143. \n"
        "[2021-02-03 07:54:59.125]Killed by external signal\n.\n"
        "21/02/03 07:55:01 INFO X: y\n"
    )
    (row,) = rows(text)
    assert "Killed by external signal" in row["text"]


def test_a_traceback_after_a_calm_record_is_a_record_of_its_own() -> None:
    trace = 'Traceback (most recent call last):\n  File "/app/job.py", line 7, in main\nValueError: bad row\n'
    (row,) = rows("21/02/03 07:55:00 INFO SparkContext: Successfully stopped SparkContext\n" + trace)
    assert (row["line"], row["exception"], row["level"]) == (2, "ValueError", None)
    (row,) = rows("2021-02-03 07:55:00,123 - job - ERROR - failed\n" + trace)
    assert (row["line"], row["exception"], row["level"]) == (1, "ValueError", "ERROR")


def test_a_traceback_behind_a_trace_in_java_is_a_record_of_its_own() -> None:
    """What ends a program in Python stands on standard error, right behind what its JVM warned of."""
    warned = TRACE.replace(" ERROR Executor", " WARN FileSystem").rsplit("21/02/03", 1)[0]
    python = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nValueError: no\n'
    found = rows(warned + python)
    assert [(row["line"], row["level"]) for row in found] == [(2, "WARN"), (10, None)]
    assert found[1]["exception"] == "ValueError"
    logged = "21/02/03 07:55:00 ERROR root: it failed\n" + python
    assert [(row["line"], row["exception"]) for row in rows(logged)] == [(1, "ValueError")]
