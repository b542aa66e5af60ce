"""Output lies in too many small files.

## What it means
Every write task writes at least one file for each partition of the table that it has rows of. Many tasks times many
partitions make many small files, whatever the input looked like.

## What it costs
Each file is listed, opened and asked for its footer by every later reader; stores throttle, and catalogs grow.

## What to do
Write with as many tasks as there should be files: total size over 128 MiB or more. Repartition by the partition columns
before the write, lower the parallelism of Hudi's inserts, and compact what is there.

## When to ignore it
When the table is compacted by its own service soon after, before anybody reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule
from emberscope.rules.complaints.answer import Limits, answer, sizes
from emberscope.rules.said import Said, said
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_MANY_FILES: Final = r"\b(small|tiny|too many|so many|many|thousands of|millions of|lots of|\d{4,}\+?) (\w+ )?files"
TOLD_SMALL_FILES: Final = Signature(
    name="told-small-files",
    pattern=r"(?P<said>[Tt]oo many (?:small |tiny )?files)",
    literals=("oo many files", "oo many small files", "oo many tiny files"),
    words=(
        (
            _MANY_FILES,
            r"writ|output|creat|insert|overwrite|save|produc|generat|append",
        ),
        (_MANY_FILES, r"slow|long|\bread|quer|ingest|overhead|memory|millions|hours|fragment|optimi"),
        (
            r"\b\d+ (\w+ ){0,2}files\b.{0,60}\b\d+(\.\d+)? ?(k|kb|kib|bytes)\b",
            r"\bread|writ|slow|overhead|fragment|partition|merge|compact",
        ),
    ),
)
_MANY: Final = re.compile(r"(\d[\d,]*)\+? (?:\w+ )?files\b.{0,40}?\b(\d+(?:\.\d+)? ?[KMG]i?B)\b", re.IGNORECASE)
_WRITES: Final = re.compile(
    r"\b(?:writ|output|creat|insert|overwrit|sav(?:e|ing)|produc|generat|append)", re.IGNORECASE
)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, TOLD_SMALL_FILES.name)
    if rows:
        yield _small(rows, limits)


def _small(rows: tuple[Said, ...], limits: Limits) -> Finding:
    files = [(int(count.replace(",", "")), each) for count, text in _MANY.findall(rows[0].text) for each in sizes(text)]
    count, each = max(files, default=(0, 0))
    total = count * each
    wanted = max(1, -(-total // limits.aim_bytes)) if total else None
    figures = f": {count:,} of {format_bytes(each)}" if total else ""
    fewer = f"repartition({wanted:,}) or coalesce({wanted:,})" if wanted else "repartition(total size / 128 MiB)"
    return answer(
        rows,
        title=f"The {'output is fragmented into' if _WRITES.search(rows[0].text) else 'data lie in'} too many small "
        f"files{figures}",
        summary="Every write task makes at least one file for each partition of the table that it has rows of: too "
        "many write tasks (shuffle partitions, insert parallelism) make small files, and every reader lists, opens "
        "and asks each of them for its footer"
        + (f"; {format_bytes(total)} are {wanted:,} files of 128 MiB." if wanted else "."),
        advice=(
            Advice(
                "code",
                f"Before the write of them, {fewer}; for a partitioned table repartition by its partition columns.",
            ),
            Advice(
                "code",
                "For Hudi lower the parallelism of insert and bulk insert and raise its small-file limit; for Delta "
                "and Iceberg compact (OPTIMIZE, rewrite_data_files).",
            ),
        ),
        confirm="An event log of the write tells tasks, files and bytes written.",
    )


RULE = Rule(
    code="W5",
    name="told-small-files",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(TOLD_SMALL_FILES,),
)
