"""The same work takes longer on some machines.

## What it means
Tasks with as much data as others are slow on one host: a bad disk, a noisy neighbour, a throttled processor, a hot
NodeManager.

## What it costs
Each stage waits for its slowest task, and each stage has one on that machine: the whole job runs at its pace.

## What to do
Let Spark run such tasks a second time elsewhere (speculation), keep off hosts whose tasks fail, and have the machine
looked at or replaced.

## When to ignore it
When the slow tasks read more than the others: that is skew, and a second attempt takes just as long.
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


TOLD_SLOW_MACHINE: Final = Signature(
    name="told-slow-machine",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\b(one|some|certain|same|particular|few|specific|single)\b.{0,20}\b(node|host|machine|"
            r"executor|worker|instance)s?\b.{0,60}\b(slow|longer|always|lag|behind|bad)",
            r"task|stage|data|other|rest",
        ),
        (
            r"speculat(ion|ive)",
            r"how|when|should|slow|enable|straggl|kill|many|not",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_SLOW_MACHINE.name)
    if rows:
        yield answer(
            rows,
            title="Some machines are slow: run their tasks a second time elsewhere (speculation) and exclude bad hosts",
            summary="Where slow tasks read as much as fast ones and always sit on the same hosts, the machine"
            " is the trouble (disk, neighbour, throttled CPU), not the data. Speculation helps "
            "against slow machines, not against skew, and needs writes that bear a second attempt.",
            advice=(
                set_conf(
                    "spark.speculation",
                    "true",
                    "With spark.speculation.multiplier=3 and quantile=0.9 (Spark 4's defaults).",
                ),
                set_conf(
                    "spark.excludeOnFailure.enabled",
                    "true",
                    "Hosts whose tasks fail are left out for a while (Spark 3.1; blacklist before).",
                ),
                Advice(
                    "cluster",
                    "Look at that host: iostat, steal time, dmesg, throttling of its disk or CPU credits; replace it.",
                ),
            ),
            confirm="The event log tells the pace of tasks by host, beside what each read.",
        )


RULE = Rule(
    code="W41",
    name="told-slow-machine",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_SLOW_MACHINE,),
)
