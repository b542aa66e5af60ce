"""Every submission packs Spark's libraries and copies them to the cluster.

## What it means
Where neither `spark.yarn.archive` nor `spark.yarn.jars` is set, the client makes a zip of all jars of SPARK_HOME, some
hundreds of megabytes, and uploads it for each application; the nodes fetch it each time too.

## What it costs
Seconds of CPU on the host that submits and of its network, before each application starts; many submissions at one time
from one host slow each other down.

## What to do
Put the jars, or one archive of them, where the cluster sees them once, and name that place in one setting.

## When to ignore it
When applications are few and long, so that some seconds at the start of hours do not matter to anybody.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.emr.told import told
from emberscope.rules.said import said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

UPLOADS: Final = "emr_library_upload"


class Limits(Struct, frozen=True):
    """Nothing is measured: one such line is enough."""


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, UPLOADS)
    if not rows:
        return
    yield told(
        "Each submission uploads Spark's libraries: neither spark.yarn.archive nor spark.yarn.jars is set",
        "The client packs all jars under SPARK_HOME into a zip and copies it to the staging directory for every "
        "application, which takes CPU and time on the submitting host before anything starts.",
        rows,
        (
            set_conf(
                "spark.yarn.archive",
                "hdfs:///spark/spark-libs.zip",
                "A zip of $SPARK_HOME/jars with the jars at its top, uploaded once for each version of Spark: "
                "`cd $SPARK_HOME/jars && zip -0 -q spark-libs.zip *`, then `hdfs dfs -put`.",
            ),
            Advice("check", "Or spark.yarn.jars=hdfs:///spark/jars/*.jar; replace it when Spark is upgraded."),
        ),
        consequence=None,
        confidence=0.9,
    )


RULE = Rule(
    code="L17",
    name="yarn-libraries",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        Signature(
            UPLOADS,
            r"Neither spark\.yarn\.jars nor spark\.yarn\.archive",
            ("Neither spark.yarn.jars nor spark.yarn.archive",),
            ((r"upload", r"spark_libs|__spark_libs__|spark librar|jars", r"every|each|submi|slow"),),
        ),
    ),
)
