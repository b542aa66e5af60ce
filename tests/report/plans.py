"""Plans of any shape, as the event log's tables have them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from emberscope.report.plan_figures import Metric
from emberscope.tables.run import Run
from emberscope.tables.samples import SAMPLES
from emberscope.tables.stack_tree import StackTree
from tests.runs import run_of, with_rows

EVIL = "<script>alert(1)</script>\" onload='x\u202e\x1b[0m]]>&amp;"
NAMES = ("Project", "Filter", "SortMergeJoin", "HashAggregate", "Exchange", "ReusedExchange", "InMemoryTableScan", EVIL)


def node(number: int, parent: int | None, name: str, detail: str | None = None, **more: Any) -> dict[str, Any]:
    row = {"sql_execution_id": 0, "node_id": number, "parent_node_id": parent, "name": name}
    return {**row, "detail": detail or name, "codegen_id": None, "stage_ids": [], **more}


def metric(accumulator: int, name: str, kind: str, value: int | None) -> Metric:
    return Metric(accumulator, name, kind, value)


@st.composite
def plans(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[int, list[Metric]]]:
    """Nodes depth first, generated code among them, and metrics, some of them shared as reused plans share them."""
    rows: list[dict[str, Any]] = []
    metrics: dict[int, list[Metric]] = {}
    codes: list[int | None] = []
    way: list[int] = []
    for number in range(draw(st.integers(1, 30))):
        if way:
            way = way[: draw(st.integers(1, len(way)))]
        parent = way[-1] if way else None
        inside = codes[parent] if parent is not None else None
        code = draw(st.sampled_from([inside, None, "new"]))
        name = draw(st.sampled_from(NAMES))
        if code == "new":
            code, name = number + 1, f"WholeStageCodegen ({number + 1})"
        stages = draw(st.lists(st.integers(0, 3), max_size=3, unique=True))
        rows.append(node(number, parent, name, codegen_id=code, stage_ids=stages))
        codes.append(code if isinstance(code, int) else None)
        if draw(st.booleans()):
            value = draw(st.none() | st.integers(-5, 10**12))
            kind = draw(st.sampled_from(["sum", "size", "timing", "nsTiming", "average"]))
            metrics[number] = [metric(draw(st.integers(0, 12)), draw(st.sampled_from(METRICS)), kind, value)]
        way.append(number)
    return rows, metrics


METRICS = ("number of output rows", "spill size", "peak memory", "sort time", "time to collect", "something else")


def run_with(**rows: Any) -> Run:
    """A run of one execution, id 0, of 10 s, whose stage 0 ran one task of 4 s; `rows` adds tables or replaces them."""
    given = {
        "sql_executions": [
            {"sql_execution_id": 0, "description": "what it does", "status": "succeeded", "plan_updates": 0}
            | {"started_ms": 1_000, "ended_ms": 11_000}
        ],
        "stages": [{"stage_id": 0, "stage_attempt": 0, "sql_execution_id": 0, "job_id": 0}],
        "jobs": [{"job_id": 0, "sql_execution_id": 0}],
        "tasks": [
            {"stage_id": 0, "stage_attempt": 0, "task_id": 1, "executor_run_time_ms": 4_000, "status": "success"}
            | {"shuffle_read_local_bytes": 10, "shuffle_read_remote_bytes": 32}
        ],
    }
    return run_of(**{**given, **rows})


def recorded(run: Run) -> Run:
    """The run with 30 samples in generated code of execution 0 and 10 elsewhere in it."""
    tree = StackTree()
    inside = tree.node([tree.frame("a.GeneratedClass$GeneratedIteratorForCodegenStage2.processNext")])
    samples = [
        {"event": "cpu", "count": 30, "stack": inside, "stage_id": 0, "sql_execution_id": 0},
        {"event": "cpu", "count": 10, "stack": tree.node([tree.frame("a.B.c")]), "stage_id": 0, "sql_execution_id": 0},
        {"event": "cpu", "count": 99, "stack": inside},
        {"event": "wall", "count": 50, "stack": inside, "stage_id": 0, "sql_execution_id": 0},
    ]
    stacks, frames = tree.tables()
    for name, table in (("samples", SAMPLES.from_rows(samples)), ("stacks", stacks), ("frames", frames)):
        run = with_rows(run, name, table)
    return run


def metric_row(node_id: int, accumulator: int, name: str, kind: str, value: int | None) -> dict[str, Any]:
    return {"sql_execution_id": 0, "node_id": node_id, "accumulator_id": accumulator, "name": name} | {
        "metric_type": kind,
        "value": value,
    }
