"""Adaptive execution was switched off, so that plans could not follow the real sizes.

## What it means
With adaptive execution Spark looks at the real size of each shuffle before it goes on: it merges small partitions,
splits skewed ones of a join, and sends a small side to all executors instead of sorting both. Here it was off, for the
whole application or for single queries, although these had shuffles. It is on by default since Spark 3.2; in 3.0 and
3.1 it has to be switched on.

## What it costs
What it would have saved cannot be read from this log, so no price is given. Partitions that are too many, too few or
skewed have findings and prices of their own.

## What to do
Set spark.sql.adaptive.enabled to true, or remove the line that sets it to false; then run the job once and look at its
plans. Where it was switched off because it left too few partitions, keep it on and set
spark.sql.adaptive.coalescePartitions.enabled=false alone. (From Spark 3.2 on,
spark.sql.adaptive.coalescePartitions.parallelismFirst, true by default, keeps enough of them for all cores.)

## When to ignore it
When a test needs plans that do not change; then switch it off for that query alone. A fixed number of partitions is no
reason: what repartition(n) asks for is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.base import Evidence, Finding, Rule, Where, set_conf
from emberscope.rules.plan.work import READS, execution_settings, work_of
from emberscope.rules.plans import Plan, plans
from emberscope.rules.settings import is_on, version
from emberscope.units import counted, format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_ENABLED: Final = "spark.sql.adaptive.enabled"
_SINCE: Final = (3, 0)
_DEFAULT_SINCE: Final = (3, 2)


class Limits(Struct, frozen=True):
    """The catalogue asks for the setting alone; the floor is our proposal."""

    floor_task_ms: int = 60_000  # task time of the executions with shuffles that ran without it (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    spark = version(run)
    if spark < _SINCE:
        return
    without = [plan for plan in plans(run).values() if not _adaptive(plan) and _shuffles(plan)]
    off_at_all = not is_on(run, _ENABLED, default=spark >= _DEFAULT_SINCE)
    off_in = {sql for sql, value in execution_settings(run, _ENABLED).items() if value == "false"}
    chosen = [plan for plan in without if off_at_all or plan.sql in off_in]
    run_ms = sum(work_of(run, plan.stage_ids).run_ms for plan in chosen)
    if not chosen or run_ms < limits.floor_task_ms:
        return
    shuffles = sum(_shuffles(plan) for plan in chosen)
    said = run.setting(_ENABLED)
    how = f"{_ENABLED} is {said}" if said else f"{_ENABLED} is false by default in Spark {spark[0]}.{spark[1]}"
    if not off_at_all:
        how = f"{_ENABLED} was set to false for these queries"
    one, times = chosen[0], counted(shuffles, "shuffle")
    queries = "1 query" if len(chosen) == 1 else f"{len(chosen)} queries"
    yield Finding(
        title=f"Adaptive execution was off for {queries} with {times}",
        summary=f"{how}: {one.words}{f' and {len(chosen) - 1} more' if len(chosen) > 1 else ''} kept the plan and the "
        "partitions that were chosen before the sizes were known.",
        where=one.where if len(chosen) == 1 else Where(),
        evidence=(
            Evidence(how, "conf.key, conf.value"),
            Evidence(f"{times} in the plans of {queries}", "plan_nodes.name", shuffles),
            Evidence(f"their tasks ran {format_ms(run_ms)}", "tasks.executor_run_time_ms", round(run_ms), "ms"),
        ),
        advice=(
            set_conf(
                _ENABLED,
                "true",
                "Lets Spark choose partitions and joins by the real sizes."
                + (" The application sets it to false, perhaps on purpose." if said else ""),
            ),
        ),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="What it would have saved cannot be read from this run, so it has no price.",
        confidence=0.9,
        consequence="hint",
    )


def _shuffles(plan: Plan) -> int:
    """Shuffles that adaptive execution could have worked on; streaming queries have none of these."""
    if any(node.name.startswith("StateStore") for node in plan.nodes):
        return 0
    return sum(1 for node in plan.named("Exchange") if not node.cached and "SinglePartition" not in node.detail)


def _adaptive(plan: Plan) -> bool:
    return plan.updates > 0 or "AdaptiveSparkPlan" in plan.text[:400]


RULE = Rule(code="F5", name="adaptive-off", since="0.1", reads=READS, limits=Limits(), check=check)
