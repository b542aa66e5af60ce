"""A plan grew so large that the driver was busy with it before any task could start.

## What it means
Each step of a DataFrame is added to its plan, and each action plans everything from the start. In a loop
(df = df.withColumn(...), df = df.union(...), df = df.join(...)) the plan grows with every turn, and to analyse,
optimise and print it takes longer each time, first seconds, then minutes. No task runs meanwhile.

## What it costs
The time from the start of the execution to its first job: the driver works on the plan then, and no task runs. It is an
upper bound, since files are listed in the same time. What comes before that start is not in it: analysis while the
DataFrame is built, and in older versions of Spark the planning too.

## What to do
Add many columns by one select, and union many DataFrames in pairs, pairs of pairs and so on rather than one behind the
other. In a loop, cut the plan every few turns: df = df.localCheckpoint(), whose rows are lost with their executor, or
df.checkpoint(), or write the rows and read them again. If only the plan's text is huge, lower
spark.sql.maxPlanStringLength.

## When to ignore it
When the time before the first job was spent on listing files or asking a catalogue rather than on the plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Reads, Rule
from emberscope.rules.plans import Plan, plans
from emberscope.rules.price import driver_saving
from emberscope.tables.jobs import JOBS
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.sql_executions import SQL_EXECUTIONS
from emberscope.units import format_bytes, format_count, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run


class Limits(Struct, frozen=True):
    """The catalogue asks for a plan of more than 1 MB as text and a gap; the rest is our proposal."""

    text_bytes: int = 1_000_000  # of the physical plan (catalogue), or ...
    operators: int = 500  # ... of the plan (proposal)
    floor_ms: int = 5_000  # from the start of the execution to its first job (proposal)
    least_app_ratio: float = 0.01  # the same as a share of the application (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    first_job = _first_jobs(run)
    for plan in plans(run).values():
        if len(plan.text) < limits.text_bytes and len(plan.nodes) < limits.operators:
            continue
        start_ms = first_job.get(plan.sql, plan.ended_ms)
        if plan.started_ms is None or start_ms is None:
            continue
        gap_ms = start_ms - plan.started_ms
        if gap_ms >= limits.floor_ms and gap_ms >= limits.least_app_ratio * (run.application.observed_ms or 0):
            yield _finding(run, plan, gap_ms)


def _first_jobs(run: Run) -> dict[int, int]:
    """When the first job of each execution was submitted, in epoch ms."""
    jobs = run.tables["jobs"]
    found: dict[int, int] = {}
    for sql, time_ms in zip(jobs["sql_execution_id"].to_pylist(), jobs["submitted_ms"].to_pylist(), strict=True):
        if sql is not None and time_ms is not None:
            found[sql] = min(time_ms, found.get(sql, time_ms))
    return found


def _finding(run: Run, plan: Plan, gap_ms: float) -> Finding:
    price = driver_saving(run, gap_ms, "Upper bound: the time between the start of the execution and its first job.")
    size = f"{format_count(len(plan.nodes))} operators, {format_bytes(len(plan.text))} as text"
    site = f" ({plan.call_site})" if plan.call_site else ""
    return Finding(
        title=f"{format_ms(gap_ms)} went by over a plan of {format_count(len(plan.nodes))} operators",
        summary=f"{plan.words}: its plan has {size}, and the first job came {format_ms(gap_ms)} after its start.",
        where=plan.where,
        evidence=(
            Evidence(f"the plan has {size}", "plan_nodes, sql_executions.physical_plan", len(plan.nodes), "operators"),
            Evidence(
                f"{format_ms(gap_ms)} from its start to its first job",
                "sql_executions.started_ms, jobs.submitted_ms",
                round(gap_ms),
                "ms",
            ),
        ),
        advice=(
            Advice(
                "code",
                f"Cut the plan{site} every few turns of the loop that builds it: df = df.localCheckpoint(). Add many "
                "columns by one select, not by one withColumn after the other.",
            ),
        ),
        wasted_wall_ms=price.wall_ms,
        wasted_core_ms=None,
        saving_basis=price.basis,
        confidence=0.5,
    )


RULE = Rule(
    code="F11",
    name="large-plan",
    since="0.1",
    reads=(Reads(JOBS), Reads(SQL_EXECUTIONS), Reads(PLAN_NODES)),
    limits=Limits(),
    check=check,
)
