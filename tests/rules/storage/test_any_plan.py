"""Laws of the rules about files: whatever a plan holds they answer, and healthy files of any number are not told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emberscope.rules.base import Rule
from emberscope.rules.storage.commit_phase import RULE as COMMIT_PHASE
from emberscope.rules.storage.full_scan import RULE as FULL_SCAN
from emberscope.rules.storage.jdbc_single_partition import RULE as JDBC
from emberscope.rules.storage.no_pushdown import RULE as NO_PUSHDOWN
from emberscope.rules.storage.single_task_write import RULE as SINGLE_TASK_WRITE
from emberscope.rules.storage.slow_metadata import RULE as SLOW_METADATA
from emberscope.rules.storage.small_files_read import RULE as SMALL_FILES_READ
from emberscope.rules.storage.small_files_written import RULE as SMALL_FILES_WRITTEN
from emberscope.rules.storage.split_size import RULE as SPLIT_SIZE
from emberscope.tables.tasks import TASKS
from tests.rules.storage.written import executed, scanning, writing
from tests.runs import found

RULES: tuple[Rule[Any], ...] = (
    *(SMALL_FILES_READ, SMALL_FILES_WRITTEN, SPLIT_SIZE, FULL_SCAN, NO_PUSHDOWN, SLOW_METADATA, JDBC),
    *(COMMIT_PHASE, SINGLE_TASK_WRITE),
)
MIB = 1 << 20
SCAN = "FileScan parquet [id#0L] Batched: true, DataFilters: [], Format: Parquet, Location: InMemoryFileIndex(1 paths)"
SCAN += "[s3a://a/events], PartitionFilters: [], PushedFilters: [], ReadSchema: struct<id:bigint>"

_NAMES = (
    *("number of files read", "size of files read", "number of output rows", "scan time", "metadata time"),
    *("number of written files", "written output", "number of dynamic part", "job commit time"),
)
_NODES = st.fixed_dictionaries(
    {
        "name": st.sampled_from(
            ["Scan parquet ", "Filter", "Execute InsertIntoHadoopFsRelationCommand", "Coalesce", ""]
        ),
        "detail": st.sampled_from([SCAN, SCAN[:60], "Filter (a#1 = 2)", "Coalesce 1", "Execute X s3://, false, [", ""])
        | st.text(max_size=20),
        "stage_ids": st.sampled_from([[0], [7], []]),
        "parent_node_id": st.none() | st.integers(0, 3),
    }
)
_COUNTS = st.dictionaries(st.sampled_from(_NAMES), st.integers(-1, 1 << 45), max_size=9)


@given(
    st.lists(_NODES, max_size=4),
    st.dictionaries(st.integers(0, 3), _COUNTS, max_size=4),
    st.integers(1, 9),
    st.none() | st.integers(-1, 1 << 40),
    st.none() | st.integers(-5_000, 200_000),
)
def test_prop_any_plan_is_answered_without_a_crash(
    nodes: list[dict[str, Any]], counts: dict[int, dict[str, int]], tasks: int, size: int | None, ended_ms: int | None
) -> None:
    numbered = [{"node_id": i, **node} for i, node in enumerate(nodes)]
    run = executed(numbered, counts, count=tasks, ended_ms=ended_ms, input_bytes=size, output_bytes=size)
    length = run.application.observed_ms or 0
    for rule in RULES:
        for finding in rule.check(run, rule.limits):
            assert 0 <= (finding.wasted_wall_ms or 0) <= length + 1
            assert (finding.wasted_core_ms or 0) >= 0
            assert finding.advice
            assert finding.title


@settings(max_examples=40)
@given(st.integers(1, 400), st.integers(1, 60))
def test_prop_healthy_files_do_not_start_to_be_told_when_they_become_more(scale: int, seconds: int) -> None:
    """A file of 128 MiB for each task, read or written, however many and however long it takes."""
    count = max(2, scale)
    size = count * 128 * MIB
    more: dict[str, Any] = {"count": count, "run_ms": 1000 * seconds}
    runs = [
        scanning(count, size, 10_000 * count, SCAN, counted={"scan time": 500 * seconds * count}, **more),
        writing(count, size, commit_ms=300, **more),
    ]
    for run in runs:
        rows = [{**row, "input_bytes": 130 * MIB} for row in run.tables["tasks"].to_pylist()]
        whole = replace(run, tables={**run.tables, "tasks": TASKS.from_rows(rows)})
        assert [rule.code for rule in RULES if found(rule, whole)] == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_plans_of_many_thousand_operators_are_judged(rule: Rule[Any]) -> None:
    nodes = [{"node_id": 0, "name": "Union", "detail": "Union", "stage_ids": [0]}]
    nodes += [
        {"node_id": i, "parent_node_id": i - 1, "name": "Filter", "detail": f"Filter (a#{i} = 1)", "stage_ids": [0]}
        for i in range(1, 5_000)
    ]
    nodes.append({"node_id": 5_000, "parent_node_id": 4_999, "name": "Scan parquet ", "detail": SCAN, "stage_ids": [0]})
    counts = {5_000: {"number of files read": 9, "size of files read": 9, "number of output rows": 9}}
    assert found(rule, executed(nodes, counts)) == []
