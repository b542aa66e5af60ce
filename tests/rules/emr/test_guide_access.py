"""Cases of the EMR guide (aws.github.io/aws-emr-best-practices, Spark, 5.2): starts, access and libraries."""

from __future__ import annotations

import pytest

from emberscope.rules.emr.cluster_mode import RULE as CLUSTER_MODE
from emberscope.rules.emr.emrfs_view import RULE as EMRFS_VIEW
from emberscope.rules.emr.livy_start import RULE as LIVY_START
from emberscope.rules.emr.main_class import RULE as MAIN_CLASS
from emberscope.rules.emr.s3_connections import RULE as S3_CONNECTIONS
from emberscope.rules.emr.s3_denied import RULE as S3_DENIED
from emberscope.rules.emr.session_refused import RULE as SESSION_REFUSED
from emberscope.rules.emr.shuffle_service import RULE as SHUFFLE_SERVICE
from emberscope.rules.emr.yarn_libraries import RULE as YARN_LIBRARIES
from tests.rules.emr.guide import advised, in_log, in_words, words


def test_a_session_that_livy_refused() -> None:
    line = (
        "The code failed because of a fatal error:\n\tInvalid status code '500' from http://localhost:8998/sessions "
        "with "
        'error payload: "java.lang.NullPointerException".'
    )
    (finding,) = in_log(SESSION_REFUSED, line)
    assert "status 500" in finding.title
    assert "livy-livy-server.out" in words(finding)
    (gone,) = in_log(SESSION_REFUSED, line.replace("500", "404"))
    assert "ended" in gone.summary


def test_a_session_that_died() -> None:
    # sparkmagic, livysession.py
    line = "An error was encountered:\nSession 0 unexpectedly reached final status 'dead'. See logs:"
    (finding,) = in_log(SESSION_REFUSED, line)
    assert finding.title.startswith("Livy session 0 ended as dead")


def test_no_local_directory_for_the_buffers_of_s3a() -> None:
    line = (
        "22/08/22 14:14:24 ERROR SparkContext: Error initializing SparkContext.\n"
        "org.apache.hadoop.util.DiskChecker$DiskErrorException: Could not find any valid local directory for "
        "s3ablock-0001-"
    )
    (finding,) = in_log(SESSION_REFUSED, line)
    assert "spark.hadoop.fs.s3a.buffer.dir" in advised(finding)
    other = "DiskChecker$DiskErrorException: Could not find any valid local directory for output/file.out"
    assert in_log(SESSION_REFUSED, other) == []


def test_a_session_that_did_not_start_in_time() -> None:
    line = "The code failed because of a fatal error:\n\tSession 11 did not start up in 60 seconds.."
    (finding,) = in_log(LIVY_START, line)
    assert "Livy session 11 did not start within 60 seconds" in finding.title
    said = words(finding)
    assert "livy.server.yarn.app-lookup-timeout=120s" in said
    assert "livy.server.session.timeout-check=true" in said
    assert "livy.server.session.timeout=2h" in said
    assert "livy_session_startup_timeout_seconds=180" in said
    # Livy, SparkYarnApp
    (server,) = in_log(
        LIVY_START, "No YARN application is found with tag livy-session-3-ab in 120 seconds. This may be"
    )
    assert "240s" in words(server)


# 5.2.5.1


@pytest.mark.parametrize(
    ("line", "name", "said"),
    [
        ("Error: Failed to load class com.example.Main.", "com.example.Main", "jar tf"),
        ("21/01/01 10:00:00 ERROR SparkSubmit: Failed to load class com.example.Main.", "com.example.Main", "--class"),
        (
            "Error: Could not find or load main class org.apache.spark.deploy.yarn.ApplicationMaster",
            "org.apache.spark.deploy.yarn.ApplicationMaster",
            "spark.yarn.jars",
        ),
    ],
)
def test_the_class_to_start_is_not_there(line: str, name: str, said: str) -> None:
    (finding,) = in_log(MAIN_CLASS, line)
    assert name in finding.title
    assert said in words(finding)


def test_a_logger_without_a_binding_is_no_class_to_start() -> None:
    assert in_log(MAIN_CLASS, 'SLF4J: Failed to load class "org.slf4j.impl.StaticLoggerBinder".') == []


# 5.2.5.2


def test_s3_refuses_a_request() -> None:
    line = (
        "22/08/22 14:14:24 ERROR FileFormatWriter: Aborting job\nCaused by: "
        "com.amazon.ws.emr.hadoop.fs.shaded.com.amazonaws.services.s3.model.AmazonS3Exception: Access Denied (Service: "
        "Amazon S3; Status Code: 403; Error Code: AccessDenied; Request ID: 4KZ1ABCD; S3 Extended Request ID: x=)"
    )
    (finding,) = in_log(S3_DENIED, line)
    said = words(finding)
    for cause in (
        "IAM",
        "bucket policy",
        "ACL",
        "Block Public Access",
        "Object Lock",
        "VPC endpoint",
        "SCP",
        "access point",
    ):
        assert cause in said
    assert "4KZ1ABCD" in said
    assert finding.consequence == "ended"


def test_a_committer_that_is_not_for_hdfs_is_a_remark() -> None:
    line = (
        "22/08/22 14:14:24 WARN EmrOptimizedParquetOutputCommitter: EMR Optimized committer is not supported by this "
        "filesystem (org.apache.hadoop.hdfs.DistributedFileSystem)"
    )
    (finding,) = in_log(S3_DENIED, line)
    assert finding.consequence is None
    assert "DistributedFileSystem" in finding.title
    assert in_log(S3_DENIED, "INFO EmrOptimizedParquetOutputCommitter: EMR Optimized Committer: DISABLED") == []


# 5.2.5.3


def test_an_application_in_cluster_mode_that_failed() -> None:
    text = (
        "22/08/22 14:14:24 ERROR Client: Application diagnostics message: User application exited with status 1\n"
        "22/08/22 14:14:24 INFO ApplicationMaster: Final app status: FAILED, exitCode: 13, (reason: User application "
        "exited "
        "with status 1)"
    )
    (finding,) = in_log(CLUSTER_MODE, text)
    assert "exit code 13" in finding.title
    assert "_01_000001" in words(finding)
    assert len(finding.evidence) == 2
    (pasted,) = in_log(CLUSTER_MODE, "ERROR Client: Application diagnostics message: killed by it\nexitCode: 13")
    assert "exit code 13" in pasted.title


def test_the_master_container_that_yarn_reports() -> None:
    # Hadoop, RMAppAttemptImpl
    line = (
        "Application application_1_0002 failed 2 times due to AM Container for appattempt_1_0002_000002 exited with  "
        "exitCode: "
        "15\nFailing this attempt.Diagnostics: Exception from container-launch."
    )
    (finding,) = in_log(CLUSTER_MODE, line)
    assert "exit code 15" in finding.title
    assert "wrapper" not in finding.summary


@pytest.mark.parametrize(
    "text",
    [
        "The job works in client mode but fails in cluster mode.",
        "Our Spark application ends with exit code 13 on YARN.",
    ],
)
def test_cluster_mode_in_plain_words(text: str) -> None:
    (finding,) = in_words(CLUSTER_MODE, text)
    assert "ApplicationMaster" in finding.title


def test_a_module_that_is_missing_there_is_named() -> None:
    text = (
        "22/08/22 14:14:23 ERROR ApplicationMaster: User application exited with status 1\n"
        "Traceback (most recent call last):\n  File \"job.py\", line 1\nModuleNotFoundError: No module named 'pandas'"
    )
    (finding,) = in_log(CLUSTER_MODE, text)
    assert "The module pandas is missing" in words(finding)
    assert in_log(CLUSTER_MODE, "ModuleNotFoundError: No module named 'pandas'") == []


def test_a_program_that_makes_no_context_in_time() -> None:
    # Spark, ApplicationMaster.scala
    line = (
        "22/08/22 14:14:24 ERROR ApplicationMaster: SparkContext did not initialize after waiting for 100000 ms. "
        "Please check earlier log output for errors. Failing the application."
    )
    (finding,) = in_log(CLUSTER_MODE, line)
    assert "within 100 s" in finding.title
    assert "setMaster" in words(finding)


def test_an_application_that_succeeded_is_no_failure() -> None:
    line = "22/08/22 14:14:24 INFO ApplicationMaster: Final app status: SUCCEEDED, exitCode: 0"
    assert in_log(CLUSTER_MODE, line) == []


# 5.2.5.4


def test_a_shuffle_service_that_does_not_answer() -> None:
    line = (
        "22/08/22 14:14:24 WARN TaskSetManager: Lost task 1.0 in stage 4.0\n"
        "org.apache.spark.shuffle.FetchFailedException: java.util.concurrent.TimeoutException: Timeout waiting for "
        "task.\n"
        "\tat org.apache.spark.storage.ShuffleBlockFetcherIterator.throwFetchFailedException"
        "(ShuffleBlockFetcherIterator.scala:748)\n"
        "Caused by: java.io.IOException: Map_1: Shuffle failed with too many fetch failures and insufficient progress"
    )
    (finding,) = in_log(SHUFFLE_SERVICE, line)
    assert "YARN_NODEMANAGER_HEAPSIZE=10000" in words(finding)
    assert set(advised(finding)) == {
        "spark.reducer.maxBlocksInFlightPerAddress",
        "spark.reducer.maxSizeInFlight",
        "spark.shuffle.io.retryWait",
        "spark.shuffle.io.maxRetries",
    }
    assert "spark.shuffle.io.backLog=8192" in words(finding)


def test_a_node_manager_without_heap_is_the_first_cause() -> None:
    text = (
        "22/08/22 14:10:24 ERROR NodeManager: Thread died\njava.lang.OutOfMemoryError: GC overhead limit exceeded\n"
        "\tat org.apache.spark.network.yarn.YarnShuffleService.serviceInit(YarnShuffleService.java:90)\n"
        "22/08/22 14:14:24 WARN TaskSetManager: Lost task\nFetchFailedException: "
        "java.util.concurrent.TimeoutException: "
        "Timeout waiting for task."
    )
    (finding,) = in_log(SHUFFLE_SERVICE, text)
    assert "ran out of heap" in finding.title
    assert len(finding.evidence) == 2


def test_an_executor_without_heap_is_no_shuffle_service() -> None:
    text = (
        "22/08/22 14:14:24 ERROR Executor: Exception in task 1.0\njava.lang.OutOfMemoryError: Java heap space\n"
        "\tat org.apache.spark.sql.execution.UnsafeExternalRowSorter.insertRow(UnsafeExternalRowSorter.java:139)"
    )
    assert in_log(SHUFFLE_SERVICE, text) == []


# beside the guide


def test_libraries_that_are_uploaded_with_every_submission() -> None:
    # Spark, yarn/Client.scala
    line = (
        "22/02/25 21:39:45 WARN Client: Neither spark.yarn.jars nor spark.yarn.archive is set, falling back to "
        "uploading libraries under SPARK_HOME."
    )
    for text in (line, line.replace(" is set", "} is set")):
        (finding,) = in_log(YARN_LIBRARIES, text)
        assert "spark.yarn.archive" in advised(finding)
        assert finding.consequence is None


def test_a_consistent_view_that_is_not() -> None:
    # a report of 2019 on EMR, with this line of the application master
    line = (
        "19/09/16 10:00:00 ERROR ApplicationMaster: User class threw exception: "
        "com.amazon.ws.emr.hadoop.fs.consistency.exception.ConsistencyException: Directory 'path/datetime=20190916' "
        "present in the metadata but not s3"
    )
    (finding,) = in_log(EMRFS_VIEW, line)
    assert finding.title.endswith("disagree on path/datetime=20190916")
    assert "emrfs sync" in words(finding)


def test_a_client_of_s3_without_connections() -> None:
    line = (
        "20/01/01 10:00:00 ERROR Executor: Exception in task 1.0\n"
        "com.amazonaws.SdkClientException: Unable to execute HTTP request: Timeout waiting for connection from pool"
    )  # AWS SDK for Java 1.11
    (finding,) = in_log(S3_CONNECTIONS, line)
    assert advised(finding) == {"spark.hadoop.fs.s3a.connection.maximum": "192"}
    shaded = line.replace("com.amazonaws", "com.amazon.ws.emr.hadoop.fs.shaded.com.amazonaws")
    (other,) = in_log(S3_CONNECTIONS, shaded)
    assert "fs.s3.maxConnections=1000" in words(other)
    # a pool of another client
    web = "20/01/01 10:00:00 ERROR Rest: ConnectionPoolTimeoutException: Timeout waiting for connection from pool"
    assert in_log(S3_CONNECTIONS, web) == []
