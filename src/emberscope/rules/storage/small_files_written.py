"""A write left very many small files behind.

## What it means
Each task of a write makes a file of its own, and for a partitioned table one for every partition of which it holds
rows: 200 tasks that each have rows of 50 days make 10,000 files. Opening, closing, moving and listing a file takes time
that does not depend on what is in it: once in this write, and again for everybody who reads the table.

## What it costs
An estimate: a file costs a task as much as writing 4 MiB more (Spark's own figure, `spark.sql.files.openCostInBytes`),
at most 42 ms, or longer where tasks waited longer for each file. The commit is taken to shrink with the number of
files. The application is replayed without the part of that which fewer files would save. Later readers of the table,
and the shuffle that brings the rows together, are not counted.

## What to do
Before the write, bring together the rows that belong into one file: `repartition` by the partition columns of the
table, or into a number of files where it has none. The advice computes it from what was written. With Iceberg, set the
table's `write.distribution-mode` to `hash`. Compact the files that are there already.

## When to ignore it
When other programs rely on this number of files, or when a partition has so many rows that one task could not write
them in time: then repartition by the partition columns and a random number from a small range.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.long_stages import shortened
from emberscope.rules.places import place_of, places
from emberscope.rules.price import driver_saving, priced
from emberscope.rules.python_time import python_stages
from emberscope.rules.storage.commit_gap import commit_ms
from emberscope.rules.storage.files import (
    OPEN_COST_MS,
    TARGET_BYTES,
    FileWrite,
    figure,
    file_writes,
    overhead_ratio,
    spread,
    stages_at,
    writing_stages,
)
from emberscope.tables.jobs import JOBS
from emberscope.tables.plan_metrics import PLAN_METRICS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_bytes, format_count, format_ms

if TYPE_CHECKING:
    from emberscope.simulate.stage_tasks import StageTasks
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """DataFlint reports more than 100 files of less than 3 MB on average. The cost of a file is Spark's own estimate
    (4 MiB of scan, spark.sql.files.openCostInBytes), at the 100 MB/s of a plain cloud volume."""

    files: int = 100  # written files (DataFlint)
    mean_bytes: int = 3_000_000  # their mean size (DataFlint)
    times: float = 2.0  # written files over those that are wanted: else a fix changes little (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for write in file_writes(run):
        if write.files <= limits.files or write.size_bytes / write.files >= limits.mean_bytes:
            continue
        wanted = wanted_files(write)
        if write.files < limits.times * wanted:
            continue
        stages = writing_stages(run, write)
        if stages_at(run, {stage.key[0] for stage in stages}):
            yield _finding(run, write, stages, wanted)


def wanted_files(write: FileWrite) -> int:
    """How many files would do: one for each partition directory, and for each 128 MiB."""
    parts = figure(write.node, "number of dynamic part") or 1
    return int(max(parts, math.ceil(write.size_bytes / TARGET_BYTES), 1))


def waited_ms(run: Run, stages: Sequence[StageTasks]) -> float:
    """How long tasks waited for what is neither CPU, collection nor shuffle: for the storage, where no Python runs."""
    python = python_stages(run)
    waits = (
        stage.run_ms()
        - stage.amounts("executor_cpu_time_ns") * 1e-6
        - stage.amounts("gc_time_ms")
        - stage.amounts("shuffle_fetch_wait_ms")
        for stage in stages
        if stage.key[0] not in python and not np.isnan(stage.numbers("executor_cpu_time_ns")).all()
    )
    return sum(float(np.maximum(0.0, wait).sum()) for wait in waits)


def _finding(run: Run, write: FileWrite, stages: Sequence[StageTasks], wanted: int) -> Finding:
    excess = write.files - wanted
    run_ms = sum(float(stage.run_ms().sum()) for stage in stages)
    file_ms = max(OPEN_COST_MS, waited_ms(run, stages) / write.files)
    cost_ms = min(excess * file_ms, overhead_ratio(write.files, write.size_bytes, wanted) * run_ms)
    less = spread(stages, cost_ms)
    price = priced(
        run,
        {stage.key: shortened(stage, ms) for stage, ms in zip(stages, less, strict=True)},
        f"Estimate: {file_ms:.0f} ms for each of {format_count(excess)} files, never more than their share of "
        "the tasks' time.",
    )
    commit = (commit_ms(run, write) or 0.0) * excess / write.files
    driver = driver_saving(run, commit, f"The commit would be shorter by {format_ms(commit)}.")
    length_ms = run.application.observed_ms or 0
    wall_ms = None if price.wall_ms is None else min(price.wall_ms + (driver.wall_ms or 0), length_ms)
    worst = max(stages, key=lambda stage: (float(stage.run_ms().sum()), stage.key))
    place = place_of(places(run), worst.key)
    mean = write.size_bytes / write.files
    parts = figure(write.node, "number of dynamic part")
    evidence = [
        Evidence(
            f"{format_count(write.files)} files of {format_bytes(mean)} on average, {format_bytes(write.size_bytes)} "
            "in all",
            "plan_metrics: number of written files, written output",
            write.files,
            "files",
        ),
        Evidence(
            f"{format_count(sum(len(stage) for stage in stages))} tasks wrote them in {format_ms(run_ms)} of task time",
            "tasks.executor_run_time_ms",
            round(run_ms),
            "ms",
        ),
    ]
    if parts:
        evidence.append(
            Evidence(
                f"they lie in {format_count(parts)} partitions of the table",
                "plan_metrics: number of dynamic part",
                parts,
                "partitions",
            )
        )
    return Finding(
        title=f"{format_count(write.files)} files of {format_bytes(mean)} were written to {write.table}",
        summary=f"{place.sentence}: {format_count(write.files)} files for {format_bytes(write.size_bytes)}; "
        f"{format_count(wanted)} would hold the same.",
        where=place.where,
        evidence=tuple(evidence),
        advice=tuple(_advice(write, wanted)),
        wasted_wall_ms=wall_ms,
        wasted_core_ms=round(cost_ms),
        saving_basis=f"{price.basis} {driver.basis}" if commit >= 1 else price.basis,
        confidence=0.7,
    )


def _advice(write: FileWrite, wanted: int) -> Iterator[Advice]:
    columns = ", ".join(f'"{name}"' for name in write.partition_columns)
    if columns:
        yield Advice(
            "code",
            f"Bring the rows of a partition together before the write: `df.repartition({columns}).write"
            f".partitionBy({columns})…` leaves one file for each of them.",
        )
        yield Advice(
            "code",
            f"In SQL, the hint `/*+ REBALANCE({', '.join(write.partition_columns)}) */` does nearly the same and "
            "splits large partitions; it needs Spark 3.2 and adaptive execution.",
        )
    else:
        yield Advice(
            "code",
            f"Write fewer files: `df.repartition({wanted}).write…` leaves {wanted} of "
            f"{format_bytes(write.size_bytes / wanted)}; `coalesce({wanted})` saves the shuffle but lets only so many "
            "tasks do the work before it.",
        )
    yield Advice("check", "Compact the files that are there already: every reader of the table pays for them again.")


RULE = Rule(
    code="E2",
    name="small-files-written",
    since="0.1",
    reads=(
        Reads(TASKS, ("executor_run_time_ms", "output_bytes")),
        Reads(STAGES),
        Reads(JOBS),
        Reads(PLAN_NODES),
        Reads(PLAN_METRICS),
    ),
    limits=Limits(),
    check=check,
)
