from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.time.serial_writes import RULE
from emberscope.tables.run import Run
from tests.rules.time.shapes import settings_of
from tests.runs import executor, found, job, run_of, stage, task


def writes(
    *paths: str, reads: str = "file:/in", pause_ms: int = 100, cores: int = 8, cached: bool = False, tasks: int = 1
) -> Run:
    """Queries of 10 s, each of which keeps `tasks` cores busy and writes to one of these paths."""
    rows: dict[str, list[dict[str, Any]]] = {
        name: [] for name in ("tasks", "stages", "jobs", "sql_executions", "plan_nodes")
    }
    clock = 1_000
    for sql, path in enumerate(paths):
        end = clock + 10_000
        rows["tasks"] += [task(sql, clock, 10_000, task_id=100 * sql + i) for i in range(tasks)]
        rows["stages"].append(stage(sql, clock, end, job_id=sql, sql_execution_id=sql))
        rows["jobs"].append(job(sql, clock, end, sql_execution_id=sql, call_site="parquet at etl.py:7"))
        rows["sql_executions"].append(
            {"sql_execution_id": sql, "started_ms": clock, "ended_ms": end, "status": "succeeded"}
        )
        nodes = [
            ("Execute InsertIntoHadoopFsRelationCommand", f"Execute InsertIntoHadoopFsRelationCommand {path}, false"),
            ("Scan parquet", f"FileScan parquet [a#1] Location: InMemoryFileIndex(1 paths)[{reads}]"),
            *([("InMemoryTableScan", "InMemoryTableScan [a#1]")] if cached else []),
        ]
        rows["plan_nodes"] += [
            {"sql_execution_id": sql, "node_id": i, "parent_node_id": i - 1 if i else None, "name": n, "detail": d}
            for i, (n, d) in enumerate(nodes)
        ]
        clock = end + pause_ms
    return run_of(clock + 1_000, executors=[executor("1", cores)], **rows)


def test_independent_outputs_side_by_side_take_as_long_as_the_longest() -> None:
    (finding,) = found(RULE, writes("file:/a", "file:/b", "file:/c"))
    assert finding.wasted_wall_ms == 30_200 - 10_000
    assert finding.where.line == "etl.py:7"
    assert settings_of(finding) == {"spark.scheduler.mode": "FAIR"}
    assert "ThreadPoolExecutor(3)" in finding.advice[0].text


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (writes("file:/a", "file:/b", reads="file:/a"), "the second reads what the first wrote"),
        (writes("file:/a", "file:/a"), "both write to one place"),
        (writes("file:/a", "file:/a/b"), "one writes into the place of the other"),
        (writes("file:/a", "file:/b", pause_ms=20_000), "the program did something else between them"),
        (writes("file:/a", "file:/b", tasks=8), "the cores were busy"),
        (writes("file:/a", "file:/b", cached=True), "the first one may have made what the second reads"),
    ],
)
def test_ignores(run: Run, why: str) -> None:
    assert found(RULE, run) == [], why
