"""An application in cluster mode failed, and what submitted it knows only that.

## What it means
In cluster mode the driver runs in the application master's container. The client polls YARN and prints the final state
and a line of diagnostics; the exception is in that container's log, whose name ends with `_000001`. Exit code 13 is
the application master's word for a user program that failed or never made its SparkContext; it is no cause by itself.

## What it costs
The application, as often as YARN tried it again from its beginning (`spark.yarn.maxAppAttempts`, 2 by default).

## What to do
Read the standard error and output of the master's container. Where there is no exception, look whether the program sets
its own master, makes its SparkContext too late, or lacks a package that only the client's host has.

## When to ignore it
When the driver's log is among the inputs and its exception among the findings: this one is its consequence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.emr.told import told
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

DIAGNOSTICS: Final = "emr_am_diagnostics"
USER_STATUS: Final = "emr_am_user_status"
FINAL_STATUS: Final = "emr_am_final_status"
NO_CONTEXT: Final = "emr_am_no_context"
CLIENT_SAID: Final = "emr_client_said_failed"
NO_MODULE: Final = "emr_no_module"
LOCAL_MASTER: Final = "emr_local_master"


_THIRTEEN: Final = re.compile(r"exit ?code:? ?13\b", re.IGNORECASE)


class Limits(Struct, frozen=True):
    """Nothing is measured: one such line is enough."""


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    late = said(run, NO_CONTEXT)
    if late:
        yield _no_context(run, late)
    names = (DIAGNOSTICS, USER_STATUS, FINAL_STATUS, CLIENT_SAID)
    rows = list({row.event_id: row for name in names for row in said(run, name)}.values())
    if rows and not late:
        yield _failed(run, rows)


def _failed(run: Run, rows: list[Said]) -> Finding:
    asked = "13" if any(_THIRTEEN.search(row.text) for row in rows) else None
    codes = [row.fields.get("code") or row.fields.get("wrapped") or row.fields.get("master") for row in rows]
    code = next((one for one in codes if one), asked)
    status = next((row.fields["status"] for row in rows if row.fields.get("status")), None)
    app = next((row.fields["app"] for row in rows if row.fields.get("app")), None) or run.application.app_id
    ended = f"with exit code {code}" if code else f"with status {status}" if status else "with a failure"
    modules = said(run, NO_MODULE)
    missing = next((row.fields["module"] for row in modules if row.fields.get("module")), None)
    return told(
        f"The driver in cluster mode ended {ended}: the real error is in the ApplicationMaster's log",
        "The client only repeats what YARN reports. "
        + (
            "13 is a wrapper: the user's program failed, or its SparkContext did not start in time or as YARN expects "
            "(a master set in the code). "
            if code == "13"
            else ""
        )
        + "The exception stands in the stderr and stdout of the first container (…_000001), which is the driver log.",
        rows,
        (
            *(
                [Advice("code", f"The module {missing} is missing there: ship it (--py-files, --archives).")]
                if missing
                else []
            ),
            Advice(
                "check",
                f"`yarn logs -applicationId {app or '<id>'} -am 1`, or in the log bucket stdout and stderr of "
                f"containers/{app or 'application_…'}/container_…_01_000001; Python's traceback may be in stdout.",
            ),
            Advice("code", "Leave setMaster() and .master() out of the program; spark-submit gives it."),
            Advice(
                "code", "Ship what only the client's host has: --jars, --packages, --py-files, --archives, --files."
            ),
        ),
        consequence="ended",
        confidence=0.5 if not missing else 0.8,
        more=tuple(row.evidence() for row in modules[:1]),
    )


def _no_context(run: Run, rows: tuple[Said, ...]) -> Finding:
    waited = next((row.fields["ms"] for row in rows if row.fields.get("ms")), None)
    local = said(run, LOCAL_MASTER)
    advice: tuple[Advice, ...] = (
        Advice("code", "Leave setMaster() out, and make the SparkSession before any long work of the program."),
        Advice("code", "A program that does not use Spark on this path needs no cluster mode."),
        Advice("check", "What the driver log shows in that time: the ApplicationMaster's container, …_000001."),
    )
    if local and not waited:
        title = (
            "The program set its own master, local, in YARN cluster mode, so YARN saw no SparkContext (exit code 13)"
        )
        summary = (
            "The driver's log shows a SparkContext with the executor “driver” inside it: a local master, set in the "
            "code (setMaster, .master()), which wins over --master. All work ran in the application master's own "
            "process, and when the program had ended the master failed the application, since no SparkContext had "
            "come to it."
        )
        advice = (Advice("code", "Leave setMaster() and .master() out of the program; spark-submit gives it."),)
    elif waited:
        wait_s = int(waited) // 1000
        title = f"The program made no SparkContext within {wait_s} s of its start in cluster mode (exit code 13)"
        summary = (
            "The application master waits so long for the user's program to make its SparkContext "
            "(spark.yarn.am.waitTime), and fails the application when it does not come: the program does other work "
            "first, waits for something, sets another master in its code, or never makes one."
        )
    else:
        title = "The program ended without a SparkContext that YARN could see in cluster mode (exit code 13)"
        summary = (
            "The application master runs the user's program and waits for its SparkContext; the program came to its "
            "end and there was none: it never made one on this path, or made it with another master, which its code "
            'set (setMaster, .master("local")).'
        )
    more = () if waited else tuple(row.evidence() for row in local[:1])
    return told(title, summary, rows, advice, consequence="ended", confidence=0.9, more=more)


RULE = Rule(
    code="L13",
    name="cluster-mode-failed",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            DIAGNOSTICS, r"Application diagnostics message: (?P<said>[^\n]+)", ("Application diagnostics message: ",)
        ),
        Signature(
            USER_STATUS,
            r"User application exited with (?:status )?(?P<status>-?\d{1,9})",
            ("User application exited with ",),
            (
                (r"cluster mode|deploy-?mode[ =]cluster|yarn-cluster", r"fail|error|exit|die[sd]"),
                (r"exit ?code:? ?13\b",),
            ),
        ),
        Signature(
            FINAL_STATUS,
            r"Final app status: FAILED, exitCode: (?P<code>-?\d{1,9})|\bexitCode: (?P<wrapped>13)\b"
            r"|AM Container for appattempt_\d+_\d+_\d+ exited with\s+exitCode: (?P<master>-?\d{1,9})",
            ("Final app status: FAILED", "exitCode: 13", "AM Container for appattempt_"),
        ),
        Signature(
            NO_CONTEXT,
            r"SparkContext did not initialize after waiting for (?P<ms>\d{1,12}) ms|"
            r"User did not initialize spark context",
            ("SparkContext did not initialize after waiting for ", "User did not initialize spark context"),
        ),
        Signature(LOCAL_MASTER, r"Starting executor ID driver on host", ("Starting executor ID driver on host",)),
        Signature(
            CLIENT_SAID,
            r"Application (?P<app>application_\d+_\d+) finished with failed status",
            ("finished with failed status",),
        ),
        Signature(
            NO_MODULE,
            r"(?:ModuleNotFoundError|ImportError): No module named '?(?P<module>[\w.]+)'?",
            ("ModuleNotFoundError: ", "ImportError: No module"),
        ),
    ),
)
