"""Much CPU time went into a codec that compresses hard.

## What it means
Files, shuffles and serialised caches can be compressed. Codecs differ widely: to compress, gzip takes about ten times
the CPU of lz4 or snappy for somewhat smaller files, bzip2 and xz take far more, and zstd at its usual level lies
between. This rule is about all of these but lz4 and snappy. Data that are compressed twice (a compressed column in a
compressed file) gain nothing.

## What it costs
An upper bound: the CPU time of the codec, in Java and in native code, taken off the tasks before the schedule is
replayed. A lighter codec still needs a part of it, and its data are larger.

## What to do
Write files with snappy, or with zstd (Parquet from Spark 3.2 on), in place of gzip. Use lz4 for shuffles
(spark.io.compression.codec; it is the default), and a low level where zstd was chosen. Do not compress values by hand
in functions: the file format does it. Shuffle less: select columns and aggregate before the exchange.

## When to ignore it
When network or storage is what is short and smaller data are worth the CPU time, as for archives that are rarely read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.rules.base import Advice, Finding, Rule, set_conf
from emberscope.rules.stacks.finding import INHERENT, READS, Limits, Words, asker, findings
from emberscope.rules.stacks.patterns import COMPRESSION

if TYPE_CHECKING:
    from emberscope.rules.stacks.hot_spots import Spot
    from emberscope.tables.run import Run


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    words = Words(
        "compressing or decompressing",
        0.6,
        "compression taken off whole; a lighter codec still takes a part of it.",
        _advice,
    )
    return findings(run, COMPRESSION.code, limits, words)


def _advice(run: Run, spots: Sequence[Spot]) -> Iterator[Advice]:
    codec = (run.setting("spark.io.compression.codec") or "").lower()
    if "zstd" in codec:
        yield set_conf(
            "spark.io.compression.codec", "lz4", "zstd was chosen for shuffles and spills; lz4 takes less CPU time."
        )
    parquet = (run.setting("spark.sql.parquet.compression.codec") or "").lower()
    if parquet == "gzip":
        yield set_conf("spark.sql.parquet.compression.codec", "zstd", "Less CPU time than gzip at about its size.")
    yield Advice(
        "code",
        f"See what {asker(spots)} compresses: files as zstd or snappy in place of gzip, nothing by hand in functions, "
        "fewer columns through the exchange.",
    )


RULE = Rule(code=COMPRESSION.code, name="compression-hot", since="0.1", reads=READS, limits=INHERENT, check=check)
