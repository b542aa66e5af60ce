from __future__ import annotations

import pytest

from emberscope.rules.failures.network import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# Utils.startServiceOnPort of Spark.
BIND = (
    "22/01/01 00:00:00 ERROR SparkContext: Error initializing SparkContext.\njava.net.BindException: Cannot assign "
    "requested address: Service 'sparkDriver' failed after 16 retries (on a random free port)! Consider explicitly "
    "setting the appropriate binding address for the service 'sparkDriver'"
)
NAME = (
    "22/01/01 00:00:00 ERROR SparkContext: Error initializing SparkContext.\njava.lang.IllegalArgumentException: "
    "java.net.UnknownHostException: namenode-1"
)
# TransportChannelHandler of Spark.
QUIET = (
    "22/01/01 00:00:00 ERROR TransportChannelHandler: Connection to host-1/10.0.0.1:40001 has been quiet for 240000 ms "
    "while there are outstanding requests. Assuming connection is dead; please adjust spark.rpc.io.connectionTimeout"
)
# ApplicationMaster of Spark on YARN.
CONTEXT = (
    "22/01/01 00:00:00 ERROR ApplicationMaster: Uncaught exception:\njava.util.concurrent.TimeoutException: Futures "
    "timed out after [100000 milliseconds]\n\tat "
    "org.apache.spark.deploy.yarn.ApplicationMaster.runDriver(ApplicationMaster.scala:1)"
)
DRIVER = (
    'Exception in thread "main" java.lang.reflect.UndeclaredThrowableException\nCaused by: java.io.IOException: Failed '
    "to "
    "connect to driver-host/10.0.0.9:7077\nCaused by: java.net.ConnectException: Connection refused"
)
# BlockManager of Spark; ContainerManagerImpl of Hadoop.
SERVICE = (
    "22/01/01 00:00:00 ERROR CoarseGrainedExecutorBackend: Executor self-exiting due to : Unable to create executor "
    "due to Unable to register with external shuffle server due to : Failed to connect to host-1/10.0.0.1:7337"
)
AUXILIARY = (
    "22/01/01 00:00:00 ERROR YarnAllocator: org.apache.hadoop.yarn.exceptions.InvalidAuxServiceException: The "
    "auxService:spark_shuffle does not exist"
)
RESET = (
    "22/01/01 00:00:00 WARN TransportChannelHandler: Exception in connection from /10.0.0.1:40001\n"
    "java.io.IOException: Connection reset by peer"
)
# BroadcastExchangeExec before Spark 3: a rule of its own has it.
BROADCAST = (
    "22/01/01 00:00:00 ERROR Job: java.util.concurrent.TimeoutException: Futures timed out after [300 seconds]\n"
    "\tat "
    "org.apache.spark.sql.execution.exchange.BroadcastExchangeExec.doExecuteBroadcast(BroadcastExchangeExec.scala:1)"
)


@pytest.mark.parametrize(
    ("text", "title", "words"),
    [
        (BIND, "sparkDriver could not bind", "SPARK_LOCAL_IP"),
        (NAME, "The host name namenode-1 does not resolve", "getent"),
        (QUIET, "10.0.0.1:40001 did not answer for 240 s", "GC pauses"),
        (CONTEXT, "YARN waited in vain", "SparkSession first"),
        (SERVICE, "external shuffle service", "spark_shuffle"),
        (AUXILIARY, "external shuffle service", "spark_shuffle"),
        (DRIVER, "could not be reached", "firewall"),
    ],
)
def test_what_kind_of_trouble(text: str, title: str, words: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert title in finding.title
    assert any(words in advice.text for advice in finding.advice)
    assert finding.consequence == ("lost" if text == QUIET else "ended")


def test_a_reset_alone_ends_nothing() -> None:
    (finding,) = found(RULE, run_of_log(RESET))
    assert finding.consequence == "hint"


def test_what_other_rules_tell_better_is_left_to_them() -> None:
    assert found(RULE, run_of_log(BROADCAST)) == []


def test_in_plain_words() -> None:
    assert found(RULE, run_of_words("Futures timed out after 100 seconds in cluster mode"))
