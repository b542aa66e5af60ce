"""Heads of records as real programs write them; the source of each line is named beside it."""

from __future__ import annotations

import pytest

from emberscope.logs.head import head_of

# Line, epoch ms, level, logger, the message's first word.
HEADS = (
    # Spark's log4j2.properties.template: %d{yy/MM/dd HH:mm:ss} %p %c{1}: %m%n
    ("18/05/16 00:53:32 WARN TaskSetManager: Lost task 1.3", 1526432012000, "WARN", "TaskSetManager", "Lost"),
    # Hadoop's log4j.properties: %d{ISO8601} %p %c: %m%n, and with a thread
    (
        "2018-05-16 00:53:32,123 INFO org.apache.hadoop.yarn.server.nodemanager.NMAuditLogger: USER=x",
        1526432012123,
        "INFO",
        "org.apache.hadoop.yarn.server.nodemanager.NMAuditLogger",
        "USER=x",
    ),
    (
        "2018-05-16 00:53:32,123 ERROR [main] yarn.Client: Application diagnostics",
        1526432012123,
        "ERROR",
        "yarn.Client",
        "Application",
    ),
    # log4j's %d{yyyy-MM-dd HH:mm:ss} %-5p %c{1}:%L - %m%n, as microsoft/pai issue 2512 shows it
    (
        "2019-04-08 06:42:50 WARN  YarnSchedulerBackend$YarnDriverEndpoint:54 - Disabling executor 9.",
        1554705770000,
        "WARN",
        "YarnSchedulerBackend$YarnDriverEndpoint",
        "Disabling",
    ),
    # A class with its package cut: broadinstitute/gatk issue 4112
    (
        "18/01/09 18:31:18 WARN cluster.YarnSchedulerBackend$YarnSchedulerEndpoint: Container marked as failed: x",
        1515522678000,
        "WARN",
        "cluster.YarnSchedulerBackend$YarnSchedulerEndpoint",
        "Container",
    ),
    # Indented or quoted for a ticket
    ("    18/05/16 00:53:32 WARN TaskSetManager: Lost task 1.3", 1526432012000, "WARN", "TaskSetManager", "Lost"),
    ("> 18/05/16 00:53:32 WARN TaskSetManager: Lost task 1.3", 1526432012000, "WARN", "TaskSetManager", "Lost"),
    # AWS Glue's driver log
    (
        "2021-06-10 09:12:54,811 ERROR [main] glue.ProcessLauncher (Logging.scala:logError(73)): Error from Python",
        1623316374811,
        "ERROR",
        "glue.ProcessLauncher",
        "Error",
    ),
    # apache/hudi issue 9295
    (
        "2023-08-03 16:19:37,019 - ERROR [dispatcher-Executor:o.a.s.i.Logging@98] - Executor self-exiting due to",
        1691079577019,
        "ERROR",
        "o.a.s.i.Logging",
        "Executor",
    ),
    # Spring Boot's logback
    (
        "2023-08-03T16:19:37.019Z ERROR 1 --- [main] c.e.App : Application run failed",
        1691079577019,
        "ERROR",
        None,
        None,
    ),
    # Python's logging with %(asctime)s - %(name)s - %(levelname)s - %(message)s
    (
        "2023-08-03 16:19:37,019 - py4j.clientserver - ERROR - There was an exception",
        1691079577019,
        "ERROR",
        "py4j.clientserver",
        "There",
    ),
    ("WARNING:root:Retry", None, "WARN", None, None),
    # A kubelet of Kubernetes (klog) has no year
    (
        "E0114 23:50:38.123456    1234 eviction_manager.go:572] attempting to reclaim",
        None,
        "ERROR",
        "eviction_manager.go:572",
        "attempting",
    ),
    # containerd's own prefix before Spark's line
    (
        "2020-01-14T23:50:38.123456789Z stderr F 20/01/14 23:50:38 ERROR Utils: Aborting task",
        1579045838000,
        "ERROR",
        "Utils",
        "Aborting",
    ),
    # async-profiler
    ("[WARN] perf_event mmap failed: Operation not permitted", None, "WARN", None, "perf_event"),
    # Offsets from UTC
    ("2018-05-16T02:53:32.000+02:00 INFO x.Y: z", 1526432012000, "INFO", "x.Y", "z"),
    ("16 May 2018 00:53:32,000 INFO x.Y: z", 1526432012000, "INFO", "x.Y", "z"),
)


@pytest.mark.parametrize(("line", "time_ms", "level", "logger", "word"), HEADS, ids=[line[0][:40] for line in HEADS])
def test_a_head_is_told_from_its_message(
    line: str, time_ms: int | None, level: str, logger: str | None, word: str | None
) -> None:
    head = head_of(line)

    assert head is not None
    assert (head.time_ms, head.level) == (time_ms, level)
    if logger is not None:
        assert head.logger == logger
    if word is not None:
        assert line[head.length :].split()[0] == word


@pytest.mark.parametrize(
    "line",
    [
        "\tat org.apache.spark.scheduler.Task.run(Task.scala:109)",
        "Caused by: java.io.IOException: No space left on device",
        "The API gave the following brief reason: Evicted",
        "org.apache.spark.SparkException: Job aborted.",
        "}",
        "",
        "{not json",
        "  18/05/16 00:53:32 is when it began",
        "12 monkeys",
    ],
)
def test_what_goes_on_has_no_head(line: str) -> None:
    assert head_of(line) is None


def test_json_logs_of_spark_4() -> None:
    # The layout is that of Spark's JsonTemplateLayout (SparkLayout.json).
    line = (
        '{"ts":"2024-03-12T12:00:00.000Z","level":"ERROR","msg":"Lost executor 7 on host-1: heartbeat timed out",'
        '"context":{"executor_id":"7"},"exception":{"class":"java.lang.OutOfMemoryError","msg":"Java heap space",'
        '"stacktrace":[{"class":"java.util.Arrays","method":"copyOf","file":"Arrays.java","line":3236}]},'
        '"logger":"TaskSchedulerImpl"}'
    )
    head = head_of(line)

    assert head is not None
    assert (head.time_ms, head.level, head.logger) == (1710244800000, "ERROR", "TaskSchedulerImpl")
    assert head.message == "Lost executor 7 on host-1: heartbeat timed out"
    assert head.more.split("\n")[:2] == [
        "java.lang.OutOfMemoryError: Java heap space",
        "\tat java.util.Arrays.copyOf(Arrays.java:3236)",
    ]
