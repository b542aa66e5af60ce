"""So many executors or tasks failed that Spark gave up: a limit was reached, not a cause.

## What it means
On YARN and Kubernetes an application ends (exit code 11) when more executors have failed than
`spark.executor.maxNumFailures` (`spark.yarn.max.executor.failures` before 3.5) allows: twice the number of executors,
at least 3. With exclusion of bad nodes (`spark.excludeOnFailure.enabled`, before 3.1 blacklisting) a task that has
failed on all executors that are left "cannot run anywhere". Both only count: why each of them failed is told
elsewhere.

## What it costs
The application, or the job, with all that it had not written out; and the time that the failing executors took to
start.

## What to do
Find the first failures and mend their cause: executors that end right after their start point to a wrong image, class
path or Java option; those that end later to memory or to nodes that are taken back. Raise the limit, or let old
failures be forgotten, only for long applications on nodes that come and go.

## When to ignore it
Never: it ended the work. But look at what it counts, the failures before it, and not at the limit itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, failure, groups_of
from emberscope.rules.said import Said, said
from emberscope.rules.settings import version
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

FAILURES_LIMIT: Final = Signature(
    name="executor-failures-limit",
    pattern=r"Max number of executor failures \((?P<limit>\d+)\) reached",
    literals=("Max number of executor failures",),
    words=((r"max(imum)? number of executor failures",),),
)
NOWHERE: Final = Signature(
    name="cannot-run-anywhere",
    pattern=r"(?:task (?P<task>\d+)[^\n]{0,60}\s)?cannot run anywhere due to node and executor "
    r"(?P<by>excludeOnFailure|blacklist)|(?P<all>All executors are (?:excluded|blacklisted))",
    literals=("cannot run anywhere due to", "All executors are excluded", "All executors are blacklisted"),
    words=((r"cannot run anywhere",), (r"blacklist|exclude ?on ?failure", r"fail|abort|task|executor")),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, FAILURES_LIMIT.name)
    if rows:
        yield _limit(run, rows)
    rows = said(run, NOWHERE.name)
    if rows:
        yield _nowhere(run, rows)


def _limit(run: Run, rows: tuple[Said, ...]) -> Finding:
    limit = groups_of(rows[0], FAILURES_LIMIT).get("limit")
    return failure(
        run,
        rows,
        title=f"The application was ended because {f'{limit} executors' if limit else 'too many executors'} had failed",
        summary="This is a count, not a cause: Spark gives up (exit code 11) when more executors have failed than "
        "twice their number, at least 3. Why the first of them failed is what has to be mended.",
        advice=_limit_advice(run, int(limit) if limit else None),
        confidence=0.9,
        consequence="ended",
    )


def _limit_advice(run: Run, limit: int | None) -> Iterator[Advice]:
    yield Advice(
        "check",
        "Read the log of the first executors that ended. Within seconds of their start: image, class path, Java "
        "options, or no way to the driver. Later: exit code 137 or memory limits, or nodes that were lost.",
    )
    old = (0, 0) < version(run) < (3, 5)
    validity = "spark.yarn.executor.failuresValidityInterval" if old else "spark.executor.failuresValidityInterval"
    yield set_conf(
        validity,
        "1h",
        "Only for long applications on nodes that come and go: older failures are then forgotten.",
    )
    if limit is not None:
        key = "spark.yarn.max.executor.failures" if old else "spark.executor.maxNumFailures"
        yield set_conf(key, 4 * limit, f"Or a higher limit than {limit}, once the cause is known and accepted.")


def _nowhere(run: Run, rows: tuple[Said, ...]) -> Finding:
    found = groups_of(rows[0], NOWHERE)
    task = f"Task {found['task']}" if "task" in found else "A task"
    return failure(
        run,
        rows,
        title=f"{task} failed on every executor that was left, and all are excluded for it",
        summary="Exclusion on failure (blacklisting before Spark 3.1) keeps a task away from executors and nodes where "
        "it failed; when none is left the stage is aborted. That is a count, not a cause: the exception of the task's "
        "earlier attempts tells why.",
        advice=(
            Advice(
                "check",
                "Look at the exception of that task's attempts before: the same one everywhere means data or code, one "
                "host alone means that machine.",
            ),
            Advice(
                "cluster",
                "With few executors exclusion leaves none: turn it off (spark.excludeOnFailure.enabled=false), or let "
                "it allow more attempts per node.",
            ),
        ),
        confidence=0.9,
        consequence="ended",
    )


RULE = Rule(
    code="K19",
    name="failures-limit",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(FAILURES_LIMIT, NOWHERE),
)
