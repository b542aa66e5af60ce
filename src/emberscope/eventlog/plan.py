"""Spark's plan tree (`sparkPlanInfo`) to a flat list of operators."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from emberscope.eventlog.events import SqlMetric
from emberscope.eventlog.shallow import shallow

# Marks between operators: the border of generated code, and the stages of an adaptive plan.
_MARKS: Final = frozenset(
    ("InputAdapter", "ShuffleQueryStage", "BroadcastQueryStage", "ResultQueryStage", "TableCacheQueryStage")
)
# Run as plans of their own, and so outside of the generated code around them.
_PLANS_OF_THEIR_OWN: Final = frozenset(("Subquery", "SubqueryBroadcast", "ReusedSubquery", "AdaptiveSparkPlan"))
_CACHES: Final = ("InMemoryTableScan", "Scan In-memory table")
_CODEGEN: Final = re.compile(r"WholeStageCodegen \((\d{1,9})\)")


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One operator. Numbered depth first from 0.

    `codegen_node` is the WholeStageCodegen node whose generated code it is part of (that node itself included), and
    `codegen_id` the number which Spark gave to that code; both are null outside of generated code. A subquery and a
    cached plan number theirs anew, so only the node tells two of them apart. `cached` is true within a plan whose
    result was kept: it may have run for an execution before.
    """

    node_id: int
    parent_id: int | None
    name: str
    detail: str | None
    codegen_node: int | None
    codegen_id: int | None
    cached: bool
    metrics: tuple[SqlMetric, ...]


def plan_nodes(plan: bytes) -> tuple[PlanNode, ...]:
    """The operators of a plan as Spark wrote it; none where it cannot be read.

    What only marks a border between operators (InputAdapter, ShuffleQueryStage and their like) is left out: what lies
    below hangs on the operator above, as in Spark's own user interface.
    """
    try:
        root = _tree(plan)
    except (msgspec.DecodeError, RecursionError):
        return ()
    nodes: list[PlanNode] = []
    # Each entry: a subtree, the operator it hangs on, the generated code around it, and whether it is a cached plan.
    waiting: list[tuple[Any, int | None, PlanNode | None, bool]] = [(root, None, None, False)]
    while waiting:
        info, parent_id, codegen, cached = waiting.pop()
        if not isinstance(info, dict):
            continue
        name = str(info.get("nodeName"))
        if name in _MARKS or name in _PLANS_OF_THEIR_OWN:
            codegen = None
        if name not in _MARKS:
            node = _node(len(nodes), parent_id, name, info, codegen, cached)
            nodes.append(node)
            parent_id = node.node_id
            if node.codegen_node == node.node_id:
                codegen = node
        children = info.get("children")
        if isinstance(children, list):
            cached = cached or name.startswith(_CACHES)
            waiting.extend((child, parent_id, codegen, cached) for child in reversed(children))
    return tuple(nodes)


def _tree(plan: bytes) -> Any:
    try:
        return msgspec.json.decode(plan)
    except RecursionError:
        return msgspec.json.decode(shallow(plan))


def _node(
    node_id: int, parent_id: int | None, name: str, info: dict[str, Any], codegen: PlanNode | None, cached: bool
) -> PlanNode:
    detail = info.get("simpleString")
    found = _CODEGEN.match(name)
    return PlanNode(
        node_id=node_id,
        parent_id=parent_id,
        name=name,
        detail=detail if isinstance(detail, str) else None,
        codegen_node=node_id if found else codegen.node_id if codegen else None,
        codegen_id=int(found[1]) if found else codegen.codegen_id if codegen else None,
        cached=cached,
        metrics=_metrics(info.get("metrics")),
    )


def _metrics(entries: Any) -> tuple[SqlMetric, ...]:
    try:
        metrics = msgspec.convert(entries or [], list[SqlMetric], strict=False)
    except msgspec.ValidationError:
        return ()
    # The same few names come with every operator; one copy of each is kept.
    return tuple(
        SqlMetric(m.accumulator_id, sys.intern(m.name), m.metric_type and sys.intern(m.metric_type)) for m in metrics
    )
