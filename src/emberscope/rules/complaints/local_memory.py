"""A memory or core setting has no effect.

## What it means
In local mode there are no executors: the driver's JVM runs the tasks. Memory of a JVM is fixed when it starts, so
what a program sets on its session comes too late for the driver.

## What it costs
The job runs with the default of 1 GB, spills and collects garbage, or dies of a full heap with memory to spare on the
machine.

## What to do
Give the driver's memory on the command line or in spark-defaults.conf, before its JVM starts; see in the Environment
page what holds.

## When to ignore it
For executors of a cluster: their JVMs start after the session was configured, so what it sets holds for them.
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


TOLD_LOCAL_MEMORY: Final = Signature(
    name="told-local-memory",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"spark\.(driver|executor)\.(memory|cores)|(driver|executor)[ -]memory|SparkConf|\.config\(|"
            r"setting|configur",
            r"no effect|not (take|have|applied|working|changing|respected)|n't (work|take|change|seem|"
            r"apply)|ignored|still (shows?|uses?|has|only|1|366|434|gets?)|doesn't|does nothing",
            r"memory|cores|executor|driver|setting|conf",
        ),
        (
            r"\blocal\[|local mode|standalone (on|mode on) my (laptop|pc|machine)|jupyter|notebook|"
            r"pycharm|my laptop",
            r"memory|heap|oom",
            r"increase|set|error|how|config|space",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_LOCAL_MEMORY.name)
    if rows:
        yield answer(
            rows,
            title="Driver memory must be set before its JVM starts; in local mode it is the only memory there is",
            summary="The driver's JVM is running by the time a program sets spark.driver.memory on its "
            "session (client mode, notebooks), and in local mode there are no executors: "
            "spark.executor.memory and executor cores do nothing, tasks use the driver's heap. An "
            "existing session (getOrCreate) keeps its own settings.",
            advice=(
                Advice(
                    "code",
                    "spark-submit --driver-memory 8g, spark-defaults.conf, or "
                    "PYSPARK_SUBMIT_ARGS='--driver-memory 8g pyspark-shell' before the session is made; "
                    "in a notebook restart the kernel.",
                ),
                set_conf(
                    "spark.driver.memory",
                    "8g",
                    "In local mode; cores by the master: local[8].",
                ),
                Advice(
                    "code",
                    "See what holds: sc.getConf().getAll(), and the Environment page.",
                ),
            ),
            confirm="The event log names the master, each executor's memory, and all settings.",
        )


RULE = Rule(
    code="W45",
    name="told-local-memory",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_LOCAL_MEMORY,),
)
