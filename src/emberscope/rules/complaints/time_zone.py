"""Times are off by hours or by a day.

## What it means
A timestamp is a moment; it is shown and parsed in the session's time zone, and so are dates that are made of it.
Executors' JVMs, Python and other writers may have another.

## What it costs
Values that are wrong by some hours, rows that land in the wrong day or partition, and joins on times that miss.

## What to do
Set one time zone for sessions, JVMs and Python, and store times with their zone or in UTC; never shift values by hand
twice.

## When to ignore it
When times are only shown differently: a client that prints the same moment in its own zone is not wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


TOLD_TIME_ZONE: Final = Signature(
    name="told-time-zone",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"timestamps?|datetimes?|dates?\b|hours?",
            r"time ?zone|\butc\b|\b(off|shift(ed)?|differ(s|ent)?|wrong|ahead|behind|"
            r"incorrect)\b.{0,30}\b(hours?|days?|time)|(one|1|\d+) (hours?|day) (off|earlier|later|"
            r"difference|behind|ahead)|daylight",
            r"spark|parquet|csv|read|writ|show|column|convert|pandas|hive|session",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_TIME_ZONE.name)
    if rows:
        yield answer(
            rows,
            title="Times shift by the session's time zone: set one zone for session, JVMs and Python",
            summary="Spark keeps a timestamp as a moment in UTC and shows, parses and cuts it into days in "
            "spark.sql.session.timeZone (by default that of the JVM). Another zone at the writer, in "
            "the driver's JVM, in Python or in the database shifts it by the difference.",
            advice=(
                set_conf(
                    "spark.sql.session.timeZone",
                    "UTC",
                    "The same for every job that reads or writes the data.",
                ),
                Advice(
                    "code",
                    "JVMs too: -Duser.timezone=UTC in spark.driver.extraJavaOptions and "
                    "spark.executor.extraJavaOptions (JDBC reads and UDFs use it); TZ=UTC for Python.",
                ),
                Advice(
                    "code",
                    "Texts with their zone ('2024-01-01T00:00:00+01:00'); to_utc_timestamp and "
                    "from_utc_timestamp only for values that were written in the wrong zone; "
                    "TIMESTAMP_NTZ (Spark 3.4) for wall-clock times; for INT96 "
                    "columns of Impala and old Hive Parquet's int96TimestampConversion.",
                ),
            ),
            confirm="SELECT current_timezone(), and the same value cast to a long on both sides, tell the shift.",
        )


RULE = Rule(
    code="W44",
    name="told-time-zone",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_TIME_ZONE,),
)
