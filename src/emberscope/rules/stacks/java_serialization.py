"""Objects were written and read by Java's own serialisation.

## What it means
RDDs of objects are written as bytes when they are shuffled, broadcast, or cached in serialised form. By default Java's
serialisation does it: it writes the names of classes and fields along with the data, again every hundred objects, and
finds fields by reflection. It is slow and its results are large. DataFrames do not use it for their rows.

## What it costs
An upper bound: the CPU time of ObjectOutputStream and ObjectInputStream in tasks, taken off the tasks before the
schedule is replayed. What smaller shuffles and caches would save is not in it.

## What to do
Use DataFrames or Datasets in place of RDDs of objects. Where RDDs have to stay, set spark.serializer to Kryo and
register the classes. In your own functions do not use ObjectOutputStream for rows.

## When to ignore it
When something outside has to read Java's own format, or when classes can be written in no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule, set_conf
from emberscope.rules.stacks.finding import READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import JAVA_SERIALIZATION

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "serialising objects the way of Java",
        0.8,
        "serialisation taken off whole; Kryo still takes a part of it, the more the smaller the objects.",
        _advice,
    )
    return findings(run, JAVA_SERIALIZATION.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    if (run.setting("spark.serializer") or "").endswith("KryoSerializer"):
        yield Advice(
            "code",
            f"Kryo is set, so this is code of its own: {asker(spots)} uses ObjectOutputStream or ObjectInputStream. "
            "Use Kryo, Avro or plain columns there.",
        )
        return
    yield Advice("code", "Use DataFrames or Datasets for what is shuffled here: their rows need no serialisation.")
    yield set_conf(
        "spark.serializer",
        "org.apache.spark." + "serializer.KryoSerializer",
        "Faster and smaller than Java's serialisation for RDDs of objects; register the classes with "
        "spark.kryo.classesToRegister.",
    )


RULE = Rule(
    code=JAVA_SERIALIZATION.code, name="java-serialization", since="0.1", reads=READS, limits=Limits(), check=check
)
