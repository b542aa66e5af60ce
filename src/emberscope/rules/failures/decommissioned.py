"""Executors that were decommissioned took shuffle output with them, and each failed fetch counted against the stage.

## What it means
A node that is taken back (spot reclaim, scaling in) is decommissioned: its executors go while later stages still need
what they wrote. Each fetch that fails makes Spark run the map stage again; after `spark.stage.maxConsecutiveAttempts`
(4) attempts in a row the job is aborted, as if the stage itself were broken.

## What it costs
The stages that were made again, each with all that the lost output needs, and at the fourth attempt the whole job.

## What to do
From Spark 3.4 on, let fetch failures from decommissioned executors not count
(`spark.stage.ignoreDecommissionFetchFailure`, on by itself from 4.0 on); before, allow more attempts. Let executors
hand over their shuffle output before they go, or keep it elsewhere than on nodes that are taken back.

## When to ignore it
When a stage was made again once or twice and the job went on: that is what taking nodes back costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.failures.ending import Limits, consequence_of, failure, is_question, named
from emberscope.rules.failures.fetch_failed import FETCH_FAILED
from emberscope.rules.failures.moved_away import moved_away
from emberscope.rules.said import said
from emberscope.rules.settings import is_on, number_setting, version
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

DECOMMISSIONED: Final = Signature(
    name="decommissioned",
    pattern=r"[Ee]xecutor decommission|[Dd]ecommissioned (?:executor|worker|because)|decommissioned due to",
    literals=(
        "xecutor decommission",
        "ecommissioned executor",
        "ecommissioned worker",
        "ecommissioned because",
        "decommissioned due to",
    ),
    words=((r"de-?commission", r"fail|fetch|abort|lost|retr"),),
)
_IGNORE: Final = "spark.stage.ignoreDecommissionFetchFailure"
_ATTEMPTS: Final = "spark.stage.maxConsecutiveAttempts"


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, DECOMMISSIONED.name)
    fetches = tuple(row for row in said(run, FETCH_FAILED.name) if not is_question(row))
    if not rows or not (fetches or any(is_question(row) for row in rows)):
        return
    name = named(rows)
    yield failure(
        run,
        (*rows, *(row for row in fetches if row not in rows)),
        title=f"{name or 'Executors'} went by decommission, and fetch failures for their shuffle output count as "
        "failed stage attempts",
        summary=f"Nodes were taken back (spot reclaim, scaling in) while their shuffle output was needed. Each "
        f"FetchFailed makes the map stage run again, and after {_ATTEMPTS} (4) in a row the job is aborted although "
        "the stage is sound.",
        advice=_advice(run),
        consequence=consequence_of(run, fetches or rows),
    )


def _advice(run: Run) -> Iterator[Advice]:
    now = version(run)
    if (now == (0, 0) or now >= (3, 4)) and not is_on(run, _IGNORE, default=now >= (4, 0)):
        yield set_conf(_IGNORE, "true", "Fetch failures from decommissioned executors do not count (Spark 3.4+).")
    if now < (4, 0):
        attempts = int(number_setting(run, _ATTEMPTS, 4))
        yield set_conf(_ATTEMPTS, 2 * max(4, attempts), f"More attempts than the {attempts} of now, for older ones.")
    yield from moved_away(run)


RULE = Rule(
    code="K62",
    name="decommissioned",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(DECOMMISSIONED,),
)
