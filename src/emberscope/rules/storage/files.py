"""What SQL executions read from files and wrote to files, as their plans counted it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.long_stages import long_stages
from emberscope.rules.plans import Node, Plan, plans
from emberscope.simulate.stage_figures import stage_figures
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.simulate.stage_tasks import StageTasks
    from emberscope.tables.run import Run

TARGET_BYTES: Final = 128 << 20
"""What a file should hold at least: one input split of Spark."""

# A file costs as much as scanning so many bytes (Spark's own estimate, spark.sql.files.openCostInBytes), and those take
# so long at 100 MB/s, what a plain cloud volume gives one task.
OPEN_COST_BYTES: Final = 4 << 20
OPEN_COST_MS: Final = OPEN_COST_BYTES / 100_000

_SCANS: Final = ("Scan", "BatchScan", "PhotonScan", "GpuScan", "GpuBatchScan", "CometScan", "CometNativeScan")
_FORMAT: Final = re.compile(r"^\w*Scan (\w+)|\bFormat: (\w+)")
_LOCATION: Final = re.compile(r"Location: [^\[]*\[([^\],]*)")
_HIVE: Final = re.compile(r"InsertIntoHiveTable `?(\w+)`?\.`?(\w+)`?")
_PATH: Final = re.compile(r"InsertIntoHadoopFsRelationCommand ([^,]+), (?:true|false)")
_PARTITIONS: Final = re.compile(r", (?:true|false), \[([^\]]*)\], [A-Z]")
_EXPRESSION_ID: Final = re.compile(r"#\d+L?")


class FileScan(Struct, frozen=True):
    """One operator that reads files. `location` is the first path, empty where it is not known."""

    plan: Plan
    node: Node
    format: str
    location: str
    files: float
    size_bytes: float

    @property
    def table(self) -> str:
        """What the user knows it by: the last part of its path, or its table."""
        found = re.search(r"Scan \w+ ([\w.]+)$", self.node.title.strip())
        return found[1] if found else last_part(self.location) or f"{self.format} files"


class FileWrite(Struct, frozen=True):
    """One command that wrote files. `partition_columns` are those of its directories, without Spark's ids."""

    plan: Plan
    node: Node
    location: str
    partition_columns: tuple[str, ...]
    files: float
    size_bytes: float

    @property
    def hive_table(self) -> str:
        """The table of Hive that was written; empty where it is none."""
        found = _HIVE.search(self.node.detail)
        return f"{found[1]}.{found[2]}" if found else ""

    @property
    def table(self) -> str:
        return self.hive_table or last_part(self.location) or "its table"


@once
def file_scans(run: Run) -> Sequence[FileScan]:
    """Every operator that counted the files that it read and their size."""
    found, cached = [], set()
    for plan in plans(run).values():
        for node in plan.named(*_SCANS):
            files = figure(node, "number of files read", "number of files", "files read")
            size = figure(node, "size of files read")
            if files is None:
                continue
            # A kept result shows how it was made in every execution that reads it: it was made once.
            once_made = (node.detail, node.stage_ids, files, size)
            if node.cached and once_made in cached:
                continue
            cached.add(once_made)
            form, place = _FORMAT.search(node.detail), _LOCATION.search(node.detail)
            name = (form[1] or form[2] or "") if form else ""
            found.append(FileScan(plan, node, name.lower(), place[1] if place else "", files, size or 0.0))
    return found


@once
def file_writes(run: Run) -> Sequence[FileWrite]:
    """Every command that counted the files that it wrote."""
    found = []
    for plan in plans(run).values():
        for node in plan.nodes:
            files = figure(node, "number of written files")
            if not files:
                continue
            size = figure(node, "written output", "bytes of written output") or 0.0
            path, columns = _PATH.search(node.detail), _PARTITIONS.search(node.detail)
            names = _EXPRESSION_ID.sub("", columns[1]).split(", ") if columns and columns[1] else []
            found.append(FileWrite(plan, node, path[1] if path else "", tuple(names), files, size))
    return found


def figure(node: Node, *names: str) -> float | None:
    """The first of these metrics that the operator counted."""
    return next((node.metrics[name] for name in names if name in node.metrics), None)


def last_part(path: str) -> str:
    """`s3://bucket/sales/events` as `events`."""
    return path.rstrip("/ ").removesuffix("...").rpartition("/")[2]


@once
def _by_stage(run: Run) -> dict[int, list[tuple[StageTasks, bool]]]:
    """The attempts of each stage that have tasks, and whether they are long enough to be told of."""
    figures = stage_figures(run)
    found: dict[int, list[tuple[StageTasks, bool]]] = {}
    if figures is not None:
        for stage, long in zip(figures.stages, long_stages(run, figures).tolist(), strict=True):
            found.setdefault(stage.key[0], []).append((stage, long))
    return found


def stages_at(run: Run, stage_ids: Iterable[int], *, long: bool = True) -> list[StageTasks]:
    """The attempts of these stages that have tasks; with `long` only those that took long enough to be told of."""
    known = _by_stage(run)
    return [
        stage
        for stage_id in sorted(set(stage_ids))
        for stage, is_long in known.get(stage_id, ())
        if is_long or not long
    ]


def writing_stages(run: Run, write: FileWrite) -> list[StageTasks]:
    """The stage attempts whose tasks wrote this output."""
    here = stages_at(run, write.node.stage_ids or _stages_of_execution(run, write.plan), long=False)
    return [stage for stage in here if stage.amounts("output_bytes").sum() > 0]


def _stages_of_execution(run: Run, plan: Plan) -> Iterable[int]:
    return _stages_by_execution(run).get(plan.sql, ())


@once
def _stages_by_execution(run: Run) -> dict[int, list[int]]:
    table = run.tables.get("stages")
    found: dict[int, list[int]] = {}
    if table is not None:
        pairs = zip(table["sql_execution_id"].to_pylist(), table["stage_id"].to_pylist(), strict=True)
        for sql, stage in pairs:
            if sql is not None:
                found.setdefault(sql, []).append(stage)
    return found


def overhead_ratio(files: float, size_bytes: float, wanted_files: float) -> float:
    """The share of the time with files that goes with fewer of them, if a file costs what `OPEN_COST_BYTES` cost."""
    now = files * OPEN_COST_BYTES + size_bytes
    return (files - min(files, wanted_files)) * OPEN_COST_BYTES / now if now > 0 else 0.0


def spread(stages: Sequence[StageTasks], total_ms: float) -> list[NDArray[np.float64]]:
    """An amount of time shared out over the tasks of these stages, by how long each ran."""
    run_ms = sum(float(stage.run_ms().sum()) for stage in stages)
    ratio = min(1.0, total_ms / run_ms) if run_ms > 0 else 0.0
    return [stage.run_ms() * ratio for stage in stages]
