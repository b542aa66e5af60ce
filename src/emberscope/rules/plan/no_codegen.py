"""Generated code was switched off, or could not be used, for a part of a plan.

## What it means
Spark turns several operators into one loop of Java code (WholeStageCodegen in the plan), which is several times faster
than handing each row from operator to operator. A setting can switch that off. And where the code comes out longer than
Java allows (64 KB for a method) or does not compile, Spark goes on without it and says so only in the driver's log:
such a part has a WholeStageCodegen node that never counted any time, although rows came out of it. (Operators on more
than 100 columns, spark.sql.codegen.maxFields, have no such node and are not told here.)

## What it costs
How fast the generated code would have been is not in the log, so no price is given. The task time of the stages is the
most that can be at stake.

## What to do
Remove spark.sql.codegen.wholeStage=false. For code that is too long, make the expressions shorter: hundreds of columns
or nested CASE WHEN in one select become several steps with a checkpoint or a cache between them, and a long CASE
becomes a join with a small table. The driver's log says "grows beyond 64 KB" and "Whole-stage codegen disabled".

## When to ignore it
When the stages are short, or when somebody switched generated code off to look for an error and will switch it on
again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Rule, Where, set_conf
from emberscope.rules.plan.work import READS, Work, at, execution_settings, work_of
from emberscope.rules.plans import Node, Plan, plans
from emberscope.rules.settings import is_on
from emberscope.units import format_ms

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_SETTING: Final = "spark.sql.codegen.wholeStage"


class Limits(Struct, frozen=True):
    """No tool that was read has numbers for this; all are the catalogue's floors and our proposal."""

    floor_ms: int = 10_000  # wall time of the stages, or ... (catalogue)
    least_app_ratio: float = 0.01  # ... their share of the application (catalogue)
    floor_task_ms: int = 5_000  # task time of the stages (proposal)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    everywhere = not is_on(run, _SETTING, default=True)
    off_in = {sql for sql, value in execution_settings(run, _SETTING).items() if value == "false"}
    off = [plan for plan in plans(run).values() if everywhere or plan.sql in off_in]
    work = work_of(run, (stage for plan in off for stage in plan.stage_ids))
    if off and _enough(run, work, limits):
        yield _switched_off(off, work, everywhere=everywhere)
    for plan in plans(run).values():
        if everywhere or plan.sql in off_in:
            continue
        for node in plan.named("Exchange"):
            top = node.children[0] if len(node.children) == 1 else None
            if top is None or node.cached or not _fell_back(node, top):
                continue
            work = work_of(run, top.stage_ids)
            if _enough(run, work, limits):
                yield _too_long(plan, top, work)


def _enough(run: Run, work: Work, limits: Limits) -> bool:
    enough = work.run_ms >= limits.floor_task_ms
    return enough and work.is_worth_a_word(run, limits.floor_ms, limits.least_app_ratio)


def _fell_back(shuffle: Node, top: Node) -> bool:
    """Whether a shuffle, which reads all rows of what is below it, got rows of code that never ran to its end."""
    compiled = top.codegen_id is not None and top.code_ms is None
    return compiled and shuffle.metrics.get("shuffle records written", 0) > 0


def _switched_off(off: list[Plan], work: Work, *, everywhere: bool) -> Finding:
    where = "in the application" if everywhere else f"for {off[0].words}"
    more = f" and {len(off) - 1} more" if len(off) > 1 and not everywhere else ""
    return Finding(
        title="Generated code was switched off",
        summary=f"{_SETTING} is false {where}{more}: every row went from operator to operator by calls.",
        where=off[0].where if len(off) == 1 else Where(),
        evidence=(Evidence(f"{_SETTING}=false", "conf.key, conf.value"), _time(work)),
        advice=(
            set_conf(_SETTING, "true", "The default. The application sets it, perhaps while looking for an error."),
        ),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="How fast the generated code would have been is not in the log, so it has no price.",
        confidence=0.9,
        consequence="hint",
    )


def _too_long(plan: Plan, top: Node, work: Work) -> Finding:
    site = f" ({plan.call_site})" if plan.call_site else ""
    return Finding(
        title=f"The generated code of {top.name} was not used",
        summary=f"{plan.words}: the code with {top.name} at its top never counted any time, although its rows were "
        "written to a shuffle: it was too long for Java, or did not compile.",
        where=at(plan, work),
        evidence=(
            Evidence(f"WholeStageCodegen ({top.codegen_id}) has no duration", "plan_metrics: duration"),
            _time(work),
        ),
        advice=(
            Advice(
                "check",
                "Look in the driver's log for “grows beyond 64 KB” or “Whole-stage codegen disabled”.",
            ),
            Advice("code", f"Cut the expressions{site} into several steps, and long CASE WHEN into a join."),
        ),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="How fast the generated code would have been is not in the log, so it has no price.",
        confidence=0.5,
        consequence="hint",
    )


def _time(work: Work) -> Evidence:
    said = f"the tasks of its stages ran {format_ms(work.run_ms)}"
    return Evidence(said, "tasks.executor_run_time_ms", round(work.run_ms), "ms")


RULE = Rule(code="F7", name="no-codegen", since="0.1", reads=READS, limits=Limits(), check=check)
