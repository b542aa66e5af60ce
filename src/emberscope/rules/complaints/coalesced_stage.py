"""coalesce() lowers the parallelism of everything before it.

## What it means
coalesce makes no shuffle: the whole stage before it, reading and computing too, runs with as few tasks as it leaves.

## What it costs
The stage runs on a few cores of the cluster, and each of its tasks holds many times the data that it otherwise would.

## What to do
Use repartition where there is work before the write; coalesce only after a shuffle or where little is computed.

## When to ignore it
When the data are small, or coalesce follows a shuffle directly, so that nothing heavy is computed in the same stage.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.rules.complaints.vocabulary import SLOW
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run


TOLD_COALESCE: Final = Signature(
    name="told-coalesce",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\bcoalesce",
            r"repartition",
            r"\?|difference|better|vs|versus|when|which|" + SLOW,
        ),
        (
            r"\bcoalesce\(?\d*\)?",
            SLOW + r"|parallel|few(er)? tasks|memory|oom|one (task|executor|core)",
            r"stage|filter|before|after|read|write|job|added|transform",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_COALESCE.name)
    if rows:
        yield answer(
            rows,
            title="coalesce(n) runs the whole stage before it in n tasks; repartition(n) shuffles and keeps"
            " it parallel",
            summary="coalesce merges partitions without a shuffle, so that what is computed before it in the "
            "same stage (read, filter, UDF) runs in that few tasks too. repartition costs a shuffle, "
            "but the work before it keeps all cores and the pieces are of one size.",
            advice=(
                Advice(
                    "code",
                    "repartition(n) instead of coalesce(n), where the stage before is heavy or n is far "
                    "below the number of cores; coalesce for 2000 to 500 after a cheap filter.",
                ),
                Advice(
                    "code",
                    "df.hint('rebalance'), /*+ REBALANCE */ (Spark 3.2): AQE then picks the number by "
                    "size; or write as it is and compact afterwards.",
                ),
            ),
            confirm="The event log tells the number of tasks of that stage and how busy the cores were.",
        )


RULE = Rule(
    code="W30",
    name="told-coalesce",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_COALESCE,),
)
