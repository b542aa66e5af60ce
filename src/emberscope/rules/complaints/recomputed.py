"""Each action runs everything before it again: count, show, collect and each write.

## What it means
Transformations only describe. Each action reads the sources and computes all of it, and one action after another
does so again, unless the result is kept.

## What it costs
The whole work once more for each action: reading, joining and shuffling, and what the sources charge for it.

## What to do
Drop actions that only log, keep what is used more than once, and release it after.

## When to ignore it
When the count is the only action: then it is not count that is slow but all that it must compute.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, asked
from emberscope.tables.log_events import LOG_EVENTS

if TYPE_CHECKING:
    from emberscope.tables.run import Run

TOLD_RECOMPUTED: Final = Signature(
    name="told-recomputed",
    pattern=r"(?!)",  # no log says so: people do
    literals=(),
    words=(
        (
            r"\b(count|show|collect|is_?empty|take|first|head|display)\b ?(\(\d*\))?",
            r"slow|long|hours|minutes|forever|ages|again",
            r"spark|rdd|data ?frames?|dataset|jobs?|action",
        ),
        (
            r"\b(cach(e|ed|ing)|persist)\b",
            r"slow|recomput|re-?read|not (work|used)|no effect|again|every time|evict|useless",
        ),
        (
            r"recomput|re-?evaluat|read(s|ing)? (the )?(same|source|input|table|file)\w* .{0,30}(twice|again|times)|"
            r"trigger\w* .{0,20}(comput|execut)\w* again",
        ),
    ),
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = asked(run, TOLD_RECOMPUTED.name)
    if not rows:
        return
    yield answer(
        rows,
        title="Each action (count, show, write) computes all again, unless what it uses is cached",
        summary="Transformations are lazy: a count that is slow does all the work before it, and the "
        "next action does it again. "
        "Keep what several actions use; drop those that only log.",
        advice=(
            Advice(
                "code",
                "persist (cache) what more than one action uses, fill it by the first, and unpersist() after the last.",
            ),
            Advice(
                "code", "Drop count() and show() that only log; isEmpty or limit(1) for a test; df.observe for a count."
            ),
            Advice(
                "check",
                "The storage page tells whether the cache fits: use MEMORY_AND_DISK, or write a table for reuse.",
            ),
        ),
        confirm="An event log shows which stages and scans are the same in several jobs.",
    )


RULE = Rule(
    code="W17",
    name="told-recomputed",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_RECOMPUTED,),
)
