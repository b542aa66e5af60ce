"""Settings with values so far from the usual that they hurt more often than they help.

## What it means
Some values work against what they are for. A heap of 32 GiB or a little more holds no more objects than one of 31,
since Java then needs eight bytes in place of four for each reference. The tasks of an executor with very many cores
share one heap, one collector and the same connections. spark.memory.fraction near its ends leaves either the program or
Spark without room. Without a limit on results (spark.driver.maxResultSize=0) one query can take the whole driver down;
a broadcast threshold above a gibibyte can do the same. More memory beside the heap than in it is seldom used. Each such
value of this run is named below.

## What it costs
No price can be given: what such a value costs depends on the data. Where it shows, the findings on collection, spill
and failures have a price.

## What to do
Set the value back to the usual one, which is given with each, unless you know why it differs.

## When to ignore it
When somebody measured it: then a comment beside the setting saves the next reader the question.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.settings import MIB, bytes_setting, is_local, is_vendors, number_setting
from emberscope.rules.sizing.container import shape_of
from emberscope.tables.conf import CONF
from emberscope.units import format_bytes, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """Dr. Elephant calls 10 cores in an executor and an unbounded 900 executors critical; its limits on memory are from
    2015 and too low today. The JVM's limit for short references is 32 GiB of heap. The others are our proposals."""

    most_cores: int = 10  # in one executor, more than (Dr. Elephant)
    short_references_mib: int = 32 * 1024  # heap at which references double (the JVM)
    no_gain_mib: int = 44 * 1024  # heap up to which that costs more than the heap has grown (proposal)
    least_fraction: float = 0.3  # spark.memory.fraction below it (proposal; the default is 0.6)
    most_fraction: float = 0.85  # and above it (proposal)
    largest_broadcast: int = 1 << 30  # bytes of a table that is broadcast, more than (DataFlint)
    least_overhead_mib: int = 4096  # overhead that is larger than the heap, from this size on (proposal)


class Extreme(Struct, frozen=True):
    """One value: what it does in a sentence, and what to do."""

    what: str
    advice: Advice


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    found = [*_of_all(run, limits), *([] if is_local(run) or is_vendors(run) else _of_executors(run, limits))]
    if not found:
        return
    yield Finding(
        title=f"Unusual: {', '.join(sorted(_named(extreme) for extreme in found))}",
        summary="Values so far from the usual hurt more often than they help. What each of them does stands below.",
        where=Where(),
        evidence=tuple(Evidence(extreme.what, "conf") for extreme in found),
        advice=tuple(extreme.advice for extreme in found),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="What an unusual value costs shows in other findings, with their price.",
        confidence=0.6,
        consequence="hint",
    )


def _named(extreme: Extreme) -> str:
    return extreme.what.split(" ")[0].rstrip(":").partition("=")[0]


def _of_all(run: Run, limits: Limits) -> Iterator[Extreme]:
    fraction = number_setting(run, "spark.memory.fraction", 0.6)
    if not limits.least_fraction <= fraction <= limits.most_fraction:
        short = "sorts and caches" if fraction < limits.least_fraction else "the program's own objects"
        left = format_ratio(min(fraction, 1 - fraction))
        what = f"spark.memory.fraction={fraction:g} leaves {left} of the heap to {short}."
        yield Extreme(what, set_conf("spark.memory.fraction", "0.6", "Spark's default."))
    if (run.setting("spark.driver.maxResultSize") or "").strip() == "0":
        what = "spark.driver.maxResultSize=0: one collect that is too large ends the driver in place of the query."
        yield Extreme(what, set_conf("spark.driver.maxResultSize", "1g", "Spark's own: a query fails, not the driver."))
    key = "spark.sql.autoBroadcastJoinThreshold"
    broadcast = bytes_setting(run, key, "10m")
    if broadcast > limits.largest_broadcast:
        what = (
            f"{key}={run.setting(key)} lets tables of {format_bytes(broadcast)} go through the driver to all executors."
        )
        yield Extreme(what, set_conf(key, "100m", "Some 10 to 100 MB; hint the joins that need more."))


def _of_executors(run: Run, limits: Limits) -> Iterator[Extreme]:
    shape = shape_of(run)
    if run.setting("spark.executor.cores") is not None and shape.cores is not None and shape.cores > limits.most_cores:
        what = f"spark.executor.cores={shape.cores}: that many tasks share one heap, its collector and its connections."
        yield Extreme(
            what, Advice("check", "Try several executors of 4 or 5 cores with the memory divided in the same way.")
        )
    if limits.short_references_mib <= shape.heap_mib < limits.no_gain_mib:
        what = (
            f"spark.executor.memory={run.setting('spark.executor.memory')}: from 32 GiB references are twice as long, "
            "so this heap holds fewer objects than one of 31 GiB."
        )
        yield Extreme(what, set_conf("spark.executor.memory", "31g", "The largest heap with short references."))
    if shape.explicit and shape.overhead_mib >= max(limits.least_overhead_mib, shape.heap_mib + 1):
        what = (
            f"spark.executor.memoryOverhead={format_bytes(shape.overhead_mib * MIB)} is more than the heap of "
            f"{format_bytes(shape.heap_mib * MIB)}."
        )
        text = "Unless Python or native code needs it, give it to the heap; see how much the processes really held."
        yield Extreme(what, Advice("check", text))


RULE = Rule(
    code="G1",
    name="extreme-values",
    since="0.1",
    reads=(Reads(CONF),),
    limits=Limits(),
    check=check,
)
