"""Time that tasks waited for Python workers: from the plan's metrics, and from what tasks did not spend on the CPU."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

from emberscope.rules.plans import plans
from emberscope.simulate.task_cpus import run_ms_by_task
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

# Operators whose rows go through a Python worker, by their names in physical plans of Spark 2.3 to 4.x.
ROW_OPERATORS: Final = frozenset({"BatchEvalPython", "BatchEvalPythonUDTF"})
ARROW_OPERATORS: Final = frozenset(
    {
        "ArrowEvalPython",
        "ArrowEvalPythonUDTF",
        "ArrowAggregatePython",
        "ArrowWindowPython",
        "AggregateInPandas",
        "WindowInPandas",
        "MapInPandas",
        "MapInArrow",
        "PythonMapInArrow",
        "FlatMapGroupsInPandas",
        "FlatMapGroupsInArrow",
        "FlatMapCoGroupsInPandas",
        "FlatMapCoGroupsInArrow",
        "FlatMapGroupsInPandasWithState",
        "TransformWithStateInPandas",
        "TransformWithStateInPySpark",
    }
)
_PYTHON_RDDS: Final = frozenset({"PythonRDD", "PairwiseRDD"})
# Spark 4.1 and later; total over tasks (PythonSQLMetrics).
_NAME: Final = re.compile(r"[A-Za-z_<][\w<>]*$")
_RUN_METRIC: Final = "time to run Python workers"


class PythonStage(Struct, frozen=True):
    """Python in one stage. `operators` are plan operators, empty for functions of RDDs; `functions` their names;
    `worker_ms` what the plan's metrics say of the time in workers, None before Spark 4.1 and for RDDs."""

    operators: tuple[str, ...]
    functions: tuple[str, ...]
    sql: int | None
    worker_ms: float | None


@once
def python_stages(run: Run) -> Mapping[int, PythonStage]:
    """The stages in which Python functions ran, by stage id."""
    found: dict[int, PythonStage] = {}
    for plan in plans(run).values():
        for node in plan.named(*ROW_OPERATORS, *ARROW_OPERATORS):
            spent = node.metrics.get(_RUN_METRIC)
            for stage in node.stage_ids:
                before = found.get(stage, PythonStage((), (), plan.sql, None))
                share = None if spent is None else spent / len(node.stage_ids)
                found[stage] = PythonStage(
                    tuple(dict.fromkeys((*before.operators, node.name))),
                    tuple(dict.fromkeys((*before.functions, *_functions(node.detail)))),
                    plan.sql,
                    before.worker_ms if share is None else (before.worker_ms or 0.0) + share,
                )
    stages_table = run.tables.get("stages")
    if stages_table is not None:
        columns = (stages_table[name].to_pylist() for name in ("stage_id", "rdd_names", "status"))
        for stage, names, status in zip(*columns, strict=True):
            if names and stage not in found and status != "skipped" and not _PYTHON_RDDS.isdisjoint(names):
                found[stage] = PythonStage((), (), None, None)
    return found


@once
def python_ms_by_task(run: Run) -> NDArray[np.float64]:
    """Milliseconds that each row of table `tasks` waited for Python.

    In a stage with Python functions a task is off the CPU mostly because it waits for its worker: what is left of its
    run time after CPU, garbage collection and fetch wait is that wait. Where the plan's metrics give the time in
    workers, the waits of the stage's tasks are scaled down to it. Where a task has no CPU time (Spark before 2.1), its
    wait is not known and counts as none.
    """
    tasks = run.tables.get("tasks")
    if tasks is None:
        return np.zeros(0)
    stages = python_stages(run)
    if not stages or not tasks.num_rows:
        return np.zeros(tasks.num_rows)

    def amounts(name: str, unit: float = 1.0) -> NDArray[np.float64]:
        return np.nan_to_num(np.asarray(tasks[name].to_numpy(), dtype=np.float64)) * unit

    off_cpu = np.nan_to_num(run_ms_by_task(run)) - amounts("executor_cpu_time_ns", 1e-6)
    wait = np.maximum(0.0, off_cpu - amounts("gc_time_ms") - amounts("shuffle_fetch_wait_ms"))
    wait[np.isnan(np.asarray(tasks["executor_cpu_time_ns"].to_numpy(), dtype=np.float64))] = 0.0
    known, stage_of = np.unique(tasks["stage_id"].fill_null(-1).to_numpy(), return_inverse=True)
    totals = np.bincount(stage_of, weights=wait, minlength=len(known))
    scales = np.zeros(len(known))
    for place, stage in enumerate(known.tolist()):
        if stage in stages:
            worker_ms, total = stages[stage].worker_ms, float(totals[place])
            scales[place] = 1.0 if worker_ms is None or total <= 0 else min(1.0, worker_ms / total)
    scaled: NDArray[np.float64] = wait * scales[stage_of]
    return scaled


def _functions(detail: str) -> list[str]:
    """Names of the Python functions in an operator such as `BatchEvalPython [weigh(id#2L)#9L], [pythonUDF0#11L]`.

    Spark numbers each call of one; what is called inside of it without a number is no Python.
    """
    found: list[tuple[int, str]] = []
    opened: list[tuple[int, str]] = []
    for at, letter in enumerate(detail):
        if letter == "(":
            name = _NAME.search(detail, 0, at)
            opened.append((at, name[0] if name else ""))
        elif letter == ")" and opened:
            start, word = opened.pop()
            if word and detail[at + 1 : at + 2] == "#":
                found.append((start, word))
    return [name for _, name in sorted(found)]
