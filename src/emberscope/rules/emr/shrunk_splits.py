"""Spark cuts files into smaller pieces than `spark.sql.files.maxPartitionBytes` says.

## What it means
That setting is only the upper end. The size of a split is the size of all files, each with the cost of opening it, over
the parallelism; no more than the setting and no less than the cost of opening a file. The parallelism is the number of
cores of all executors where nothing is set: on a large cluster it makes splits small and tasks many.

## What it costs
Each task has a start and an end of its own, and sends its result to the driver: small tasks add up.

## What to do
Set the number that the size is divided by, so that splits have their full size; `emberscope calc split` computes both
directions for each version of Spark.

## When to ignore it
When there is less data than cores could read in full splits: small splits then use all cores, as they should.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.logs.signature import Signature
from emberscope.rules.base import Advice, Finding, Reads, Rule, set_conf
from emberscope.rules.emr.told import told
from emberscope.rules.said import said
from emberscope.rules.settings import version
from emberscope.simulate.splits import Files, Settings, Splits, most_divisor, pieces_of, splits
from emberscope.tables.log_events import LOG_EVENTS
from emberscope.units import format_bytes, format_count, parse_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

ASKED: Final = "emr_splits_asked"

_FILES: Final = re.compile(r"\b(\d[\d,]{0,9}(?:\.\d+)?)(k?)\s+(?:\w+ ){0,2}files\b", re.IGNORECASE)
_SIZE: Final = re.compile(
    r"(?:of|each|average|avg|size|about|~)\D{0,12}(\d{1,5}(?:\.\d+)? ?[KMG])i?B?\b", re.IGNORECASE
)
_CORES: Final = re.compile(r"\b(\d[\d,]{0,7}) (?:virtual )?(?:v?cores|v?cpus)\b", re.IGNORECASE)
_OLD: Final = re.compile(r"\bspark[ -]?(?:version )?2\.|\bemr[ -]?5\.", re.IGNORECASE)


class Limits(Struct, frozen=True):
    """Nothing is measured: the question is enough."""


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    rows = said(run, ASKED)
    if not rows:
        return
    text = rows[0].text
    old = bool(_OLD.search(text)) or (0, 0) < version(run) < (3, 1)
    setting = "spark.default.parallelism" if old else "spark.sql.files.minPartitionNum"
    facts = _computed(text, (2, 4) if old else (3, 5))
    computed, value = "", "<size of all files / 128 MiB>"
    if facts is not None:
        files, found, cores = facts
        value = str(most_divisor([files], 128 << 20))
        computed = (
            f"Here {format_count(files.count)} files of {format_bytes(files.size_bytes)} over {format_count(cores)} "
            "cores give "
            f"{format_bytes(found.split_bytes)}: {pieces_of(files.size_bytes, found.split_bytes)} pieces of a file, "
            f"{format_count(found.tasks)} tasks. "
        )
    whole = f"At most {value} keeps splits of 128 MiB." if facts else "No more than the size of all files over 128 MiB."
    yield told(
        "File splits are smaller than spark.sql.files.maxPartitionBytes, as the parallelism is large",
        "maxSplitBytes = min(maxPartitionBytes, max(openCostInBytes, bytes of all files with openCostInBytes each / "
        f"parallelism)), and the parallelism is the number of all vcores where nothing is set. {computed}"
        "That makes many small tasks.",
        rows,
        (
            set_conf(setting, value, whole) if facts else Advice("code", f"Set {setting}. {whole}"),
            Advice("check", "`emberscope calc split COUNTxSIZE --cores N --spark VERSION` computes both directions."),
        ),
        consequence=None,
        confidence=0.6,
    )


def _computed(text: str, spark: tuple[int, int]) -> tuple[Files, Splits, int] | None:
    """The splits of the files that a question names; None where it names not all three numbers."""
    count, size, cores = _FILES.search(text), _SIZE.search(text), _CORES.search(text)
    if count is None or size is None or cores is None:
        return None
    number = round(float(count[1].replace(",", "")) * (1000 if count[2] else 1))
    many = int(cores[1].replace(",", ""))
    each = parse_bytes(size[1])
    if not number or not many or not each:
        return None
    files = Files(number, each)
    return files, splits([files], Settings(spark=spark, cores=many)), many


RULE = Rule(
    code="L19",
    name="shrunk-splits",
    since="0.1",
    reads=(Reads(LOG_EVENTS),),
    limits=Limits(),
    check=check,
    signatures=(
        # No line of a log says it: it is asked in words.
        Signature(
            ASKED,
            r"maxSplitBytes is smaller than",
            ("maxSplitBytes",),
            (
                (
                    r"maxPartitionBytes|max ?split ?bytes",
                    r"smaller|shrink|more (?:tasks|partitions|splits)|too many|why|although|despite"
                    r"|(?:tasks|pieces) per file",
                ),
                (
                    r"\bfiles\b",
                    r"\bsplits?\b|tasks",
                    r"smaller than (?:128|maxPartition|expected)|cores? .{0,40}parallelism",
                ),
            ),
        ),
    ),
)
