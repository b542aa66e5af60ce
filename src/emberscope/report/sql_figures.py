"""What each SQL execution cost: sums over the tasks of its stages, and its samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.profile.codegen import plan_node_of_samples
from emberscope.report.stage_rows import MOST_STAGES
from emberscope.simulate.stage_tasks import has_status

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_SUMS: Final = {
    "task_ms": ("executor_run_time_ms",),
    "input_bytes": ("input_bytes",),
    "output_bytes": ("output_bytes",),
    "shuffle_read_bytes": ("shuffle_read_local_bytes", "shuffle_read_remote_bytes"),
    "shuffle_write_bytes": ("shuffle_write_bytes",),
    "spilled_bytes": ("disk_spilled_bytes",),
}


@dataclass(frozen=True, slots=True)
class Cost:
    """Sums over all task attempts of an execution."""

    tasks: int = 0
    failed: int = 0
    task_ms: float = 0
    input_bytes: float = 0
    output_bytes: float = 0
    shuffle_read_bytes: float = 0
    shuffle_write_bytes: float = 0
    spilled_bytes: float = 0


@dataclass(frozen=True, slots=True)
class Sampled:
    """Samples of one event by execution, and by execution and node of generated code."""

    event: str
    by_execution: Mapping[int, int]
    by_code: Mapping[int, Mapping[int, int]]


def costs(run: Run) -> dict[int, Cost]:
    """The cost of each execution that had tasks, by its id."""
    tasks, of_stage = run.tables.get("tasks"), execution_of_stage(run)
    if tasks is None or not of_stage or not tasks.num_rows:
        return {}
    stage_ids = tasks["stage_id"].fill_null(-1).to_numpy()
    known, place = np.unique(stage_ids, return_inverse=True)
    executions = np.array([of_stage.get(int(stage), -1) for stage in known], np.int64)[place.reshape(-1)]
    ids, row = np.unique(executions, return_inverse=True)
    row = row.reshape(-1)
    failed = has_status(tasks, "failed").astype(float)
    sums = {
        name: np.bincount(
            row, weights=sum((_amounts(tasks[c]) for c in columns), np.zeros(len(row))), minlength=len(ids)
        )
        for name, columns in _SUMS.items()
    }
    counts, bad = np.bincount(row, minlength=len(ids)), np.bincount(row, weights=failed, minlength=len(ids))
    return {
        int(execution): Cost(int(counts[i]), int(bad[i]), **{name: float(values[i]) for name, values in sums.items()})
        for i, execution in enumerate(ids)
        if execution >= 0
    }


def _amounts(column: object) -> npt.NDArray[np.float64]:
    values: npt.NDArray[np.float64] = column.fill_null(0).to_numpy().astype(float)  # type: ignore[attr-defined]
    return values


def execution_of_stage(run: Run) -> dict[int, int]:
    """The SQL execution of each stage that ran for one."""
    table = run.tables.get("stages")
    if table is None:
        return {}
    pairs = zip(table["stage_id"].to_pylist(), table["sql_execution_id"].to_pylist(), strict=True)
    return {stage: execution for stage, execution in pairs if execution is not None}


def stage_links(run: Run, recorded: bool) -> Callable[[int], str]:
    """Where the number of a stage leads: to the flame graph of a stage with samples, else to the row of its first
    attempt if the page has it, else nowhere."""
    links: dict[int, str] = {}
    tasks, samples = run.tables.get("tasks"), run.tables.get("samples")
    if tasks is not None:
        spent = tasks.group_by(["stage_id", "stage_attempt"]).aggregate([("executor_run_time_ms", "sum")]).to_pylist()
        for row in sorted(spent, key=lambda row: -(row["executor_run_time_ms_sum"] or 0))[:MOST_STAGES]:
            stage, attempt = row["stage_id"], row["stage_attempt"]
            links[stage] = min(links.get(stage, f"#stage-{stage}-{attempt}"), f"#stage-{stage}-{attempt}")
    if recorded and samples is not None:
        links.update({stage: f"#stage={stage}" for stage in samples["stage_id"].unique().to_pylist() if stage in links})
    return lambda stage: links.get(stage, "")


def sampled(run: Run) -> Sampled | None:
    """Samples of CPU time by execution and generated code; of wall time where there are none; None without any."""
    tables = run.tables
    samples, nodes = tables.get("samples"), tables.get("plan_nodes")
    if samples is None or "stacks" not in tables or "frames" not in tables:
        return None
    samples = samples.select(["event", "count", "stack", "sql_execution_id", "stage_id"])
    for event in ("cpu", "wall"):
        chosen = samples.filter(pc.fill_null(pc.equal(samples["event"], event), False))
        chosen = chosen.filter(pc.is_valid(chosen["sql_execution_id"]))
        if not chosen.num_rows:
            continue
        chosen = chosen.set_column(chosen.column_names.index("count"), "count", chosen["count"].fill_null(0))
        by_execution = _counted(chosen, ["sql_execution_id"])
        by_code: dict[int, dict[int, int]] = {}
        if nodes is not None and nodes.num_rows:
            _, places = plan_node_of_samples(chosen, tables["stacks"], tables["frames"], nodes)
            placed = chosen.append_column("node", pa.array(places)).filter(pa.array(places >= 0))
            for (execution, node), count in _counted(placed, ["sql_execution_id", "node"]).items():
                by_code.setdefault(execution, {})[node] = count
        return Sampled(event, by_execution, by_code)
    return None


def _counted(samples: pa.Table, keys: list[str]) -> dict[Any, int]:
    """The samples by the values of these columns: of one its value, of several their tuple."""
    sums = samples.group_by(keys).aggregate([("count", "sum")])
    values = [sums[key].to_pylist() for key in keys]
    by_value = values[0] if len(keys) == 1 else list(zip(*values, strict=True))
    return dict(zip(by_value, sums["count_sum"].to_pylist(), strict=True))
