"""A plan as its picture needs it: operators with their figures, what ran as one generated loop, what is used twice.

Spark's plan has nodes that are no operators: `WholeStageCodegen (3)` becomes a frame around its operators, and
`AdaptiveSparkPlan` is left out. A plan that is used twice is in Spark's list twice, with the same accumulators; it is
shown once, and the second place says where.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from emberscope.report.plan_figures import Figures, Metric, figures
from emberscope.report.visible import visible
from emberscope.rules.plans import originals

MOST_BOXES: Final = 400
"""A plan of more operators shows those that took most of the time, and says what it leaves out."""

_CODEGEN: Final = re.compile(r"WholeStageCodegen \((\d{1,9})\)")
_PLAN_ID: Final = re.compile(r"\[(?:plan_)?id=#?(\d+)\]\s*$")
_NO_BOX: Final = ("AdaptiveSparkPlan", "WholeStageCodegen")


@dataclass(frozen=True, slots=True)
class Operator:
    """One box. `parent` is the place of the operator that consumes it in the plan's list; `code` that of its generated
    code; `same_as` the node that it uses again; `left_out` how many operators below it are not shown."""

    node_id: int
    parent: int | None
    name: str
    detail: str
    figures: Figures = field(default_factory=Figures)
    metrics: tuple[Metric, ...] = ()
    stages: tuple[int, ...] = ()
    code: int | None = None
    same_as: int | None = None
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Code:
    """What ran as one generated loop. `samples` is None where the run was not recorded."""

    node_id: int
    number: int
    time_ms: float | None
    stages: tuple[int, ...]
    samples: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """Operators depth first, each after the one that consumes it. `size` counts those that are left out too."""

    operators: tuple[Operator, ...]
    codes: tuple[Code, ...] = ()
    size: int = 0
    repeated: int = 0


@dataclass(slots=True)
class _Node:
    row: Mapping[str, Any]
    metrics: tuple[Metric, ...]
    children: list[int] = field(default_factory=list)

    @property
    def key(self) -> frozenset[int]:
        return frozenset(metric.accumulator_id for metric in self.metrics)

    @property
    def reuses(self) -> bool:
        return str(self.row["name"]).startswith("Reused")


def plan_of(
    nodes: Sequence[Mapping[str, Any]],
    metrics: Mapping[int, Sequence[Metric]],
    samples: Mapping[int, int] | None = None,
) -> Plan:
    """The plan of one execution. `nodes` are its rows of table `plan_nodes`, `metrics` those of each node, `samples`
    the number of samples in each generated code by its node, None where nothing was recorded."""
    known = {
        row["node_id"]: _Node(row, tuple(metrics.get(row["node_id"], ())))
        for row in sorted(nodes, key=lambda row: row["node_id"])
    }
    roots = []
    for node_id, node in known.items():
        parent = node.row["parent_node_id"]
        if parent is not None and parent in known and parent < node_id:
            known[parent].children.append(node_id)
        else:
            roots.append(node_id)
    same = originals(
        {node_id: node.key for node_id, node in known.items()},
        {node_id: node.children for node_id, node in known.items()},
        {node_id for node_id, node in known.items() if node.reuses},
        roots,
    )
    return _Drawing(known, same, samples).plan(roots)


class _Drawing:
    """Walks the tree once and collects boxes and frames."""

    def __init__(self, known: Mapping[int, _Node], same: Mapping[int, int], samples: Mapping[int, int] | None) -> None:
        self._known = known
        self._same = same
        self._samples = samples
        self._operators: list[Operator] = []
        self._codes: list[Code] = []
        self._code_places: dict[int, int] = {}
        self._repeated = 0

    def plan(self, roots: Sequence[int]) -> Plan:
        # Each entry: a node, the box it hangs on, the frame that its parent is in.
        waiting: list[tuple[int, int | None, int | None]] = [(root, None, None) for root in reversed(roots)]
        while waiting:
            node_id, parent, code = waiting.pop()
            node = self._known[node_id]
            original = self._same.get(node_id)
            if original is not None and parent is not None:
                self._operators[parent] = replace(self._operators[parent], same_as=self._visible(original))
                self._repeated += 1
                continue
            name = str(node.row["name"])
            code = self._code_of(node_id, node, name, code)
            if self._operators and parent is None:
                parent = 0  # a part that hangs on nothing: what is shown is one tree
            if not name.startswith(_NO_BOX) or (parent is None and len(node.children) != 1):
                self._operators.append(self._operator(node, parent, code))
                parent = len(self._operators) - 1
            waiting.extend((child, parent, code) for child in reversed(node.children))
        return Plan(_linked(self._operators), tuple(self._codes), len(self._operators), self._repeated)

    def _visible(self, node_id: int) -> int:
        """The first operator with a box at or below a node."""
        while str(self._known[node_id].row["name"]).startswith(_NO_BOX) and self._known[node_id].children:
            node_id = self._known[node_id].children[0]
        return node_id

    def _code_of(self, node_id: int, node: _Node, name: str, code: int | None) -> int | None:
        number = node.row["codegen_id"]
        if number is None:
            return None
        if _CODEGEN.match(name):
            time_ms = figures(node.metrics).time_ms
            samples = None if self._samples is None else self._samples.get(node_id, 0)
            self._codes.append(Code(node_id, number, time_ms, tuple(node.row["stage_ids"] or ()), samples))
            return len(self._codes) - 1
        return code

    def _operator(self, node: _Node, parent: int | None, code: int | None) -> Operator:
        row = node.row
        return Operator(
            row["node_id"],
            parent,
            visible(str(row["name"])).strip(),
            visible(row["detail"] or ""),
            figures(node.metrics),
            tuple(metric for metric in node.metrics if metric.value is not None),
            tuple(row["stage_ids"] or ()),
            code,
        )


def _linked(operators: Sequence[Operator]) -> tuple[Operator, ...]:
    """With what a reused exchange without a plan below it uses, told by Spark's number of that plan or by its text."""
    by_plan: dict[str, int] = {}
    by_text: dict[str, int] = {}
    for operator in operators:
        if not operator.name.startswith("Reused"):
            by_text.setdefault(operator.detail, operator.node_id)
            found = _PLAN_ID.search(operator.detail)
            if found:
                by_plan.setdefault(found[1], operator.node_id)
    return tuple(
        replace(operator, same_as=_reused(operator.detail, by_plan, by_text))
        if operator.name.startswith("Reused") and operator.same_as is None
        else operator
        for operator in operators
    )


def _reused(detail: str, by_plan: Mapping[str, int], by_text: Mapping[str, int]) -> int | None:
    found = _PLAN_ID.search(detail)
    if found and found[1] in by_plan:
        return by_plan[found[1]]
    return by_text.get(detail.partition("], ")[2])


def cut(plan: Plan, most: int = MOST_BOXES) -> Plan:
    """The plan with at most so many operators: those under which most of the time was spent, and all above them.

    An operator whose inputs are not all shown says how many below it are left out.
    """
    operators = plan.operators
    if len(operators) <= most:
        return plan
    size, weight = [1] * len(operators), [_weight(operator) for operator in operators]
    children: list[list[int]] = [[] for _ in operators]
    roots = []
    for place in reversed(range(len(operators))):
        parent = operators[place].parent
        if parent is None:
            roots.append(place)
            continue
        children[parent].append(place)
        size[parent] += size[place]
        weight[parent] = max(weight[parent], weight[place])
    shown: set[int] = set()
    border = [(-weight[root], root) for root in roots]
    heapq.heapify(border)
    while border and len(shown) < most:
        place = heapq.heappop(border)[1]
        shown.add(place)
        for child in children[place]:
            heapq.heappush(border, (-weight[child], child))
    return replace(plan, operators=tuple(_kept(operators, shown, children, size)))


def _weight(operator: Operator) -> float:
    counted = operator.figures
    return (counted.time_ms or 0) if counted.in_tasks else 0


def _kept(
    operators: Sequence[Operator], shown: set[int], children: Sequence[Sequence[int]], size: Sequence[int]
) -> Iterator[Operator]:
    places: dict[int | None, int | None] = {None: None}
    for place, operator in enumerate(operators):
        if place in shown:
            places[place] = len(places) - 1
            left_out = sum(size[child] for child in children[place] if child not in shown)
            yield replace(operator, parent=places[operator.parent], left_out=left_out)
