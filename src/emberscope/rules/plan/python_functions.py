"""Rows went through Python functions, and tasks waited for them.

## What it means
A Python function runs in a worker process beside the executor: every row is converted, sent through a socket, computed
by the interpreter, and sent back. A plain UDF is called for each row (BatchEvalPython in the plan); pandas and Arrow
functions get whole columns (ArrowEvalPython, MapInPandas and others). Functions of RDDs run in such workers as well.
While the worker computes, the task's thread in the JVM waits; that wait is what is counted here.

## What it costs
An upper bound: the schedule replayed without the time that tasks waited for Python workers, as if the function were
free. A built-in expression in its place is not free, but usually close to it. A pandas function saves most of the
conversion; the computation gets faster only where it works on whole columns.

## What to do
Write the function as Spark SQL expressions (pyspark.sql.functions, or transform, filter and aggregate for arrays): the
work stays in the JVM and is compiled. Where that is not possible, use a pandas UDF, so that rows travel in columns;
from Spark 3.5 on, spark.sql.execution.pythonUDF.arrow.enabled does the same for plain UDFs. Call it after filters, on
fewer rows, and never twice on the same column.

## When to ignore it
When the function does what only Python can do (a model, a library) and already works on columns; then look into its
code with the flame graph of the Python workers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule, set_conf
from emberscope.rules.call_sites import call_site, line_of
from emberscope.rules.places import place_of, places
from emberscope.rules.plan.built_in import built_in_for
from emberscope.rules.plans import plans
from emberscope.rules.price import priced
from emberscope.rules.python_time import ARROW_OPERATORS, ROW_OPERATORS, PythonStage, python_ms_by_task, python_stages
from emberscope.rules.settings import is_on, version
from emberscope.rules.stage_samples import operator_ratio
from emberscope.simulate.stage_tasks import StageKey, stage_tasks
from emberscope.tables.jobs import JOBS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.stages import STAGES
from emberscope.tables.tasks import TASKS
from emberscope.units import format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_ARROW: Final = "spark.sql.execution.pythonUDF.arrow.enabled"


class Limits(Struct, frozen=True):
    """No tool that was read has numbers for this; all values are our proposal and not calibrated on a corpus."""

    ratio: float = 0.2  # wait for Python over the stage's run time
    floor_ms: int = 5_000  # wait for Python in the stage, over all its tasks


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    python = python_stages(run)
    if not python:
        return
    waits, known = python_ms_by_task(run), places(run)
    for stage in stage_tasks(run):
        if stage.key[0] not in python:
            continue
        here = waits[stage.columns.order[stage.rows]]
        wait_ms, run_ms = float(here.sum()), float(stage.run_ms().sum())
        if wait_ms < limits.floor_ms or wait_ms < limits.ratio * run_ms:
            continue
        shorter = np.maximum(0.0, stage.durations_ms() - here)
        price = priced(
            run,
            {stage.key: shorter[~np.isnan(shorter)]},
            "Upper bound: the waits for Python taken off, as if the function were free.",
        )
        place, functions = place_of(known, stage.key), python[stage.key[0]]
        what = _what(functions)
        yield Finding(
            title=f"{place.title} waited for Python{f': {what}' if functions.functions else ''}",
            summary=f"{place.sentence}: {format_ratio(wait_ms / max(run_ms, 1))} of the tasks' time went by while they "
            f"waited for {what} in Python workers.",
            where=replace(place.where, line=line_of(call_site((place.call_site,), None))),
            evidence=tuple(_evidence(run, stage.key, functions, wait_ms, run_ms)),
            advice=tuple(_advice(run, functions, place.call_site)),
            wasted_wall_ms=price.wall_ms,
            wasted_core_ms=round(wait_ms),
            saving_basis=price.basis,
            confidence=0.8 if functions.worker_ms is not None else 0.6,
        )


def _what(stage: PythonStage) -> str:
    if stage.functions:
        return ", ".join(f"{name}()" for name in stage.functions[:3]) + (
            " and others" if len(stage.functions) > 3 else ""
        )
    return "functions of an RDD" if not stage.operators else "Python functions"


def _evidence(run: Run, key: StageKey, stage: PythonStage, wait_ms: float, run_ms: float) -> Iterator[Evidence]:
    yield Evidence(
        f"tasks waited {format_ms(wait_ms)} for Python, of {format_ms(run_ms)} that they ran",
        "tasks.executor_run_time_ms - executor_cpu_time_ns - gc_time_ms - shuffle_fetch_wait_ms",
        round(wait_ms),
        "ms",
    )
    if stage.operators:
        row_wise = " (row by row)" if ROW_OPERATORS & set(stage.operators) else ""
        yield Evidence(f"the plan has {', '.join(stage.operators)}{row_wise}", "plan_nodes.name")
    else:
        yield Evidence("the stage's RDDs are Python RDDs", "stages.rdd_names")
    if stage.worker_ms is not None:
        yield Evidence(
            f"Spark measured {format_ms(stage.worker_ms)} in Python workers",
            "plan_metrics: time to run Python workers",
            round(stage.worker_ms),
            "ms",
        )
    ratio = operator_ratio(run, key[0], "waiting for Python")
    if ratio:
        yield Evidence(
            f"{format_ratio(ratio)} of the stage's CPU samples in the JVM moved rows to or from Python",
            "samples",
            round(ratio, 4),
            "ratio",
        )
    rows = _rows_sent(run, key[0])
    if rows:
        yield Evidence(
            f"{format_count(rows)} rows came back from Python", "plan_metrics: number of output rows", rows, "rows"
        )


def _rows_sent(run: Run, stage_id: int) -> int:
    """Rows that the Python operators of the stage gave back; 0 where no metric says."""
    rows = sum(
        node.metrics.get("number of output rows", 0)
        for plan in plans(run).values()
        for node in plan.named(*ROW_OPERATORS, *ARROW_OPERATORS)
        if stage_id in node.stage_ids
    )
    return round(rows)


def _advice(run: Run, stage: PythonStage, line: str) -> Iterator[Advice]:
    name = stage.functions[0] if stage.functions else "the function"
    if not stage.operators:
        yield Advice("code", "Use DataFrames and Spark SQL expressions in place of functions over RDDs.")
        return
    known = [(function, built_in_for(function)) for function in stage.functions]
    named = " and ".join(f"{has} for {function}()" for function, has in known if has)
    site = f" ({line})" if line else ""
    instead = f": by its name, {named}" if named else ""
    yield Advice(
        "code",
        f"Write {name}{site} with pyspark.sql.functions{instead}. The work then stays in the JVM: no row has to "
        "travel, and Spark compiles it.",
    )
    if ROW_OPERATORS & set(stage.operators):
        yield Advice(
            "code",
            f"If {name} has to be Python, make it a pandas UDF (`@pandas_udf`) that takes and gives whole columns.",
        )
        # Arrow for plain UDFs exists since Spark 3.5 and is the default since 4.2.
        if is_on(run, _ARROW, default=version(run) >= (4, 2)):
            yield Advice(
                "check",
                "Arrow is switched on for plain UDFs but this one went row by row: pandas or pyarrow is missing on the "
                "driver or on an executor, or the function asked for it (useArrow=False).",
            )
        elif version(run) >= (3, 5):
            yield set_conf(
                _ARROW,
                "true",
                "Moves the rows of plain UDFs in Arrow batches; needs pandas and pyarrow on the driver and on every "
                "executor, else Spark goes on row by row.",
            )
    else:
        yield Advice("check", f"Look into {name} itself: the rows already travel in columns.")


RULE = Rule(
    code="F3",
    name="python-functions",
    since="0.1",
    reads=(
        Reads(TASKS, ("executor_run_time_ms", "executor_cpu_time_ns")),
        Reads(STAGES),
        Reads(JOBS),
        Reads(PLAN_NODES),
    ),
    limits=Limits(),
    check=check,
)
