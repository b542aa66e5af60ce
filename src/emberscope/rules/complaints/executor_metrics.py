"""Metrics of executors do not arrive where those of the driver do.

## What it means
Each process reads metrics settings for itself, and needs the file and the classes of the sink when it starts, before
`--jars` are fetched. A line that begins with `driver.` counts for the driver only.

## What it costs
Nothing of the job itself; but dashboards and alerts show the driver alone, and executors in trouble are not seen.

## What to do
Give metrics by settings that every process gets, or use the driver's endpoint for executors.

## When to ignore it
Where only executors that live shorter than the sink's period are missing: they report nothing, as configured.
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

TOLD_EXECUTOR_METRICS: Final = Signature(
    name="told-executor-metrics",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\bmetrics?\b",
            r"prometheus|graphite|statsd|\bsinks?\b|jmx|push ?gateway|grafana|metrics\.properties",
            r"\b(not|no|nothing|only|missing|n't|never|empty|without|fail\w*|unable)\b",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_EXECUTOR_METRICS.name)
    if not rows:
        return
    yield answer(
        rows,
        title="Executor metrics are missing: the sink is set up for the driver only, or its file or jar "
        "is not there at start",
        summary="Every process sets its metrics up when it starts: metrics.properties and the jar of the "
        "sink must be there then, and a "
        "line driver.sink... is for the driver alone (*.sink... for all).",
        advice=(
            set_conf("spark.ui.prometheus.enabled", "true", "Executors at the driver's /metrics/executors/prometheus."),
            set_conf(
                "spark.metrics.conf.*.sink.prometheusServlet.class",
                "org.apache.spark.metrics.sink.PrometheusServlet",
                "Spark 3, for every process.",
            ),
            Advice(
                "cluster",
                "A sink of others: its jar in the image or spark.executor.extraClassPath, the file by --files "
                "with spark.metrics.conf=metrics.properties, and lines that begin with *. not driver.",
            ),
        ),
        confirm="An executor's log with org.apache.spark.metrics at DEBUG tells which sinks it started.",
    )


RULE = Rule(
    code="W21",
    name="told-executor-metrics",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_EXECUTOR_METRICS,),
)
