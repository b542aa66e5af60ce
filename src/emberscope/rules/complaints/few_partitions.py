"""The data lies in very few partitions: each task holds too much, and most cores have none.

## What it means
What a source gives in few pieces (one file that cannot be split, such as gzip or multi-line CSV, a JDBC read without
bounds, a coalesce) stays in few pieces until something shuffles it. One task then holds a large part of all rows, more
so with many wide columns, and fills its heap, while other cores wait.

## What it costs
As many cores as there are partitions work; the heap of those few executors runs out although the cluster has plenty.

## What to do
Repartition right after reading, to two or three partitions for each core, or have the input written in more files.

## When to ignore it
When the data is so small that one task is enough, or when one ordered file of it is what is wanted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, cores
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_ONE_RUNS: Final = (
    r"\b(only|just)\b (\w+ ){0,3}(one|1|single) (\w+ ){0,2}(task|partition|executor|core|thread)\b"
    r"|\b(one|1|single) task (is |was |gets )?(running|runs|active|executed)"
)
TOLD_FEW_PARTITIONS: Final = Signature(
    name="told-few-partitions",
    pattern=r"(?P<said>\b(?:[Vv]ery |[Tt]oo |[Oo]nly a? ?)few (?:large |big )?partitions|"
    r"[Oo]nly (?:in )?(?:one|a single|1) partition\b)",
    literals=("few partitions", "few large partitions", "few big partitions", "one partition", "a single partition"),
    words=(
        (r"(very|too|only a?|so) few (\w+ )?partitions",),
        (r"(only|just|has|have|is)( in)? (one|a single|1|2) partitions?\b", r"read|csv|json|gz|file|jdbc|input|load"),
        (r"(gzip|\.gz\b|multi-?line|unsplittable|not splittable)", r"(one|single|1) (task|core|executor)|slow|memory"),
        (
            _ONE_RUNS,
            r"\b(\d+|other|all|more|many|available|idle|specified|whole) (\w+ ){0,2}(cores|executors|executers|"
            r"workers|nodes|cpus)|cluster|idle|parallel|sequential",
        ),
        (
            r"parallelism",
            r"\b(few|couple|only|low|idle)\b|not (all|fully)|under-?us|utili[sz]",
            r"cores?|cpus?|process",
        ),
        (r"\b(csv|json|xml|excel|xlsx)\b", r"\bread|\bload", r"slow|long time|takes (too |very )?long|hours"),
    ),
)

_CLOSER: Final = ("told-jdbc-read", "told-skew", "told-single-writer")


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, TOLD_FEW_PARTITIONS.name)
    # A complaint with a rule of its own is not told twice.
    if rows and not any(row.level is None and said(run, other) for row in rows for other in _CLOSER):
        yield _few(rows)


def _few(rows: tuple[Said, ...]) -> Finding:
    slots = cores(rows[0].text)
    number = f"{3 * slots}" if slots else "two or three times the number of cores"
    return answer(
        rows,
        title="Too few partitions: each task holds a large part of all data, whatever memory the cluster has",
        summary="What a reader gives in few pieces (a file that cannot be split, a JDBC read without bounds) stays in "
        "few large partitions: those tasks run out of heap and collect garbage while other cores are idle. More memory "
        "is not the fix. Taken for granted: the input is read into fewer partitions than there are cores.",
        advice=(
            Advice(
                "code", f"Call repartition({number}) right after reading, before wide columns are parsed or joined."
            ),
            Advice("code", "Or write the input in more, splittable files (not one gzip, not multi-line CSV)."),
        ),
        confirm="df.rdd.getNumPartitions() right after the read tells it; an event log gives rows and heap of each "
        "task.",
        confidence=0.7,
    )


RULE = Rule(
    code="W3",
    name="told-few-partitions",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_FEW_PARTITIONS,),
)
