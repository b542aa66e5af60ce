"""Operators fell back from the native engine to Spark's own.

## What it means
A native engine (Gluten with Velox, Comet, RAPIDS on GPUs, Photon) runs the operators that it knows; all others run in
Spark itself. At each border between the two, columns have to be turned into rows or rows into columns. The plan shows
both: native operators have the engine's name in theirs, and ColumnarToRow and RowToColumnar mark the borders. Here a
good part of the task time went to stages with operators that the engine did not take.

## What it costs
The log has no figure for how much faster the engine would have been, so no price is given. The task time of the stages
with operators of Spark itself is the most that can be at stake.

## What to do
Find out why the operators named below were left out: the engine says it (spark.rapids.sql.explain=NOT_ON_GPU,
spark.comet.explainFallback.enabled=true, spark.gluten.sql.validation.logLevel=WARN; Photon in the query profile). The
usual reasons are Python and Scala functions, types that the engine does not know (intervals, some nested ones), regular
expressions, and file formats that it cannot read. Replace the function, cast the type, or write the data as Parquet.

## When to ignore it
When the stages named are few and short, or when what the function does cannot be written in a form that the engine
runs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.base import Advice, Evidence, Finding, Rule
from emberscope.rules.plan.work import READS, Work, at, work_of
from emberscope.rules.plans import Node, Plan, plans
from emberscope.units import counted, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_ENGINES: Final = (
    ("Photon", re.compile(r"^Photon")),
    ("RAPIDS", re.compile(r"^Gpu")),
    ("Comet", re.compile(r"^Comet")),
    ("Gluten", re.compile(r"Transformer$|^Velox|^CHNative|^ColumnarExchange$|^VeloxColumnar")),
)
_BORDERS: Final = re.compile(r"ColumnarToRow|RowToColumnar|ToVeloxColumnar")
# Operators that no engine runs, or that do nothing with rows of their own.
_NOT_MEANT: Final = re.compile(
    r"^(Execute|CommandResult|LocalTableScan|AQEShuffleRead|CustomShuffleReader|Reused\w*|Subquery\w*|Scan|Range"
    r"|BroadcastExchange|Exchange|WriteFiles|CollectLimit|AppendData\w*|Overwrite\w*|InMemoryTableScan|ResultQueryStage"
    r"|Union|ShowTables|ShowNamespaces|)$"
)
_EXPLAIN: Final = {
    "RAPIDS": ("spark.rapids.sql.explain", "NOT_ON_GPU"),
    "Comet": ("spark.comet.explainFallback.enabled", "true"),
    "Gluten": ("spark.gluten.sql.validation.logLevel", "WARN"),
}


class Limits(Struct, frozen=True):
    """No tool that was read has numbers for this; all are our proposal."""

    least_ratio: float = 0.1  # task time of stages with operators of Spark, over that of all stages of such plans
    floor_task_ms: int = 5_000  # task time of these stages
    floor_ms: int = 10_000  # wall time of these stages, or ... (catalogue)
    least_app_ratio: float = 0.01  # ... their share of the application (catalogue)


def check(run: Run, limits: Limits) -> Iterator[Finding]:
    names = {node.name for plan in plans(run).values() for node in plan.nodes}
    if _engine(names) is None:
        return
    for plan in plans(run).values():
        engine = _engine({node.name for node in plan.nodes})
        if engine is None:
            continue
        left = [node for node in plan.nodes if not node.cached and _fell_back(node, engine)]
        work = work_of(run, (stage for node in left for stage in node.stage_ids))
        every = work_of(run, plan.stage_ids)
        if (
            not left
            or work.run_ms <= 0
            or work.run_ms < limits.floor_task_ms
            or work.run_ms < limits.least_ratio * every.run_ms
        ):
            continue
        if work.is_worth_a_word(run, limits.floor_ms, limits.least_app_ratio):
            yield _finding(plan, engine, left, work, every)


def _engine(names: Collection[str]) -> str | None:
    """The engine that operators of these names are of."""
    return next((engine for engine, of in _ENGINES if any(map(of.search, names))), None)


def _fell_back(node: Node, engine: str) -> bool:
    native = dict(_ENGINES)[engine].search(node.name)
    return not (native or _BORDERS.search(node.name) or _NOT_MEANT.match(node.name))


def _finding(plan: Plan, engine: str, left: list[Node], work: Work, every: Work) -> Finding:
    names = Counter(node.name for node in left)
    said = ", ".join(f"{name} ({count}×)" if count > 1 else name for name, count in names.most_common(5))
    borders = sum(bool(_BORDERS.search(node.name)) for node in plan.nodes)
    explain = _EXPLAIN.get(engine)
    return Finding(
        title=f"{engine} left {counted(len(left), 'operator')} of SQL execution {plan.sql} to Spark",
        summary=f"{plan.words}: {said} ran in Spark itself, in stages with "
        f"{format_ratio(work.run_ms / every.run_ms)} of the execution's task time.",
        where=at(plan, work),
        evidence=(
            Evidence(f"operators of Spark itself: {said}", "plan_nodes.name", len(left), "operators"),
            Evidence(f"{borders} borders between columns and rows", "plan_nodes.name", borders, "operators"),
            Evidence(
                f"the tasks of their stages ran {format_ms(work.run_ms)}",
                "tasks.executor_run_time_ms",
                round(work.run_ms),
                "ms",
            ),
        ),
        advice=(
            *(
                [
                    Advice(
                        "check",
                        f"Run it once with {explain[0]}={explain[1]}: then {engine} says in the driver's log why "
                        "it leaves an operator out.",
                    )
                ]
                if explain
                else []
            ),
            Advice("code", f"Look at {next(iter(names))} first: {_short(left[0])}"),
        ),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="How much faster the native engine would have been is not in the log, so it has no price.",
        confidence=0.6,
        consequence="hint",
    )


def _short(node: Node, most: int = 160) -> str:
    detail = " ".join((node.plain_detail or node.title).split())
    return detail if len(detail) <= most else detail[: most - 1] + "…"


RULE = Rule(code="F10", name="native-fallback", since="0.1", reads=READS, limits=Limits(), check=check)
