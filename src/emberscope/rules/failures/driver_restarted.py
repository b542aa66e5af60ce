"""Databricks says that the driver stopped, restarted or does not answer.

## What it means
The driver of a cluster is one JVM with the notebook's own Python beside it, and all notebooks of that cluster share it.
"The spark driver has stopped unexpectedly and is restarting" means that the process ended, mostly because its memory
was full: rows that were collected or made into pandas, local Python (its memory is not Spark's), large broadcasts or
plans. "Driver is up but is not responsive, likely due to GC" is the moment before.

## What it costs
All that ran on the cluster at that time, in every notebook, and all cached data.

## What to do
Bring less to the driver, or take a larger driver node; give jobs clusters of their own. The cluster's event log and the
driver's standard error say how it ended; 137 is a kill for memory, 134 and 139 are crashes of native code.

## When to ignore it
When somebody restarted the cluster on purpose, or it was set to end when it is idle: its event log says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.failures.ending import Limits, failure, groups_of
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

DRIVER_RESTARTED: Final = Signature(
    name="driver-restarted",
    pattern=r"(?P<stopped>[Ss]park driver has stopped unexpectedly|DriverStoppedException|Driver down cause: )"
    r"(?:[^\n]{0,200}?\(exit code: (?P<code>\d+)\))?|"
    r"(?P<silent>Driver is up but is not responsive)",
    literals=(
        "driver has stopped unexpectedly",
        "DriverStoppedException",
        "Driver down cause: ",
        "Driver is up but is not responsive",
    ),
    words=((r"databricks|\bdbr\b|notebook", r"driver", r"restart|stopp?ed|unresponsive|not respon|crash|died|down"),),
)
_CODE: Final = re.compile(r"exit code:? ?(\d{2,3})\b")


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, DRIVER_RESTARTED.name)
    if not rows:
        return
    found = [groups_of(row, DRIVER_RESTARTED) for row in rows]
    code = next((one["code"] for one in found if "code" in one), None) or _code_of("\n".join(r.text for r in rows))
    stopped = any("stopped" in one for one in found) or not any("silent" in one for one in found)
    exit_code = f" (exit code {code})" if code else ""
    native = code in ("134", "139")
    why = (
        "the JVM or a native library crashed"
        if native
        else "most often its memory was full (OOM): rows collected or made into pandas, local Python beside the JVM, "
        "large broadcasts, too many notebooks on one driver"
    )
    yield failure(
        run,
        rows,
        title=f"The driver stopped and was restarted by Databricks{exit_code}"
        if stopped
        else "The driver is up but does not answer: it is busy, most likely with garbage collection",
        summary=f"All notebooks and jobs of a cluster share one driver: when it ends, they end. Here {why}. Memory of "
        "local Python (pandas, joblib and its n_jobs, models) is not Spark's: the executors do not help it.",
        advice=(
            Advice("code", "Bring less to the driver: no collect or toPandas of large results, fewer local processes."),
            Advice("cluster", "Take a driver node with more memory, and give each job a cluster of its own."),
            Advice(
                "check",
                "Read the cluster's event log and the driver's stderr and log4j output at that time: OutOfMemoryError, "
                "“Killed”, or long pauses; 137 is a kill for memory.",
            ),
        ),
        confidence=0.8 if code else 0.7,
        consequence="ended" if stopped else "lost",
    )


def _code_of(text: str) -> str | None:
    found = _CODE.search(text)
    return found[1] if found is not None else None


RULE = Rule(
    code="K84",
    name="driver-restarted",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(DRIVER_RESTARTED,),
)
