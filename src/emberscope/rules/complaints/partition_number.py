"""How many partitions a shuffle or a read should have.

## What it means
One partition is one task. Too few make tasks that spill and leave cores idle; too many make tasks that do nothing but
start.

## What it costs
With too few partitions spilling, collections and idle cores; with too many the start and the bookkeeping of every
task.

## What to do
One partition for about 128 MiB of shuffled data, at least two or three for each core.

## When to ignore it
With AQE: a number that is too large is joined by itself, one that is too small is not split.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.complaints.answer import Limits, answer, asked, cores, sizes
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.rules.said import Said
    from emberscope.tables.run import Run


ROUNDS: Final = 3
"""Partitions for each core: the last round of tasks then leaves a third of a round idle at most."""

_MANY: Final = "The default of 200 is for some 25 GiB. Rather too many than too few: AQE joins small ones."

# A size that is of data, not of memory.
_DATA: Final = re.compile(
    r"\d[\d.,]*\s?[KMGT]i?B\b(?= (?:\w+ ){0,2}(?:shuffle|data|input|files?|tables?|parquet|csv|json|join))"
    r"|\b(?:shuffl\w+|data|input|files?|table|dataset)\b (?:\w+ ){0,3}~?\d[\d.,]*\s?[KMGT]i?B\b",
    re.IGNORECASE,
)

TOLD_PARTITION_NUMBER: Final = Signature(
    name="told-partition-number",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"(how many|what|number of|optimal|ideal|best|right|good|correct|choose|set|decide|calculate|"
            r"determine).{0,40}\b(shuffle[._ ])?partitions?\b(?! by)",
            r"\?|how|should|best|optimal|ideal|formula|rule of thumb|recommend",
            r"shuffle|\d ?(tb|gb|cores?|nodes?|executors?)|repartition|cluster|size",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_PARTITION_NUMBER.name)
    if rows:
        yield _number(rows, limits)


def _number(rows: tuple[Said, ...], limits: Limits) -> Finding:
    text = rows[0].text
    data, slots = max((size for each in _DATA.findall(text) for size in sizes(each)), default=0), cores(text) or 0
    by_size = -(-data // limits.aim_bytes)
    wanted = max(by_size, ROUNDS * slots)
    computed = ", ".join(
        [f"{format_bytes(data)} over 128 MiB are {by_size:,}"] * bool(data)
        + [f"{ROUNDS} times {slots:,} cores are {ROUNDS * slots:,}"] * bool(slots)
    )
    return answer(
        rows,
        title="A partition for 128 MiB of data, and two or three for each core" + (f": {wanted:,}" if wanted else ""),
        summary="One partition is one task. Partitions of 100 to 200 MiB of shuffled data neither spill nor cost more "
        "to start than to run; a multiple of the cores keeps all of them busy to the end"
        + (f" ({computed}; the larger counts)." if computed else "."),
        advice=(
            set_conf("spark.sql.shuffle.partitions", wanted, _MANY)
            if wanted
            else Advice("code", f"spark.sql.shuffle.partitions = shuffled bytes over 128 MiB. {_MANY}"),
            set_conf("spark.sql.adaptive.enabled", "true", "On by default from Spark 3.2: joins small partitions."),
            Advice(
                "code",
                "Reads: spark.sql.files.maxPartitionBytes (128m) sets their size; RDDs: spark.default.parallelism at "
                "two to three times the cores. A write: as many partitions as files of 128 MiB to 1 GiB.",
            ),
        ),
        confirm="The event log tells bytes, spill and time of each task, and what another number would save.",
    )


RULE = Rule(
    code="W29",
    name="told-partition-number",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_PARTITION_NUMBER,),
)
