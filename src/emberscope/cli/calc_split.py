"""`emberscope calc split`: how Spark cuts files into tasks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

from emberscope.cli.calc_sizes import size_of
from emberscope.cli.output import write_document, write_result
from emberscope.errors import UsageError

if TYPE_CHECKING:
    from emberscope.simulate.splits import Files, Settings, Splits

_FILES: Final = re.compile(r"\s*([\d,_]+)\s*[x*]\s*(\S+)\s*", re.IGNORECASE)
_VERSION: Final = re.compile(r"(\d+)(?:\.(\d+))?.*")


@click.command(
    epilog="""\b
Examples:
  emberscope calc split 3500x116m --cores 15837 --spark 2.4
  emberscope calc split 200x2g 5000x1m --cores 96
  emberscope calc split 3500x116m --cores 15837 --wanted 128m
"""
)
@click.argument("files", nargs=-1, required=True, metavar="COUNTxSIZE…")
@click.option("--cores", type=click.IntRange(min=1), help="Cores of all executors together, as Spark counts them.")
@click.option("--spark", default="3.5", show_default=True, metavar="VERSION", help="The formula differs.")
@click.option("--default-parallelism", type=click.IntRange(min=1), help="spark.default.parallelism, where it is set.")
@click.option("--leaf-parallelism", type=click.IntRange(min=1), help="spark.sql.leafNodeDefaultParallelism (3.2+).")
@click.option("--min-partitions", type=click.IntRange(min=1), help="spark.sql.files.minPartitionNum (3.1+).")
@click.option("--max-partitions", type=click.IntRange(min=1), help="spark.sql.files.maxPartitionNum (3.5+).")
@click.option("--max-partition-bytes", default="128m", show_default=True, metavar="SIZE")
@click.option("--open-cost", default="4m", show_default=True, metavar="SIZE", help="spark.sql.files.openCostInBytes.")
@click.option("--wanted", metavar="SIZE", help="The split to have. Default: the largest that is allowed.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def split(
    files: tuple[str, ...],
    cores: int | None,
    spark: str,
    default_parallelism: int | None,
    leaf_parallelism: int | None,
    min_partitions: int | None,
    max_partitions: int | None,
    max_partition_bytes: str,
    open_cost: str,
    wanted: str | None,
    as_json: bool,
) -> None:
    """The largest split of files (maxSplitBytes), the tasks that read them, and the parallelism for a wanted split.

    Files are given as COUNTxSIZE, for formats that can be split.
    """
    from emberscope.simulate.splits import Settings, most_divisor, splits

    version = _version(spark)
    old = (
        ("--leaf-parallelism", leaf_parallelism, (3, 2)),
        ("--min-partitions", min_partitions, (3, 1)),
        ("--max-partitions", max_partitions, (3, 5)),
    )
    for option, value, since in old:
        if value is not None and version < since:
            raise UsageError(f"{option} is unknown to Spark {spark}.", hint=f"It came with {since[0]}.{since[1]}.")
    if cores is None and not (default_parallelism or leaf_parallelism or min_partitions):
        raise UsageError("the split depends on --cores.", hint="Or on one of the settings of parallelism.")
    settings = Settings(
        spark=version,
        cores=cores or 0,
        default_parallelism=default_parallelism,
        leaf_parallelism=leaf_parallelism,
        min_partitions=min_partitions,
        max_partitions=max_partitions,
        max_partition_bytes=size_of(max_partition_bytes, "--max-partition-bytes"),
        open_cost_bytes=size_of(open_cost, "--open-cost", zero=True),
    )
    groups = [_files(text) for text in files]
    wanted_bytes = size_of(wanted, "--wanted") if wanted else settings.max_partition_bytes
    found = splits(groups, settings)
    most = most_divisor(groups, wanted_bytes, settings.open_cost_bytes)
    setting = "spark.default.parallelism" if version < (3, 1) else "spark.sql.files.minPartitionNum"
    if as_json:
        write_document(
            {
                "schema": "emberscope.calc.split/1",
                "total_bytes": found.total_bytes,
                "divisor": found.divisor,
                "divisor_from": found.divisor_from,
                "bytes_per_core": found.bytes_per_core,
                "split_bytes": found.split_bytes,
                "tasks": found.tasks,
                "rescaled_from": found.rescaled_from,
                "wanted_bytes": wanted_bytes,
                "most_parallelism": most,
                "setting": setting,
            }
        )
        return
    write_result(_split_text(groups, settings, found, wanted_bytes, most, setting), None)


def _split_text(
    groups: list[Files], settings: Settings, found: Splits, wanted_bytes: int, most: int, setting: str
) -> str:
    from emberscope.simulate.splits import pieces_of
    from emberscope.units import counted, format_bytes, format_count

    count = sum(group.count for group in groups)
    size = sum(group.count * group.size_bytes for group in groups)
    source = found.divisor_from or "cores of all executors"
    lines = [
        f"{counted(count, 'file')} of {format_bytes(size)}, "
        f"and {format_bytes(settings.open_cost_bytes)} for opening each: {format_bytes(found.total_bytes)}",
        f"divided by {format_count(found.divisor)} ({source}): {format_bytes(found.bytes_per_core)}",
        f"maxSplitBytes = min({format_bytes(settings.max_partition_bytes)}, "
        f"max({format_bytes(settings.open_cost_bytes)}, {format_bytes(found.bytes_per_core)}))"
        + (
            f", rescaled by spark.sql.files.maxPartitionNum: {format_bytes(found.split_bytes)}"
            if found.rescaled_from
            else f" = {format_bytes(found.split_bytes)}"
        ),
        f"tasks: {format_count(found.tasks)}"
        + (f" ({format_count(found.rescaled_from)} before)" if found.rescaled_from else ""),
    ]
    for group in groups:
        pieces = pieces_of(group.size_bytes, found.split_bytes)
        lines.append(f"a file of {format_bytes(group.size_bytes)} is cut into {counted(pieces, 'piece')}")
    lines += ["", f"for splits of {format_bytes(wanted_bytes)}: {setting} of {format_count(most)} at most"]
    return "\n".join([*lines, ""])


def _files(text: str) -> Files:
    from emberscope.simulate.splits import Files

    found = _FILES.fullmatch(text)
    count = int(re.sub(r"[,_]", "", found[1]) or 0) if found else 0
    if found is None or count == 0:
        raise UsageError(f"{text!r} is not a number of files and their size.", hint="Write COUNTxSIZE: 3500x116m.")
    return Files(count, size_of(found[2], "the size of files"))


def _version(text: str) -> tuple[int, int]:
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text!r} is no version of Spark.", hint="Write it as in 3.5.")
    return int(found[1]), int(found[2] or 0)
