from __future__ import annotations

import pytest

from emberscope.rules.failures.metastore import RULE
from tests.rules.log_lines import run_of_log, run_of_words
from tests.runs import found

# Hive's Hive.java and HiveMetaStoreClient, with the causes below it.
CANNOT = (
    'Exception in thread "main" java.lang.RuntimeException: Unable to instantiate '
    "org.apache.hadoop.hive.ql.metadata.SessionHiveMetaStoreClient\n\tat x.Y.z(Y.java:1)\n"
)
REFUSED = CANNOT + (
    "Caused by: MetaException(message:Could not connect to meta store using any of the URIs provided. Most recent "
    "failure: org.apache.thrift.transport.TTransportException: java.net.ConnectException: Connection refused"
)
# Derby's message XSDB6.
DERBY = CANNOT + (
    "Caused by: ERROR XSDB6: Another instance of Derby may have already booted the database /home/a/metastore_db."
)
LATE = (
    "21/01/01 00:00:00 ERROR Job: org.apache.hadoop.hive.ql.metadata.HiveException: MetaException(message:Got "
    "exception: org.apache.thrift.transport.TTransportException java.net.SocketTimeoutException: Read timed out)"
)
# MySQL Connector/J under DataNucleus.
FULL = (
    "21/01/01 00:00:00 ERROR ObjectStore: javax.jdo.JDOFatalDataStoreException: Unable to open a test connection to "
    "the given database. JDBC url = jdbc:mysql://db/hive\nCaused by: com.mysql.jdbc.exceptions.jdbc4."
    "MySQLNonTransientConnectionException: Data source rejected establishment of connection, message from server: "
    '"Too many connections"'
)


@pytest.mark.parametrize(
    ("text", "title", "words"),
    [
        (REFUSED, "cannot be reached", "hive.metastore.uris"),
        (DERBY, "Derby", "One metastore|one metastore"),
        (LATE, "in time", "hive.metastore.client.socket.timeout"),
        (FULL, "no more connections", "maxPoolSize"),
        (CANNOT, "cannot be used", "innermost"),
    ],
)
def test_which_of_them_it_is(text: str, title: str, words: str) -> None:
    (finding,) = found(RULE, run_of_log(text))
    assert title in finding.title
    assert any(word in advice.text for advice in finding.advice for word in words.split("|"))


def test_in_plain_words() -> None:
    assert found(RULE, run_of_words("our jobs cannot connect to the metastore since the upgrade"))


def test_healthy_lines() -> None:
    text = (
        "21/01/01 00:00:00 WARN ObjectStore: Failed to get database global_temp, returning NoSuchObjectException\n"
        "21/01/01 00:00:00 INFO HiveMetaStoreClient: Opened a connection to metastore, current connections: 1"
    )
    assert found(RULE, run_of_log(text)) == []
