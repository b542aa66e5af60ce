"""Something outside of Spark ended or hindered the work: a person, a clock, a database's account.

## What it means
The application was killed by a user or an administrator; clocks of machines disagree, so that tokens and signatures are
refused as too old or not yet valid; or a database refuses the account that a JDBC source uses.

## What it costs
The application with all that it had not written out, or the part of it that needed the refused service.

## What to do
Ask who ended it (the resource manager's audit log has user and address); let all machines take their time from one
source (NTP, chrony); correct user, password and allowed hosts of the database.

## When to ignore it
When you ended it yourself, or when a scheduler did so by a time limit that is meant to be there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, by, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

OPERATION: Final = Signature(
    name="operation",
    pattern=r"(?P<clock>[Ss]ystem times on machines may be out of sync|RequestTimeTooSkewed|"
    r"difference between the request time and the (?:current|server)'?s? time is too large|Clock skew too great|"
    r"This token is expired\. current time is (?P<now>\d+) found (?P<found>\d+))|"
    r"(?P<killed>Application (?:application_\w+ )?(?:was )?killed by (?:user|admin|YARN)\b(?: (?P<by>[\w.@-]+))?|"
    r"Kill job \S+ received|killed by user via|Job \d+ cancelled by user|cancelled as part of cancellation of all "
    "jobs)|"
    r"Access denied for user '(?P<user>[^']*)'@'(?P<host>[^']*)'(?P<password> \(using password: \w+\))?|"
    r"(?P<postgres>password authentication failed for user|no pg_hba\.conf entry for host|ORA-01017|"
    r"Login failed for user)",
    literals=(
        "machines may be out of sync",
        "RequestTimeTooSkewed",
        "time is too large",
        "Clock skew too great",
        "This token is expired. current time is",
        "killed by user",
        "killed by admin",
        "cancelled by user",
        "cancelled as part of cancellation of all jobs",
        "Access denied for user",
        "password authentication failed for user",
        "no pg_hba.conf entry for host",
        "ORA-01017",
        "Login failed for user",
    ),
    words=(
        (r"\bclocks?\b", r"out of sync|skew|drift"),
        (r"\btime\b", r"out of sync"),
        (r"killed by (a |the )?(user|admin)",),
        (r"access denied for user",),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for kind, rows in by(said(run, OPERATION.name), _kind):
        yield _FINDINGS[kind](run, rows)


def _kind(row: Said) -> str:
    found = groups_of(row, OPERATION)
    if "clock" in found:
        return "clock"
    if "killed" in found:
        return "killed"
    if "user" in found or "postgres" in found:
        return "account"
    return "clock" if "sync" in row.text or "skew" in row.text else "killed" if "kill" in row.text else "account"


def _clock(run: Run, rows: list[Said]) -> Finding:
    found = groups_of(rows[0], OPERATION)
    apart = abs(int(found["now"]) - int(found["found"])) // 1000 if "now" in found else None
    return failure(
        run,
        rows,
        title=f"Clocks of machines disagree{f' by {apart:,} s or more' if apart else ''}",
        summary="Tokens and signed requests carry a time: where machines' clocks differ by minutes they are refused as "
        "expired or not yet valid, though keys and rights are in order. A machine that was suspended shows the same.",
        advice=(
            Advice("cluster", "Let all nodes take their time from one source: chrony or ntpd, running and in step."),
            Advice("check", "Compare `date -u` and `chronyc tracking` of the nodes that the lines name."),
        ),
    )


def _killed(run: Run, rows: list[Said]) -> Finding:
    name = groups_of(rows[0], OPERATION).get("by")
    cancelled = all("cancelled" in row.text for row in rows)
    what = "Jobs were cancelled" if cancelled else "The application was killed"
    return failure(
        run,
        rows,
        title=f"{what} by {name or 'a user or an administrator'}, not by a failure of its own",
        summary="Somebody or something with the right to do so ended it: a person, a scheduler with a time limit, a "
        "notebook that was closed. What fails after that is its echo.",
        advice=(
            Advice(
                "check",
                "Look for who and why: the resource manager's audit log (“Kill Application Request”, with user and "
                "address), the workflow's time limits, the notebook's session.",
            ),
        ),
        confidence=0.9,
        consequence="ended",
    )


def _account(run: Run, rows: list[Said]) -> Finding:
    found = groups_of(rows[0], OPERATION)
    user = f" {found['user']} from {found['host']}" if found.get("user") else " of the JDBC source"
    return failure(
        run,
        rows,
        title=f"The database refuses the account{user}",
        summary="User, password or the host it comes from is not accepted. Executors open the connections too: their "
        "hosts need the right as much as the driver's.",
        advice=(
            Advice(
                "cluster",
                "Correct user and password of the source, and grant it for the hosts of all nodes (user@'%').",
            ),
            Advice("check", "Try the database's own client with the same account from an executor's node."),
        ),
    )


_FINDINGS: Final = {"clock": _clock, "killed": _killed, "account": _account}

RULE = Rule(
    code="K27",
    name="outside-cause",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(OPERATION,),
)
