"""The SQL executions of a run for its page: their words, what they cost, and the plans of those that took longest.

Thousands of executions, as streaming applications have them, fold by their description with its numbers left out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from emberscope.report.plan_changes import initial_plan
from emberscope.report.plan_figures import Metric
from emberscope.report.plan_svg import Links
from emberscope.report.plan_tree import MOST_BOXES, Plan, plan_of
from emberscope.report.plan_view import PlanView, blamed, plan_view
from emberscope.report.sql_figures import Cost, Sampled, costs, execution_of_stage, sampled, stage_links
from emberscope.units import counted

if TYPE_CHECKING:
    from emberscope.rules.evaluate import Ranked
    from emberscope.tables.run import Run

MOST_PLANS: Final = 30
"""So many executions have their plans in the page, those that took longest."""

MOST_BOXES_IN_ALL: Final = 2_000
"""So many operators are drawn in all, so that the page stays small; the shorter executions do without a plan then."""

MOST_ROWS: Final = 200
"""So many rows tell of the other executions."""

_MOST_TEXT: Final = 4_000
_DIGITS: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\d+")


@dataclass(frozen=True, slots=True)
class Execution:
    """One SQL execution. Times in ms, `started_ms` from the start of the application; None is "not known"."""

    id: int
    title: str
    root: int | None
    text: str
    call_site: str
    status: str
    error: str
    started_ms: float | None
    duration_ms: float | None
    share: float | None
    jobs: tuple[int, ...]
    stages: tuple[tuple[int, str], ...]
    cost: Cost
    samples: int | None
    findings: tuple[tuple[int, str], ...]
    plan: PlanView | None = None
    without: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """Executions with the same description but for its numbers. `longest` is the id of the one that took longest."""

    title: str
    count: int
    failed: int
    total_ms: float
    longest_ms: float
    longest: int


@dataclass(frozen=True, slots=True)
class SqlPart:
    """All that the page says of SQL. `event` is that of which samples are counted, None without any; `anchors` are the
    fragments that lead from here to the flame graph; `operators` where to find, by the number of a finding, the
    operator of which it speaks."""

    executions: tuple[Execution, ...]
    others: tuple[Fold, ...]
    hidden: int
    total: int
    event: str | None
    anchors: tuple[str, ...]
    operators: Mapping[int, str]


def sql_part(
    run: Run, findings: Sequence[Ranked], recorded: bool, stage_href: Callable[[int], str] | None = None
) -> SqlPart | None:
    """The SQL executions of a run; None where its event log is not known. `recorded` says whether the page has a flame
    graph; `stage_href` gives what a stage's number links to, empty for nothing: without it, the slice of the flame
    graph, or else the row of the stage."""
    table = run.tables.get("sql_executions")
    if table is None:
        return None
    href = stage_href or stage_links(run, recorded)
    part = _Part(run, findings, sampled(run) if recorded else None, href)
    rows = sorted(table.to_pylist(), key=lambda row: (-_length(row, part.end_ms), row["sql_execution_id"]))
    shown = [part.execution(row) for row in rows[:MOST_PLANS]]
    shown = part.with_plans(shown, rows)
    folds = _folds(rows[MOST_PLANS:], part.end_ms)
    return SqlPart(
        tuple(shown),
        tuple(folds[:MOST_ROWS]),
        sum(fold.count for fold in folds[MOST_ROWS:]),
        len(rows),
        part.sampled.event if part.sampled else None,
        tuple(part.anchors),
        part.operators,
    )


def _length(row: Mapping[str, Any], end_ms: int | None) -> float:
    """How long an execution took, or had taken when the log ends."""
    started, ended = row["started_ms"], row["ended_ms"] if row["ended_ms"] is not None else end_ms
    return max(0, ended - started) if started is not None and ended is not None else -1


class _Part:
    """What all executions share."""

    def __init__(
        self, run: Run, findings: Sequence[Ranked], samples: Sampled | None, href: Callable[[int], str]
    ) -> None:
        application = run.application
        self.run, self.findings, self.sampled, self.href = run, findings, samples, href
        self.start_ms = application.app_start_ms
        self.end_ms = application.app_end_ms if application.app_end_ms is not None else application.last_event_ms
        self.whole_ms = application.observed_ms
        self.costs = costs(run)
        self.of_stage = execution_of_stage(run)
        self.stages: dict[int, list[int]] = defaultdict(list)
        for stage, execution in sorted(self.of_stage.items()):
            self.stages[execution].append(stage)
        self.jobs = _by_execution(run, "jobs", "job_id")
        self.statements = _statements(run)
        self.anchors: list[str] = []
        self.operators: dict[int, str] = {}

    def execution(self, row: Mapping[str, Any]) -> Execution:
        number = row["sql_execution_id"]
        length = _length(row, self.end_ms)
        known = row["started_ms"] is not None and self.start_ms is not None
        description = row["description"] or ""
        return Execution(
            number,
            _one_line(description) or "no description",
            row["root_execution_id"] if row["root_execution_id"] != number else None,
            self._text(row, description),
            (row["details"] or "")[:_MOST_TEXT] if row["details"] != description else "",
            row["status"] or "",
            row["error_message"] or "",
            row["started_ms"] - self.start_ms if known and self.start_ms is not None else None,
            length if length >= 0 else None,
            min(1.0, length / self.whole_ms) if length >= 0 and self.whole_ms else None,
            tuple(self.jobs.get(number, ())),
            tuple((stage, self.href(stage)) for stage in self.stages.get(number, ())),
            self.costs.get(number, Cost()),
            self.sampled.by_execution.get(number, 0) if self.sampled else None,
            tuple((i, said.finding.title) for i, said in enumerate(self.findings, 1) if self._is_about(said, number)),
        )

    def _text(self, row: Mapping[str, Any], description: str) -> str:
        """The query's own text: the statement of a session that it ran for, or a description of several lines."""
        marks = {row["job_group"], *(row["job_tags"] or ())} - {None}
        text = next((self.statements[mark] for mark in marks if mark in self.statements), "")
        if not text and _one_line(description) != description.strip():
            text = description
        return text[:_MOST_TEXT]

    def _is_about(self, said: Ranked, number: int) -> bool:
        where = said.finding.where
        return where.sql == number or (where.stage is not None and self.of_stage.get(where.stage) == number)

    def with_plans(self, shown: Sequence[Execution], rows: Sequence[Mapping[str, Any]]) -> list[Execution]:
        """The executions with their plans, as long as the page has room."""
        numbers = [execution.id for execution in shown]
        nodes, metrics = _plan_rows(self.run, numbers)
        left, result = MOST_BOXES_IN_ALL, []
        for execution, row in zip(shown, rows, strict=False):
            if not nodes.get(execution.id):
                result.append(replace(execution, without="The event log has no plan of it."))
                continue
            samples = self.sampled.by_code.get(execution.id, {}) if self.sampled else None
            plan = plan_of(nodes[execution.id], metrics.get(execution.id, {}), samples)
            size = len(plan.operators)
            if min(size, MOST_BOXES) > left:
                without = (
                    f"Its plan of {counted(size, 'operator')} is not drawn: longer executions took the page's room."
                )
                result.append(replace(execution, without=without))
                continue
            before = initial_plan(row["physical_plan"]) if left > 2 * MOST_BOXES else None
            label = f"Plan of SQL execution {execution.id}"
            view = plan_view(plan, before, row["plan_updates"] or 0, self._links(execution, plan), label, MOST_BOXES)
            left -= view.boxes
            drawn = {row.operator.node_id for row in view.rows}
            for node, numbers in self._findings_by_node(execution, plan).items():
                if node in drawn:
                    self.operators.update((number, f"#plan-{execution.id}-{node}") for number in numbers)
            result.append(replace(execution, plan=view))
        return result

    def _links(self, execution: Execution, plan: Plan) -> Links:
        return Links(
            f"plan-{execution.id}",
            execution.cost.task_ms,
            execution.samples,
            self._findings_by_node(execution, plan),
            self.href,
            lambda number: self._flame(execution.id, number),
        )

    def _flame(self, execution: int, number: int) -> str:
        """The flame graph of an execution, with the class of one generated loop looked for."""
        fragment = f"sql={execution}&search={quote(f'GeneratedIteratorForCodegenStage{number}' + chr(92) + 'b')}"
        if fragment not in self.anchors:
            self.anchors.append(fragment)
        return f"#{fragment}"

    def _findings_by_node(self, execution: Execution, plan: Plan) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, _ in execution.findings:
            said = self.findings[number - 1].finding
            node = blamed(plan, said.where.stage, said.title, said.summary)
            if node is not None:
                found.setdefault(node, []).append(number)
        return found


def _plan_rows(
    run: Run, executions: Sequence[int]
) -> tuple[dict[int, list[dict[str, Any]]], dict[int, dict[int, list[Metric]]]]:
    """The rows of the plans' tables for these executions: nodes, and metrics by node."""
    nodes: dict[int, list[dict[str, Any]]] = defaultdict(list)
    metrics: dict[int, dict[int, list[Metric]]] = defaultdict(lambda: defaultdict(list))
    for row in _of(run, "plan_nodes", executions):
        nodes[row["sql_execution_id"]].append(row)
    for row in _of(run, "plan_metrics", executions):
        if row["node_id"] is not None:
            metric = Metric(row["accumulator_id"], row["name"] or "", row["metric_type"], row["value"])
            metrics[row["sql_execution_id"]][row["node_id"]].append(metric)
    return nodes, metrics


def _of(run: Run, name: str, executions: Sequence[int]) -> list[dict[str, Any]]:
    table = run.tables.get(name)
    if table is None:
        return []
    chosen = table.filter(pc.is_in(table["sql_execution_id"], value_set=pa.array(executions, pa.int64())))
    rows: list[dict[str, Any]] = chosen.to_pylist()
    return rows


def _by_execution(run: Run, name: str, column: str) -> dict[int, list[int]]:
    table = run.tables.get(name)
    found: dict[int, list[int]] = defaultdict(list)
    if table is not None:
        for execution, value in zip(table["sql_execution_id"].to_pylist(), table[column].to_pylist(), strict=True):
            if execution is not None:
                found[execution].append(value)
    return found


def _statements(run: Run) -> dict[str, str]:
    """The text of each statement of a session by the tag or group of its jobs."""
    table = run.tables.get("statements")
    if table is None:
        return {}
    rows = table.select(["job_tag", "text"]).to_pylist()
    return {row["job_tag"]: row["text"] for row in rows if row["job_tag"] and row["text"]}


def _folds(rows: Sequence[Mapping[str, Any]], end_ms: int | None) -> list[Fold]:
    """By description with its numbers left out, the longest in all first."""
    alike: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        alike[_DIGITS.sub("…", _one_line(row["description"] or "no description", 400))].append(row)
    folds = []
    for title, same in alike.items():
        lengths = [max(0, _length(row, end_ms)) for row in same]
        most = max(range(len(same)), key=lengths.__getitem__)
        if len(same) == 1:
            title = _one_line(same[0]["description"] or "no description")
        failed = sum(row["status"] == "failed" for row in same)
        identity = same[most]["sql_execution_id"]
        folds.append(Fold(title, len(same), failed, sum(lengths), lengths[most], identity))
    return sorted(folds, key=lambda fold: (-fold.total_ms, fold.longest))


def _one_line(text: str, most: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
