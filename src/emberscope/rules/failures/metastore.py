"""The catalog of tables (Hive metastore, its database, or Derby) could not be used.

## What it means
Spark asks a metastore for tables and partitions. It is a service that keeps them in a database; where none is
configured, Spark makes a small Derby database in the current folder, which one process at a time can open. It fails
when the service is not reachable, answers too late (many partitions), has no connections to its database left, or is
of another version.

## What it costs
The query, or the start of the session; and before that the minutes that the time-outs and retries of the client take.

## What to do
See which of these it is by the innermost cause. Not reachable: `hive.metastore.uris` and the service. Too late: fewer
partitions asked for at once, or a longer time-out. No connections: a larger pool or fewer applications. Derby: a real
metastore, or a folder of its own for each session.

## When to ignore it
When a warning at the start says that no version or no default database was found, and queries work.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, by, failure
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

METASTORE: Final = Signature(
    name="metastore",
    pattern=r"Unable to instantiate \S*(?:HiveMetaStoreClient|MetaStoreClient)|"
    r"MetaException\(message:(?P<said>[^\n]*)|HiveException: [^\n]*MetaException|"
    r"Could not connect to meta store|Another instance of Derby may have already booted the database (?P<db>\S+)|"
    r"UNABLE_TO_FETCH_HIVE_TABLES|Unable to fetch tables of db|"
    r"Hive Schema version (?P<schema>\S+) does not match metastore's schema version (?P<theirs>[^\s,]+)|"
    r"[Mm]eta ?[Ss]tore[^\n]*TTransportException|TTransportException(?=[\s\S]{0,4000}[Mm]eta[Ss]tore)|"
    r"Data source rejected establishment of connection|Too many connections",
    literals=(
        "Unable to instantiate ",
        "MetaException",
        "Could not connect to meta store",
        "Another instance of Derby",
        "UNABLE_TO_FETCH_HIVE_TABLES",
        "Unable to fetch tables of db",
        "does not match metastore's schema version",
        "TTransportException",
        "Data source rejected establishment",
        "Too many connections",
    ),
    words=((r"meta ?store", r"fail|error|time-?d? ?out|cannot|can't|unable|connect|slow|derby|exception"),),
)
_KINDS: Final = (
    ("derby", re.compile(r"Another instance of Derby|another Derby|derby", re.IGNORECASE)),
    (
        "connections",
        re.compile(r"Too many connections|rejected establishment|Timeout waiting for (?:a )?connection", re.I),
    ),
    ("schema", re.compile(r"does not match metastore's schema version")),
    ("timeout", re.compile(r"SocketTimeoutException|Read timed out|timed? ?out", re.IGNORECASE)),
    (
        "unreachable",
        re.compile(
            r"Could not connect to meta ?store|Connection refused|UnknownHost|No route|Communications link|connect"
        ),
    ),
)
_TITLES: Final = {
    "derby": "The metastore is a Derby database that another process has open",
    "connections": "The metastore's database takes no more connections",
    "schema": "The metastore's schema is of another version than this client",
    "timeout": "The Hive metastore did not answer in time",
    "unreachable": "The Hive metastore cannot be reached",
    "other": "The Hive metastore cannot be used",
}
_SUMMARIES: Final = {
    "derby": "Without hive.metastore.uris Spark keeps its catalog in a Derby database (metastore_db in the current "
    "folder), which one process at a time can open: another shell, notebook or application has it, or one that died "
    "left its lock (*.lck).",
    "connections": "Each metastore and each client without one opens a pool of connections to MySQL or PostgreSQL; all "
    "of them together are more than the database allows.",
    "schema": "The tables of the metastore's database were made by another Hive version than the client wants.",
    "timeout": "A call took longer than hive.metastore.client.socket.timeout: most often a table with very many "
    "partitions, a metastore in garbage collection, or its slow database.",
    "unreachable": "The Thrift service at hive.metastore.uris (port 9083) refuses or does not answer: it is down, the "
    "address is wrong, or a firewall lies between; or its database is not reachable.",
    "other": "Spark could not make or use its metastore client. The innermost cause tells why: address, database, "
    "driver class, rights, or version.",
}
_ADVICE: Final = {
    "derby": (
        Advice("cluster", "Use one metastore service for all (hive.metastore.uris), or Glue's or another catalog."),
        Advice(
            "code",
            "For single sessions: start each in a folder of its own, or with "
            "-Dderby.system.home=… in spark.driver.extraJavaOptions; end the other process, then remove *.lck files.",
        ),
    ),
    "connections": (
        Advice(
            "cluster",
            "Lower the pool (datanucleus.connectionPool.maxPoolSize) or raise the database's max_connections, and let "
            "applications go through the metastore service instead of straight to the database.",
        ),
    ),
    "schema": (
        Advice(
            "cluster",
            "Upgrade the schema with Hive's schematool, or let Spark use the client of that version "
            "(spark.sql.hive.metastore.version and spark.sql.hive.metastore.jars).",
        ),
    ),
    "timeout": (
        Advice(
            "code", "Ask for fewer partitions: filter on partition columns, so that they are pruned in the metastore."
        ),
        Advice(
            "cluster",
            "Give the metastore more heap, look at its database, and raise hive.metastore.client.socket.timeout (in "
            "hive-site.xml, for example 600s).",
        ),
    ),
    "unreachable": (
        Advice(
            "check", "Look whether the metastore service runs and listens: `nc -vz HOST 9083` from the driver's node."
        ),
        Advice("cluster", "Correct hive.metastore.uris in hive-site.xml on Spark's class path, or start the service."),
    ),
    "other": (
        Advice(
            "check",
            "Read the innermost “Caused by”, and the metastore's own log: a missing JDBC driver, a wrong address, "
            "missing rights on the warehouse folder; on EMR with Glue, the factory class "
            "AWSGlueDataCatalogHiveClientFactory in hive-site.",
        ),
    ),
}


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for kind, rows in by(said(run, METASTORE.name), _kind):
        yield failure(
            run,
            rows,
            title=_TITLES[kind],
            summary=_SUMMARIES[kind],
            advice=_ADVICE[kind],
            confidence=0.6 if kind == "other" else 0.9,
        )


def _kind(row: Said) -> str | None:
    text = "\n".join((row.text, *row.causes))
    if "Too many connections" in text and not re.search(
        r"meta ?store|hive|mysql|jdbc|datanucleus|Data source", text, re.I
    ):
        return None
    return next((kind for kind, pattern in _KINDS if pattern.search(text)), "other")


RULE = Rule(
    code="K16",
    name="metastore",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(METASTORE,),
)
