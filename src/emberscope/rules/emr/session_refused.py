"""A notebook's session was refused by Livy, or its SparkContext could not start.

## What it means
Notebooks talk to Livy, which starts one Spark application for each session. A status from Livy says where it stopped:
500 is a fault on the server's side, most often an application that failed to start; 404 a session that has ended; 401
and 403 a user that is not let in. The payload and the notebook show little of it: Livy's own log has the exception.

## What it costs
The session: nothing in it has run, or its variables, cached data and temporary views are gone with it.

## What to do
Read Livy's log at that time and the log of the session's application; make a new session.

## When to ignore it
When a session was idle for longer than Livy's timeout: it was ended on purpose, and a new one is made at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.emr.told import told
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

LIVY_STATUS: Final = "emr_livy_status"
SESSION_DIED: Final = "emr_livy_session_died"
UNREACHABLE: Final = "emr_livy_unreachable"
NO_BUFFER: Final = "emr_no_buffer_directory"

_MEANS: Final = {
    "400": "Livy did not take the request: a setting or a parameter of the session that it does not allow.",
    "401": "Livy wants the user to sign in: Kerberos ticket or password.",
    "403": "Livy does not let this user in, or not act for the other one (proxyUser).",
    "404": "The session is not there any more: it ended, or Livy ended it after its idle timeout.",
    "500": "A fault on Livy's side: the session's application did not start, or Livy itself failed.",
}


class Limits(Struct, frozen=True):
    """Nothing is measured: one such line is enough."""


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    died = said(run, SESSION_DIED)
    submitted = tuple(row for row in died if "child" in row.fields or "submit" in row.fields)
    if submitted:
        yield _not_submitted(submitted)
    elif died:
        yield _died(died)
    rows = (*said(run, LIVY_STATUS), *said(run, UNREACHABLE))
    if rows:
        yield _refused(rows)
    buffers = said(run, NO_BUFFER)
    if buffers:
        yield _no_buffer(buffers)


def _refused(rows: tuple[Said, ...]) -> Finding:
    status = next((row.fields["status"] for row in rows if row.fields.get("status")), None)
    payload = next((row.fields["payload"].strip() for row in rows if row.fields.get("payload")), "")
    title = f"Livy answered with status {status}" if status else "The notebook has no Spark session from Livy"
    return told(
        f"{title}: the Spark session was not made",
        f"{_MEANS.get(status or '500', 'Livy could not do what it was asked for.')} "
        + (f"It sent {payload[:120]}. " if payload and payload != "null" else "")
        + "“Connection refused” beside it means that Livy (port 8998) is not running or not reachable. What went "
        "wrong is in Livy's server log and not in the notebook.",
        rows,
        (
            Advice(
                "check",
                "Read /var/log/livy/livy-livy-server.out on the primary node at that time, and `yarn logs "
                "-applicationId` "
                "of the session's application, if it got one.",
            ),
            Advice("cluster", "Restart Livy where it does not answer: sudo systemctl restart livy-server."),
            Advice(
                "code",
                "Make a new session (restart the kernel), and initialise it before it is used: in a notebook with "
                "sparkmagic `spark` is made by Livy, elsewhere by SparkSession.builder.getOrCreate().",
            ),
        ),
        consequence="ended",
        confidence=0.6,
    )


def _died(rows: tuple[Said, ...]) -> Finding:
    fields = rows[0].fields
    session = fields.get("session")
    return told(
        f"{f'Livy session {session}' if session else 'A Livy session'} ended as {fields.get('state', 'dead')} while it "
        "was starting or in use",
        "The session's Spark application failed or was killed; the notebook only sees its last state. The driver's "
        "memory, a setting or package of the session that cannot be used, and YARN that gave no container are the "
        "usual reasons.",
        rows,
        (
            Advice(
                "check",
                "`yarn logs -applicationId` of the session's application (its first container is the driver), and "
                "/var/log/livy/livy-livy-server.out at that time.",
            ),
            Advice("code", "Start it without the extra settings and packages (%%configure), then add them one by one."),
            Advice("code", "More driverMemory in %%configure where the driver was killed for its memory."),
        ),
        consequence="ended",
        confidence=0.6,
    )


def _not_submitted(rows: tuple[Said, ...]) -> Finding:
    code = next((row.fields["code"] for row in rows if row.fields.get("code")), None)
    return told(
        f"Livy's spark-submit ended before the session had started{f' (exit code {code})' if code else ''}",
        "Livy starts a session by spark-submit and waits for its driver: here that program ended first, so YARN may "
        "never have seen an application. A setting, a jar or a queue that cannot be had, a Java or SPARK_HOME that "
        "does not fit, or the user for whom Livy acts are the usual reasons; its own words are in Livy's log.",
        rows,
        (
            Advice(
                "check",
                "Read the lines of spark-submit above this in /var/log/livy/livy-livy-server.out (`GET "
                "/sessions/ID/log` has them too): the first exception there is the reason.",
            ),
            Advice("check", "Run spark-submit with the same settings by hand, as the user that Livy runs or acts as."),
            Advice("code", "Start it without the extra settings and packages (%%configure), then add them one by one."),
        ),
        consequence="ended",
        confidence=0.8,
    )


def _no_buffer(rows: tuple[Said, ...]) -> Finding:
    return told(
        "No local directory for the buffers of S3A: fs.s3a.buffer.dir is full, missing or closed to the user",
        "Writes to s3a:// are gathered in local files (s3ablock-…) first. None of the directories of fs.s3a.buffer.dir "
        "could take one: the disk is full, the directory is not there, or the user of the job may not write to it.",
        rows,
        (
            set_conf("spark.hadoop.fs.s3a.buffer.dir", "/mnt/s3", "A directory with room that this user may write to."),
            Advice("check", "df -h of that disk, and the owner of hadoop.tmp.dir (/mnt/tmp) on the node that failed."),
            Advice("code", "Or use s3:// on EMR, whose file system has its own buffer directory (fs.s3.buffer.dir)."),
        ),
        consequence="ended",
    )


RULE = Rule(
    code="L8",
    name="session-refused",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            LIVY_STATUS,
            r"Invalid status code '(?P<status>\d{3})' from (?P<url>https?://\S+?/sessions\S*)"
            r"(?: with error payload: (?P<payload>[^\n]*))?",
            ("Invalid status code '",),
            (
                (
                    r"livy|sparkmagic|jupyter|notebook|8998",
                    r"Invalid status code|Connection refused|NullPointerException",
                ),
            ),
        ),
        Signature(
            SESSION_DIED,
            r"Session (?P<session>\d{1,9}) unexpectedly reached final status '(?P<state>\w+)'"
            r"|(?P<child>Child process exited with code (?P<code>\d+))(?=[\s\S]{0,1000}livy)"
            r"|(?P<submit>IllegalStateException: spark-submit start failed)",
            (
                "unexpectedly reached final status",
                "Child process exited with code",
                "spark-submit start failed",
            ),
            ((r"livy|sparkmagic|jupyter|notebook", r"session", r"\bdead\b|\bkilled\b|\bdied\b"),),
        ),
        Signature(
            UNREACHABLE,
            r"Error sending http request and maximum retry encountered",
            ("Error sending http request and maximum retry",),
        ),
        Signature(
            NO_BUFFER,
            r"Could not find any valid local directory for (?P<file>s3ablock\S*)",
            ("for s3ablock",),
        ),
    ),
)
