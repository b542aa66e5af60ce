"""The same job grown: longer, wider or on more data, as a scheduler would have run it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.simulate.shares import steps
from emberscope.tables.catalog import TABLES
from emberscope.tables.run import Run
from emberscope.tables.table import Table

BYTES = ("input_bytes", "output_bytes", "shuffle_read_local_bytes", "shuffle_read_remote_bytes", "shuffle_write_bytes")
_OF_TASKS = ("tasks", "task_accumulables")


def longer(run: Run, times: int) -> Run:
    """`times` as many tasks of the same kind in a row on the same cores: while tasks run, time is stretched; while the
    driver works, it is not. The copies find their code unpacked and do nothing but work."""
    pieces = steps(run)
    assert pieces is not None
    stretched = np.where(pieces.running > 0, times, 1) * pieces.lengths_ms
    old, new = pieces.edges, pieces.edges[0] + np.concatenate(([0.0], np.cumsum(stretched)))

    def then(column: pa.ChunkedArray) -> pa.Array:
        known = np.asarray(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
        moved = np.interp(known, old, new)
        return pa.array(np.where(np.isnan(known), 0, np.round(moved)).astype(np.int64), mask=np.isnan(known))

    tables = {}
    for table in TABLES:
        if table.name not in run.tables:
            continue
        rows = run.tables[table.name]
        for column in table.columns:
            if column.unit == "epoch ms":
                rows = _with(rows, column.name, then(rows[column.name]))
        tables[table.name] = rows
    tasks, before = tables.get("tasks"), run.tables.get("tasks")
    if tasks is not None and before is not None:
        length = pc.subtract(before["finish_ms"], before["launch_ms"])
        launch = tasks["launch_ms"]
        copies = []
        for copy in range(times):
            begin = pc.add(launch, pc.multiply(length, copy))
            one = _with(_with(_copy(tasks, copy, times), "launch_ms", begin), "finish_ms", pc.add(begin, length))
            if copy:
                one = _with(one, "executor_run_time_ms", pc.if_else(one["has_metrics"], length, None))
                for name in ("executor_deserialize_time_ms", "result_serialization_time_ms"):
                    one = _with(one, name, pc.multiply(one[name], 0))
            copies.append(one)
        tables["tasks"] = pa.concat_tables(copies).unify_dictionaries()
    application = run.application
    start, end = application.app_start_ms, application.app_end_ms
    moved = replace(application, app_start_ms=start, app_end_ms=None if end is None else round(float(new[-1])))
    return _grown(replace(run, application=moved, tables=tables), times)


def wider(run: Run, times: int) -> Run:
    """`times` as many executors, each with the tasks of the one that it is a copy of, at the same time."""
    tables = dict(run.tables)
    for name in ("executors", "tasks"):
        if name in tables:
            rows = tables[name]
            copies = [_renamed(_copy(rows, copy, times) if name == "tasks" else rows, copy) for copy in range(times)]
            if name == "executors":
                driver = [pc.not_equal(copy["executor_id"], "driver") for copy in copies]
                copies = [copies[0], *(rows.filter(keep) for rows, keep in zip(copies[1:], driver[1:], strict=True))]
            tables[name] = pa.concat_tables(copies).unify_dictionaries()
    return _grown(replace(run, tables=tables), times)


def heavier(run: Run, times: int) -> Run:
    """`times` the bytes in the same tasks and time."""
    tables = dict(run.tables)
    if "tasks" in tables:
        for name in BYTES:
            tables["tasks"] = _with(tables["tasks"], name, pc.multiply(tables["tasks"][name], times))
    return _with_metrics(replace(run, tables=tables), ("size",), times)


def _grown(run: Run, times: int) -> Run:
    """Counts and sums of what there is `times` as much of."""
    tables = dict(run.tables)
    if "stages" in tables:
        stages = tables["stages"]
        tables["stages"] = _with(stages, "task_count", pc.multiply(stages["task_count"], times))
    return _with_metrics(replace(run, tables=tables), ("sum", "size", "timing", "nsTiming"), times)


def _with_metrics(run: Run, types: tuple[str, ...], times: int) -> Run:
    """`times` of what the operators counted. What is broadcast is a small table, which does not grow with the large
    one; and a job that writes more writes larger files."""
    rows, nodes = run.tables.get("plan_metrics"), run.tables.get("plan_nodes")
    if rows is None or nodes is None:
        return run
    broadcast = pc.starts_with(nodes["name"], "BroadcastExchange")
    columns = ["sql_execution_id", "node_id"]
    fixed = {tuple(row.values()) for row in nodes.filter(broadcast).select(columns).to_pylist()}
    grows = pa.array([tuple(row.values()) not in fixed for row in rows.select(columns).to_pylist()], pa.bool_())
    scaled = pc.and_(grows, pc.is_in(rows["metric_type"].cast(pa.string()), pa.array(types)))
    scaled = pc.and_(scaled, pc.not_equal(rows["name"].cast(pa.string()), "number of written files"))
    for name in ("value", "last_attempt_value"):
        rows = _with(rows, name, pc.if_else(scaled, pc.multiply(rows[name], times), rows[name]))
    return replace(run, tables={**run.tables, "plan_metrics": rows})


def _copy(rows: pa.Table, copy: int, times: int) -> pa.Table:
    """Tasks with ids of their own."""
    for name in ("task_id", "task_index", "partition"):
        rows = _with(rows, name, pc.add(pc.multiply(rows[name], times), copy))
    return rows


def _renamed(rows: pa.Table, copy: int) -> pa.Table:
    """The executors of a copy have names of their own, and so have their hosts."""
    if copy == 0:
        return rows
    for name in ("executor_id", "host"):
        names = rows[name].cast(pa.string())
        new = pc.binary_join_element_wise(names, f"copy{copy}", "-")
        rows = _with(rows, name, pc.if_else(pc.equal(names, "driver"), names, new))
    return rows


def _with(rows: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    place = rows.schema.get_field_index(name)
    field = rows.schema.field(place)
    if pa.types.is_dictionary(field.type):
        values = values.cast(pa.string()).dictionary_encode().cast(field.type)
    return rows.set_column(place, field, values.cast(field.type))


def with_tables(run: Run, **rows: list[dict[str, object]]) -> Run:
    """The run with more rows in some of its tables."""
    by_name: dict[str, Table] = {table.name: table for table in TABLES}
    more = {name: by_name[name].from_rows(added) for name, added in rows.items()}
    tables = {**run.tables}
    for name, table in more.items():
        tables[name] = pa.concat_tables([tables[name], table]).unify_dictionaries() if name in tables else table
    return replace(run, tables=tables)
