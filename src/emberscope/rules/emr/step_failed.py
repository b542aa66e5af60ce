"""An EMR step failed, and its log says only how the command that it ran ended.

## What it means
A step runs `spark-submit` on the primary node. Its controller log has the exit code of that command; its stderr has
what the client saw. In client mode that is the driver itself, in cluster mode only a report on a driver that ran
elsewhere. Exit code 137 is the kill of that process by signal 9, most often by the kernel of a primary node that ran
out of memory.

## What it costs
The step and all that it did; and where the cluster ends with a failed step, the local logs with it.

## What to do
Take the application's id from the step's stderr, and read the log of its first container; for 137 in client mode give
the driver's host more memory, or run in cluster mode.

## When to ignore it
When the error itself is among the findings: this one only says that the step ended with it, and adds nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.emr.told import told
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

STEP_FAILED: Final = "emr_step_failed"
JOB_FAILED: Final = "emr_job_failed"

_KILLED: Final = "137"
_TERMINATED: Final = "143"


class Limits(Struct, frozen=True):
    """Nothing is measured: one such line is enough."""


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = (*said(run, STEP_FAILED), *said(run, JOB_FAILED))
    for row in rows[:1]:
        code = row.fields.get("code") or ("137" if "137" in row.text else "")
        app = run.application.app_id or "the application id that stands in the step's stderr"
        yield told(
            "The EMR step's command "
            + (f"ended with exit code {code}" if code else "failed")
            + "; its log does not hold the error itself",
            _summary(code),
            rows,
            (
                *_first_advice(code),
                Advice(
                    "check",
                    f"Read the step's stderr for the exception, then the stderr of the containers of {app} "
                    "(containers/application_…/container_…_01_000001/stderr.gz in the log bucket).",
                ),
            ),
            consequence="ended",
            confidence=0.5,
        )


def _summary(code: str) -> str:
    if code == _KILLED:
        return (
            "137 is 128 + 9: the process that the step started was killed by SIGKILL. In client mode that is the "
            "driver on the primary node, where the kernel kills the largest process when memory ends; executors that "
            "ended with 137 or as “Slave lost” stand in the containers' logs."
        )
    if code == _TERMINATED:
        return "143 is 128 + 15: the step's process was asked to end (SIGTERM), as when a step is cancelled."
    return (
        "The controller log gives the exit code of spark-submit and no more. In cluster mode the driver ran in a "
        "container of its own, the application master, whose log has the exception."
    )


def _first_advice(code: str) -> Iterator[Advice]:
    if code == _KILLED:
        yield Advice(
            "check",
            "Look for “Out of memory: Kill process” in dmesg of the primary node (instance-state log of that quarter "
            "of an hour). If it is there, run in cluster mode, or use a larger primary node.",
        )


RULE = Rule(
    code="L5",
    name="step-failed",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            STEP_FAILED,
            r"Step failed with exitCode (?P<code>-?\d{1,9})",
            ("Step failed with exitCode ",),
            ((r"\bemr\b", r"\bsteps?\b", r"fail", r"\blogs?\b|exit ?code|stderr|137"),),
        ),
        # EMR Serverless and EMR on EKS
        Signature(
            JOB_FAILED,
            r"please check complete logs in configured logging destination\.? ExitCode: (?P<code>-?\d{1,9})",
            ("complete logs in configured logging destination",),
        ),
    ),
)
