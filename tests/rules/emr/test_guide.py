"""The cases of AWS's EMR troubleshooting guide (aws.github.io/aws-emr-best-practices, Spark, 5.2), as it words them."""

from __future__ import annotations

from emberscope.rules.emr.event_log_place import RULE as EVENT_LOG_PLACE
from emberscope.rules.emr.history_server import RULE as HISTORY_SERVER
from emberscope.rules.emr.kafka_connections import RULE as KAFKA_CONNECTIONS
from emberscope.rules.emr.lost_logs import RULE as LOST_LOGS
from emberscope.rules.emr.old_history import RULE as OLD_HISTORY
from emberscope.rules.emr.shrunk_splits import RULE as SHRUNK_SPLITS
from emberscope.rules.emr.step_failed import RULE as STEP_FAILED
from emberscope.rules.emr.vcores_over import RULE as VCORES_OVER
from tests.rules.emr.guide import advised, in_log, in_words, words

# 5.2.1


def test_more_min_partitions_than_topic_partitions() -> None:
    (finding,) = in_words(
        KAFKA_CONNECTIONS,
        "Our stream reads MSK with minPartitions=100 on a topic with 10 partitions, EMR 5.36 (Spark 2.4.8). The "
        "brokers show a high ConnectionCreationRate and CPU.",
    )
    assert "minPartitions of 100 on a topic of 10 partitions" in finding.title
    assert "10 on each" in finding.summary
    assert "Move to Spark 3" in words(finding)


def test_consumers_that_are_closed_again_and_again() -> None:
    # Spark 2.4, KafkaDataConsumer.scala; Spark 3, InternalKafkaConsumerPool.scala
    old = "18/06/18 10:00:00 WARN KafkaDataConsumer: KafkaConsumer cache hitting max capacity of 64, "
    line = old + "removing consumer for CacheKey(spark-kafka-source-1-executor,topic-{})"
    (finding,) = in_log(KAFKA_CONNECTIONS, "\n".join(line.format(number) for number in range(40)))
    assert "Spark 2" in finding.summary
    new = (
        "21/06/18 10:00:00 WARN InternalKafkaConsumerPool: Pool exceeds its soft max size, cleaning up idle objects..."
    )
    (finding,) = in_log(KAFKA_CONNECTIONS, "\n".join([new] * 40))
    assert advised(finding) == {"spark.kafka.consumer.cache.capacity": "128"}
    assert in_log(KAFKA_CONNECTIONS, new) == []  # one is no trouble


# 5.2.2


def test_cores_that_are_given_away_twice_in_the_guides_cluster() -> None:
    (finding,) = in_words(
        VCORES_OVER,
        "Core nodes are c5.12xlarge and task nodes r5.8xlarge, executors have executor-memory 4743M and "
        "executor-cores 3. Is "
        "there an oversubscription of vcores?",
    )
    assert finding.title == "103 vcores more than r5.8xlarge has are given away by YARN"
    assert "45 containers, 135 vcores on 32 cores" in finding.summary
    assert "c5.12xlarge" not in finding.summary
    assert "DominantResourceCalculator" in words(finding)


def test_an_oversubscription_that_is_asked_about_without_numbers() -> None:
    (finding,) = in_words(VCORES_OVER, "YARN gives our executors more vcores than the node has.")
    assert "counts only memory" in finding.title


def test_splits_that_shrink_with_the_cores_in_the_guides_job() -> None:
    (finding,) = in_words(
        SHRUNK_SPLITS,
        "Spark 2.4 reads 3.5K parquet files with average size ~116MB on 15837 vcores. maxPartitionBytes is 128M: why "
        "are there more tasks than files?",
    )
    assert "3,500 files of 116 MiB over 15,837 cores give 26.5 MiB: 5 pieces" in finding.summary
    assert advised(finding) == {"spark.default.parallelism": "3281"}
    (other,) = in_words(SHRUNK_SPLITS, "Why are splits smaller than maxPartitionBytes?")
    assert "spark.sql.files.minPartitionNum" in words(other)


# 5.2.3.1


def test_an_event_log_on_another_file_system() -> None:
    line = (
        "22/08/22 14:14:24 ERROR AppPusher: java.util.concurrent.ExecutionException: "
        "java.lang.IllegalArgumentException: "
        "Wrong FS: s3://demo-bucket/testing-prod/spark/logs,expected: "
        "hdfs://ip-10-0-0-1.eu-west-1.compute.internal:8020"
    )
    (finding,) = in_log(EVENT_LOG_PLACE, line, path="j-1/daemons/apppusher.log.gz")
    place = "s3://demo-bucket/testing-prod/spark/logs"
    assert advised(finding) == {"spark.eventLog.dir": place, "spark.history.fs.logDirectory": place}
    assert "spark-history-server" in words(finding)


def test_a_program_that_asks_the_wrong_file_system() -> None:
    line = (
        "java.lang.IllegalArgumentException: Wrong FS: s3a://bucket/table/part, expected: file:///\n"
        "\tat org.apache.hadoop.fs.FileSystem.checkPath(FileSystem.java:645)"
    )  # HADOOP's FileSystem.checkPath
    (finding,) = in_log(EVENT_LOG_PLACE, line)
    assert "getFileSystem" in words(finding)
    assert not advised(finding)


def test_a_directory_of_event_logs_that_is_not_there() -> None:
    line = (
        "19/01/01 10:00:00 ERROR SparkContext: Error initializing SparkContext.\n"
        "java.io.FileNotFoundException: File file:/tmp/spark-events does not exist"
    )  # SPARK-16099 and many questions
    (finding,) = in_log(EVENT_LOG_PLACE, line)
    assert finding.consequence == "ended"
    assert "file:/tmp/spark-events" in finding.title
    healthy = (
        "19/01/01 10:00:00 INFO SingleEventLogFileWriter: Logging events to file:/tmp/spark-events/app-1.inprogress"
    )
    assert in_log(EVENT_LOG_PLACE, healthy) == []


# 5.2.3.2


def test_a_history_server_without_memory() -> None:
    line = (
        "20/03/01 10:00:00 ERROR FsHistoryProvider: Exception encountered when attempting to load application log\n"
        "java.lang.OutOfMemoryError: GC overhead limit exceeded\n"
        "\tat org.apache.spark.scheduler.ReplayListenerBus.replay(ReplayListenerBus.scala:85)\n"
        "\tat org.apache.spark.deploy.history.FsHistoryProvider.rebuildAppStore(FsHistoryProvider.scala:1120)"
    )
    (finding,) = in_log(HISTORY_SERVER, line)
    assert "SPARK_DAEMON_MEMORY=4g" in words(finding)
    assert advised(finding)["spark.eventLog.rolling.enabled"] == "true"
    (asked,) = in_words(
        HISTORY_SERVER, "The Spark history server does not open any more since the logs have gigabytes."
    )
    assert "SPARK_DAEMON_MEMORY" in asked.title
    heap = "20/03/01 10:00:00 ERROR Executor: Exception in task 1.0\njava.lang.OutOfMemoryError: Java heap space"
    assert in_log(HISTORY_SERVER, heap) == []


def test_a_tool_that_holds_an_event_log_in_memory() -> None:
    # spark-rapids-tools, ApplicationInfo's error handler
    line = (
        "21/09/30 15:15:32 ERROR Profiler: OOM error while processing large file file:/logs/app_1.Increase heap size.\n"
        "java.lang.OutOfMemoryError: GC overhead limit exceeded\n\tat "
        "java.io.BufferedReader.readLine(BufferedReader.java:358)"
    )
    (finding,) = in_log(HISTORY_SERVER, line)
    assert "line by line" in finding.summary
    assert "file:/logs/app_1" in finding.title


# 5.2.3.3


def test_a_step_that_was_killed() -> None:
    # controller log of a step
    line = (
        "INFO waitProcessCompletion ended with exit code 137 :\nWARN Step failed with exitCode 137 and took 26 seconds"
    )
    (finding,) = in_log(STEP_FAILED, line, path="steps/s-1/controller")
    assert "SIGKILL" in finding.summary
    assert "_01_000001" in words(finding)
    (other,) = in_log(STEP_FAILED, "WARN Step failed with exitCode 1 and took 26 seconds")
    assert "SIGKILL" not in other.summary
    assert in_log(STEP_FAILED, "INFO Step succeeded with exitCode 0 and took 120 seconds") == []


def test_jobs_of_emr_serverless_fail_with_the_same_few_words() -> None:
    # StateDetails of an EMR Serverless job run
    line = (
        "Job failed, please check complete logs in configured logging destination. ExitCode: 1. Last few exceptions: "
        "Caused by: java.lang.Exception"
    )
    (finding,) = in_log(STEP_FAILED, line)
    assert "exit code 1;" in finding.title


# 5.2.3.4


def test_logs_that_are_gone_after_two_days() -> None:
    # Hadoop, LogCLIHelpers and LogToolUtils
    for line in (
        "/var/log/hadoop-yarn/apps/hadoop/logs/application_1600000000000_0001 does not have any log files.",
        "Log aggregation has not completed or is not enabled.",
    ):
        (finding,) = in_log(LOST_LOGS, line)
        assert advised(finding)["spark.eventLog.rolling.enabled"] == "true"
        assert "retain-seconds" in words(finding)
    assert in_words(
        LOST_LOGS, "Logs of our streaming application in /var/log/hadoop-yarn/apps are deleted after 2 days."
    )


# 5.2.3.5


def test_the_history_of_an_old_cluster() -> None:
    (finding,) = in_words(OLD_HISTORY, "How do I open the Spark history server of a terminated cluster?")
    assert "30 days" in finding.summary
    assert "persistent application UI" in finding.summary
    # Hadoop, ApplicationCLI
    line = "Application with id 'application_1600000000000_0001' doesn't exist in RM or Timeline Server."
    (known,) = in_log(OLD_HISTORY, line)
    assert "application_1600000000000_0001" in known.title


# 5.2.4
