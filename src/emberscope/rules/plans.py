"""SQL executions with their final plans as operators: the one view of plans that all rules share.

What is no operator is left out: `AdaptiveSparkPlan` and `WholeStageCodegen` (its number and its time stand at the
operators in it). A subplan that is used again is in Spark's list twice, with the same accumulators: its operators are
here once, and the operator above the second place says in `same_as` where.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from emberscope.rules.base import Where
from emberscope.rules.call_sites import call_site, line_of
from emberscope.rules.plan_counts import Counted, counted_by_operator
from emberscope.tables.run import once

if TYPE_CHECKING:
    import pyarrow as pa

    from emberscope.tables.run import Run

CACHES: Final = ("InMemoryTableScan", "Scan In-memory table")
_CODEGEN: Final = "WholeStageCodegen"
_NO_OPERATOR: Final = ("AdaptiveSparkPlan", _CODEGEN)
# Operators that give on another number of rows than they get, where they do not count them.
_OTHER_NUMBER: Final = (
    "Generate",
    "Expand",
    "Limit",
    "TakeOrderedAndProject",
    "Sample",
    "Python",
    "InPandas",
    "InArrow",
)
_NAME: Final = re.compile(r"\w*")
_EXPRESSION_ID: Final = re.compile(r"#\d+L?")


@dataclass(slots=True, eq=False)
class Node:
    """One operator.

    `name` is the first word of Spark's name (`SortMergeJoin` of `SortMergeJoin(skew=true)`), `title` the whole of it,
    `detail` the operator with its arguments.
    `metrics` are by Spark's name (without the unit that Spark 2 puts behind), in rows, bytes and ms; one that counted
    nothing is absent. Times are of all attempts, amounts of the last one. `stage_ids` are the stages in which it ran;
    empty where none is known. `cached` is true within a plan whose result was kept: it may have run for an execution
    before. `code_ms` is the task time of the generated code that it is part of.
    """

    node_id: int
    name: str
    title: str
    detail: str
    parent: Node | None = field(repr=False)
    metrics: Mapping[str, float]
    stage_ids: tuple[int, ...]
    codegen_id: int | None = None
    code_ms: float | None = None
    cached: bool = False
    same_as: Node | None = field(default=None, repr=False)
    children: list[Node] = field(default_factory=list, repr=False)

    @property
    def rows(self) -> float | None:
        """Rows that it gave on, or wrote to a shuffle; None where it does not count them."""
        names = ("number of output rows", "output rows", "join output rows", "shuffle records written")
        return next((self.metrics[name] for name in names if name in self.metrics), None)

    @property
    def rows_below(self) -> float | None:
        """Rows that it gave on; where it does not count them, those of the only operator below that does and that
        gives them on one by one (a projection, a sort, a shuffle)."""
        node: Node | None = self
        while node is not None:
            if node.rows is not None:
                return node.rows
            if node.name.endswith(_OTHER_NUMBER) or len(node.children) != 1:
                return None if node.same_as is None else node.same_as.rows
            node = node.children[0]
        return None

    @property
    def plain_detail(self) -> str:
        """The detail without Spark's expression ids (`day#12` as `day`)."""
        return _EXPRESSION_ID.sub("", self.detail)

    def below(self) -> Iterator[Node]:
        """The operators under it, nearest first on each branch, each before those under it."""
        waiting = list(reversed(self.children))
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


@dataclass(frozen=True, slots=True)
class Plan:
    """One SQL execution. `nodes` are depth first, parents before children; `text` is the plan in Spark's own words,
    `call_site` as `collect at daily.py:23`, `updates` how often adaptive execution changed the plan, `root_sql` the
    execution in which this one is nested (itself where it is not). What is not known is empty or None."""

    sql: int
    nodes: tuple[Node, ...]
    roots: tuple[Node, ...]
    text: str = field(repr=False)
    description: str
    call_site: str
    started_ms: int | None
    ended_ms: int | None
    failed: bool
    updates: int
    root_sql: int

    @property
    def where(self) -> Where:
        return Where(sql=self.sql, line=line_of(self.call_site))

    @property
    def words(self) -> str:
        """`SQL execution 3 “load sales”, collect at daily.py:23`: what lets the user find it again."""
        said = " ".join(self.description.split())
        said = said if len(said) <= 120 else said[:119] + "…"
        quoted = (
            f" “{said}”" if said and (not self.call_site or said.partition(" at ")[0] not in self.call_site) else ""
        )
        return f"SQL execution {self.sql}{quoted}" + (f", {self.call_site}" if self.call_site else "")

    @property
    def stage_ids(self) -> frozenset[int]:
        return frozenset(stage for node in self.nodes for stage in node.stage_ids)

    def named(self, *names: str) -> Iterator[Node]:
        """Its operators of these names."""
        return (node for node in self.nodes if node.name in names)


@once
def plans(run: Run) -> Mapping[int, Plan]:
    """Every SQL execution that the run knows, by its id. Empty where it has none."""
    executions, nodes = _executions(run), _rows_by_execution(run.tables.get("plan_nodes"))
    metrics, sites = counted_by_operator(run), _call_sites_of_jobs(run)
    found = {}
    for sql in sorted({*executions, *nodes}):
        row = executions.get(sql, {})
        operators, roots = _operators(nodes.get(sql, ()), metrics)
        description = row.get("description") or ""
        root_sql = row.get("root_execution_id")
        found[sql] = Plan(
            sql,
            operators,
            roots,
            row.get("physical_plan") or "",
            description,
            call_site((*sites.get(sql, ()), description), row.get("details")),
            row.get("started_ms"),
            row.get("ended_ms"),
            row.get("status") == "failed",
            row.get("plan_updates") or 0,
            sql if root_sql is None else root_sql,
        )
    return found


def originals(
    accumulators: Mapping[int, Hashable],
    children: Mapping[int, Sequence[int]],
    reuses: Collection[int],
    roots: Sequence[int],
) -> dict[int, int]:
    """For each node that Spark lists a second time the one that it is: what hangs on a reuse is the second.

    `accumulators` stand for those of each node: equal where they are the same, false where there is none.
    """
    first: dict[Hashable, int] = {}
    same: dict[int, int] = {}
    waiting = list(reversed(roots))
    later: list[int] = []
    while waiting or later:
        if not waiting:
            waiting, later = list(reversed(later)), []
        node_id = waiting.pop()
        key = accumulators.get(node_id)
        if key and first.setdefault(key, node_id) != node_id:
            same[node_id] = first[key]
        elif node_id in reuses:
            later.extend(children.get(node_id, ()))
        else:
            waiting.extend(reversed(children.get(node_id, ())))
    return same


def _executions(run: Run) -> dict[int, dict[str, Any]]:
    table = run.tables.get("sql_executions")
    if table is None:
        return {}
    return {row["sql_execution_id"]: row for row in table.to_pylist() if row["sql_execution_id"] is not None}


def _call_sites_of_jobs(run: Run) -> dict[int, list[str]]:
    """The call sites of the jobs of each execution, in the order of the jobs."""
    table = run.tables.get("jobs")
    found: dict[int, list[str]] = {}
    if table is not None:
        columns = (table[name].to_pylist() for name in ("job_id", "sql_execution_id", "call_site"))
        rows = [row for row in zip(*columns, strict=True) if row[1] is not None and row[2]]
        for _, sql, site in sorted(rows, key=lambda row: -1 if row[0] is None else row[0]):
            found.setdefault(sql, []).append(site)
    return found


def _rows_by_execution(table: pa.Table | None) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for row in () if table is None else table.to_pylist():
        if row["sql_execution_id"] is not None and row["node_id"] is not None:
            found.setdefault(row["sql_execution_id"], []).append(row)
    return found


def _operators(
    rows: Sequence[Mapping[str, Any]], metrics: Mapping[tuple[int, int], Counted]
) -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    """The operators of one plan, and those of them that have no parent."""
    known = {row["node_id"]: row for row in sorted(rows, key=lambda row: row["node_id"])}
    children: dict[int, list[int]] = {}
    roots: list[int] = []
    for node_id, row in known.items():
        parent = row["parent_node_id"]
        if parent is not None and parent in known and parent < node_id:
            children.setdefault(parent, []).append(node_id)
        else:
            roots.append(node_id)
    counted = {node_id: metrics.get((row["sql_execution_id"], node_id), Counted()) for node_id, row in known.items()}
    same = originals(
        {node_id: of.accumulators for node_id, of in counted.items()},
        children,
        {node_id for node_id, row in known.items() if (row["name"] or "").startswith("Reused")},
        roots,
    )
    made: dict[int, Node] = {}
    links: list[tuple[Node, int]] = []
    tops: list[Node] = []
    # Each entry: a node, the operator it hangs on, the node of the generated code around it.
    waiting: list[tuple[int, Node | None, int | None]] = [(root, None, None) for root in reversed(roots)]
    while waiting:
        node_id, parent_node, code = waiting.pop()
        row = known[node_id]
        if node_id in same:
            if parent_node is not None:
                links.append((parent_node, same[node_id]))
            continue
        title = (row["name"] or "").strip()
        name = _NAME.match(title)[0]  # type: ignore[index]  # an empty word matches as well
        if row["codegen_id"] is None:
            code = None
        elif name == _CODEGEN:
            code = node_id
        if name not in _NO_OPERATOR:
            node = Node(
                node_id,
                name,
                title,
                row["detail"] or "",
                parent_node,
                counted[node_id].values,
                tuple(row["stage_ids"] or ()),
                row["codegen_id"],
                None if code is None else counted[code].values.get("duration"),
                parent_node is not None and (parent_node.cached or parent_node.title.startswith(CACHES)),
            )
            made[node_id] = node
            (tops if parent_node is None else parent_node.children).append(node)
            parent_node = node
        waiting.extend((child, parent_node, code) for child in reversed(children.get(node_id, ())))
    for node, original in links:
        node.same_as = made.get(_operator_at(original, known, children))
    return tuple(made.values()), tuple(tops)


def _operator_at(node_id: int, known: Mapping[int, Mapping[str, Any]], children: Mapping[int, Sequence[int]]) -> int:
    """The first operator at or below a node."""
    while (known[node_id]["name"] or "").startswith(_NO_OPERATOR) and children.get(node_id):
        node_id = children[node_id][0]
    return node_id
