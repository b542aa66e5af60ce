"""The event log grows without end, or is larger than it has to be.

## What it means
Spark writes an application's event log into one file that grows as long as the application lives. For one that runs for
days, or for a stream, nobody can shorten that file meanwhile, and the History Server has to read all of it. Rolling
splits the log into parts. Before Spark 4.0 rolling and compression are off unless they are switched on.

## What it costs
No time of the job, so it has no price: disk, and minutes for everybody who opens the application. And a log that grew
too large to be kept is missing when something goes wrong.

## What to do
Switch rolling on, and let the History Server compact all but the last parts
(`spark.history.fs.eventLog.rolling.maxFilesToRetain` in its own configuration); that drops the events of jobs that have
ended. For very many tasks, set `spark.eventLog.includeTaskMetricsAccumulators` to false (from Spark 4.0 on): these
counters of each task are in the log a second time anyway. Compression makes the log, which is JSON, about ten times
smaller.

## When to ignore it
When the application is started anew each day, or when the log is written to be read once and then deleted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.settings import is_on, is_vendors, version
from emberscope.settings.catalog import OLDEST, setting_of
from emberscope.tables.conf import CONF
from emberscope.units import format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_ROLLING = "spark.eventLog.rolling.enabled"
_COMPRESS = "spark.eventLog.compress"
_DOUBLES = "spark.eventLog.includeTaskMetricsAccumulators"


class Limits(Struct, frozen=True):
    """Our proposals: an application is long where its log is of no use before the next day, a stream after an hour; a
    log has many tasks where the History Server needs minutes for it (some 5,000 tasks a second in our measurements)."""

    floor_ms: int = 12 * 3_600_000  # of any application
    floor_stream_ms: int = 3_600_000  # of one with streaming queries
    floor_tasks: int = 10_000  # a log of fewer is small, however long the application waited
    many_tasks: int = 500_000  # ended task attempts


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    spark = version(run)
    if is_vendors(run) or spark < OLDEST or not is_on(run, "spark.eventLog.enabled", default=False):
        return
    length_ms, tasks = run.application.observed_ms or 0, run.application.tasks.count
    streams = run.tables.get("streaming_queries")
    stream = streams is not None and streams.num_rows > 0
    long = tasks >= limits.floor_tasks and length_ms >= (limits.floor_stream_ms if stream else limits.floor_ms)
    advice = list(_advice(run, long=long, many=tasks >= limits.many_tasks))
    if not advice:
        return
    words = f"{format_count(tasks)} tasks in {format_ms(length_ms)}" + (", with streaming queries" if stream else "")
    yield Finding(
        title="The event log is in one piece" if long else "The event log is larger than it has to be",
        summary=f"The application wrote {words} into its event log, "
        + ("which cannot be shortened while it runs." if long else "with counters that stand in it twice."),
        where=Where(),
        evidence=(
            Evidence(words, "tasks", tasks, "tasks"),
            *(Evidence(f"{item.setting} is {_value(run, item.setting)}", "conf") for item in advice if item.setting),
        ),
        advice=tuple(advice),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="It costs disk and the reader's time, not the job's.",
        confidence=0.8,
        consequence="hint",
    )


def _advice(run: Run, *, long: bool, many: bool) -> Iterator[Advice]:
    if long and _value(run, _ROLLING) == "false":
        yield set_conf(_ROLLING, "true", "Parts of 128 MB, of which the History Server can compact the older ones.")
    if many and _value(run, _DOUBLES) == "true":
        yield set_conf(_DOUBLES, "false", "The metrics of each task are in the log without their accumulators too.")
    if many and _value(run, _COMPRESS) == "false":
        yield set_conf(_COMPRESS, "true", "JSON of repeated names compresses well.")


def _value(run: Run, key: str) -> str:
    setting = setting_of(key)
    default = setting.default(version(run)) if setting is not None and setting.is_in(version(run)) else None
    return (run.setting(key) or default or "").strip().lower()


RULE = Rule(
    code="G10",
    name="event-log-setup",
    since="0.1",
    reads=(Reads(CONF),),
    limits=Limits(),
    check=check,
)
