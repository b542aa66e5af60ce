"""Spark's plan tree (`sparkPlanInfo`) to a flat list of operators."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from emberscope.eventlog.events import SqlMetric

_CODEGEN: Final = re.compile(r"WholeStageCodegen \((\d+)\)")


@dataclass(frozen=True, slots=True)
class PlanNode:
    """One operator. Numbered depth first from 0; `codegen_id` is null outside of generated code."""

    node_id: int
    parent_id: int | None
    name: str
    detail: str | None
    codegen_id: int | None
    metrics: tuple[SqlMetric, ...]


def plan_nodes(plan: bytes) -> tuple[PlanNode, ...]:
    """The operators of a plan as Spark wrote it; none where it cannot be read.

    InputAdapter, which only marks the border of generated code, is left out: what it feeds hangs on its parent, as in
    Spark's own user interface.
    """
    try:
        root = msgspec.json.decode(plan)
    except (msgspec.DecodeError, RecursionError):
        return ()
    nodes: list[PlanNode] = []
    waiting: list[tuple[Any, int | None, int | None]] = [(root, None, None)]
    while waiting:
        info, parent_id, codegen_id = waiting.pop()
        if not isinstance(info, dict):
            continue
        name = str(info.get("nodeName"))
        node_id: int | None = len(nodes)
        if name == "InputAdapter":
            node_id, codegen_id = parent_id, None
        else:
            if found := _CODEGEN.match(name):
                codegen_id = int(found[1])
            detail = info.get("simpleString")
            nodes.append(
                PlanNode(
                    len(nodes),
                    parent_id,
                    name,
                    detail if isinstance(detail, str) else None,
                    codegen_id,
                    _metrics(info.get("metrics")),
                )
            )
        children = info.get("children")
        if isinstance(children, list):
            waiting.extend((child, node_id, codegen_id) for child in reversed(children))
    return tuple(nodes)


def _metrics(entries: Any) -> tuple[SqlMetric, ...]:
    try:
        return tuple(msgspec.convert(entries or [], list[SqlMetric], strict=False))
    except msgspec.ValidationError:
        return ()
