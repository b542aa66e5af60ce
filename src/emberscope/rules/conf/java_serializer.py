"""RDD shuffles write objects with Java's own serialisation, which is slow and large.

## What it means
DataFrames and SQL have a format of their own. An RDD's shuffle writes keys and values with `spark.serializer`, by
default Java's: it writes the names of classes along with the data and reads them back by reflection. Kryo writes the
same objects in a fraction of the bytes. Here RDD shuffles wrote the bytes given below in that way.

## What it costs
No price: the log has the bytes, not the time that went into serialising them. A recording shows that time (S7).

## What to do
Set the serializer to Kryo and register your classes (`spark.kryo.classesToRegister`), else their names are written with
each object. Or move the step to DataFrames, which need neither.

## When to ignore it
When keys and values are plain numbers, arrays of them or strings: Spark writes these with Kryo anyway, and the log does
not tell what they are. When the objects hold classes for which Kryo needs a serialiser of yours (Avro records, some
collections), or the shuffles are a small part of the job. Python's RDDs shuffle bytes that Python has pickled; they are
left out here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Reads, Rule, Where, set_conf
from emberscope.rules.places import place_of, places
from emberscope.settings.switches import KRYO
from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import StageKey
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import counted, format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_OTHERS = re.compile(r"Python|^PairwiseRDD$|Exchange")
_JAVA = "org.apache.spark.serializer.JavaSerializer"


class Limits(Struct, frozen=True):
    """Dr. Elephant and spark-advisor flag every application without Kryo; only shuffles of RDDs use the serializer, so
    how much they must write to matter is our proposal."""

    floor_bytes: int = 1 << 30  # written by RDD shuffles in all


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    if run.setting("spark.serializer") not in (None, _JAVA):
        return
    figures, known = stage_figures(run), _stages_of_rdds(run)
    if figures is None:
        return
    written = figures.total("shuffle_write_bytes")
    others = _stages_of_others(run)
    of_rdds = [
        (float(size), key)
        for size, key in zip(written, figures.keys, strict=True)
        if size > 0 and key in known and key[0] not in others
    ]
    total = sum(size for size, _ in of_rdds)
    if not of_rdds or total < limits.floor_bytes:
        return
    size, key = max(of_rdds)
    largest = place_of(places(run), key)
    yield Finding(
        title=f"RDD shuffles wrote {format_bytes(total)} with Java serialisation",
        summary=f"{counted(len(of_rdds), 'stage')} wrote objects to a shuffle in Java's own format. The largest: "
        f"{largest.sentence}, {format_bytes(size)}.",
        where=Where(),
        evidence=(
            Evidence(f"{format_bytes(total)} written by shuffles of RDDs", "tasks.shuffle_write_bytes", total, "bytes"),
            Evidence(f"spark.serializer is {_JAVA}", "conf"),
        ),
        advice=(set_conf("spark.serializer", KRYO, "Smaller and faster; register your classes for the full effect."),),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="The log does not say how long serialising took.",
        confidence=0.5,
        consequence="hint",
    )


def _stages_of_rdds(run: Run) -> set[StageKey]:
    """Stages that ran for no SQL execution."""
    stages = run.tables["stages"]
    columns = (stages[name].to_pylist() for name in ("stage_id", "stage_attempt", "sql_execution_id"))
    return {(stage, attempt) for stage, attempt, sql in zip(*columns, strict=True) if sql is None}


def _stages_of_others(run: Run) -> set[int]:
    """Stages whose shuffle does not use the serializer: Python's are bytes that Python has pickled, and a DataFrame
    that became an RDD shuffles rows in its own format."""
    stages = run.tables["stages"]
    rows = [*zip(stages["stage_id"].to_pylist(), stages["rdd_names"].to_pylist(), strict=True)]
    others = {name for name in {name for _, names in rows for name in names or ()} if _OTHERS.search(name)}
    return {stage for stage, names in rows if not others.isdisjoint(names or ())} if others else set()


RULE = Rule(
    code="G2",
    name="java-serializer",
    since="0.1",
    reads=(Reads(TASKS, ("shuffle_write_bytes",)), Reads(STAGES)),
    limits=Limits(),
    check=check,
)
