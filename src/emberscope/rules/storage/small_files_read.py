"""A scan opened very many small files.

## What it means
Opening a file takes time that does not depend on what is in it: a request to the storage, its footer or header, a new
reader. Here the scan opened more than 100 files of less than 3 MB on average, so that opening them took longer than
reading them. The driver pays as well: it lists and plans them all.

## What it costs
An estimate: opening a file costs a task as much as reading 4 MiB more (Spark's own figure,
`spark.sql.files.openCostInBytes`), and all files together no more than the scan took. Where Spark did not measure the
scan, a file costs 42 ms at most. The application is replayed without the part of that which files of 128 MiB would
save.

## What to do
Compact the files once, into the number in the advice, and mend what writes them: in the log of that application
small-files-written (E2) shows the write. Table formats have a command for it: `OPTIMIZE` for Delta,
`rewrite_data_files` for Iceberg.

## When to ignore it
When the files come from outside as they are and are read once. Where listing them takes long before the first task,
slow-metadata (E7) reports that.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.long_stages import shortened
from emberscope.rules.places import place_of, places
from emberscope.rules.price import priced
from emberscope.rules.storage.files import (
    OPEN_COST_MS,
    TARGET_BYTES,
    FileScan,
    figure,
    file_scans,
    overhead_ratio,
    spread,
    stages_at,
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

    files: int = 100  # files of one scan (DataFlint)
    mean_bytes: int = 3_000_000  # their mean size (DataFlint)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    for scan in file_scans(run):
        if scan.files <= limits.files or not 0 < scan.size_bytes / scan.files < limits.mean_bytes:
            continue
        stages = [stage for stage in stages_at(run, scan.node.stage_ids) if stage.amounts("input_bytes").sum() > 0]
        if stages:
            yield _finding(run, scan, stages)


def _finding(run: Run, scan: FileScan, stages: Sequence[StageTasks]) -> Finding:
    wanted = max(1, math.ceil(scan.size_bytes / TARGET_BYTES))
    excess = scan.files - wanted
    run_ms = sum(float(stage.run_ms().sum()) for stage in stages)
    scan_ms = figure(scan.node, "scan time")
    busy_ms = run_ms if scan_ms is None else min(run_ms, scan_ms)
    # Where Spark measured the scan itself, its time is bound enough.
    file_ms = OPEN_COST_MS if scan_ms is None else max(OPEN_COST_MS, scan_ms / scan.files)
    cost_ms = min(excess * file_ms, overhead_ratio(scan.files, scan.size_bytes, wanted) * busy_ms)
    less = spread(stages, cost_ms)
    price = priced(
        run,
        {stage.key: shortened(stage, ms) for stage, ms in zip(stages, less, strict=True)},
        f"Estimate: {file_ms:.0f} ms for each of {format_count(excess)} files, never more than their share of "
        f"{'the time of the scan' if scan_ms is not None else 'the time of the tasks'}.",
    )
    worst = max(stages, key=lambda stage: (float(stage.run_ms().sum()), stage.key))
    place = place_of(places(run), worst.key)
    mean = scan.size_bytes / scan.files
    evidence = [
        Evidence(
            f"{format_count(scan.files)} files of {format_bytes(mean)} on average, {format_bytes(scan.size_bytes)} "
            "in all",
            "plan_metrics: number of files read, size of files read",
            scan.files,
            "files",
        ),
    ]
    if scan_ms is not None:
        evidence.append(
            Evidence(f"the scan took {format_ms(scan_ms)} of task time", "plan_metrics: scan time", scan_ms, "ms")
        )
    return Finding(
        title=f"{format_count(scan.files)} files of {format_bytes(mean)} were read from {scan.table}",
        summary=f"{place.sentence}: {format_count(scan.files)} files for {format_bytes(scan.size_bytes)}; opening them "
        f"took about {format_ms(cost_ms)} of the tasks' {format_ms(run_ms)}.",
        where=place.where,
        evidence=tuple(evidence),
        advice=(
            Advice(
                "code",
                f"Compact {scan.table} once: `spark.read.{scan.format or 'load'}(path).repartition({wanted}).write"
                f".{scan.format or 'save'}(new path)` leaves files of {format_bytes(scan.size_bytes / wanted)}.",
            ),
            Advice(
                "check",
                "Find what writes these files: a write by many tasks into many partitions, or a stream with short "
                "batches. There `repartition` by the partition columns before the write mends it for good.",
            ),
        ),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=round(cost_ms),
        saving_basis=price.basis,
        confidence=0.7 if scan_ms is not None else 0.55,
    )


RULE = Rule(
    code="E1",
    name="small-files-read",
    since="0.1",
    reads=(
        Reads(TASKS, ("executor_run_time_ms", "input_bytes")),
        Reads(STAGES),
        Reads(JOBS),
        Reads(PLAN_NODES),
        Reads(PLAN_METRICS),
    ),
    limits=Limits(),
    check=check,
)
