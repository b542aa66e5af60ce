"""What is wrong with a log as a whole, told from what its events say of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.eventlog.balance import balance_notes, jobs_and_stages
from emberscope.eventlog.events import ABSENT
from emberscope.tables.coverage import Note
from emberscope.units import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.eventlog.build import Builder

_COLUMNS: Final = ("stage_id", "stage_attempt", "task_id", "launch_ms", "finish_ms", "executor_run_time_ms")


def damage_notes(builder: Builder, tables: dict[str, pa.Table], *, compacted: bool) -> list[Note]:
    """Events that are missing or there twice, and clocks that do not agree; each with its size.

    Missing is what the log itself contradicts: ids that were left out, starts without ends and ends without starts,
    stages that needed more tasks than are seen. A healthy log has no such note.
    """
    tasks = tables["tasks"]
    columns = {name: _integers(tasks[name]) for name in _COLUMNS}
    hosts = tasks["host"].combine_chunks()
    columns["host"] = _integers(hosts.indices)
    status, reason = (tasks[name].cast(pa.string()).combine_chunks() for name in ("status", "reason"))
    builder.balance.tasks_ended(columns, _flags(pc.equal(status, "success")))
    builder.clock.tasks_ended(columns)
    # A task whose output was lost ends a second time, with this reason, and its work is given to another.
    counts = builder.running.counts(columns["task_id"][~_flags(pc.equal(reason, "Resubmitted"))])
    application = builder.application(tables)
    lost = max(0, builder.running.lost)
    found = builder.balance.tasks(counts, tables["stages"], lost)
    # Of a log that is there twice all events count twice, but each thing is one.
    found += jobs_and_stages(tables, {} if counts.repeated else builder.event_counts, application.complete)
    notes = balance_notes(
        found,
        max(0, builder.malformed - lost),
        begins=application.spark_version is not None,
        compacted=compacted,
    )
    if counts.repeated:
        message = f"{counted(counts.repeated, 'end')} of tasks are in the log more than once, and count as often."
        notes.append(Note("duplicate_part", message))
    return notes + builder.clock.notes(tables, builder.balance.stages, hosts.dictionary.to_pylist())


def _integers(column: pa.ChunkedArray | pa.Array) -> NDArray[np.int64]:
    values: NDArray[np.int64] = pc.fill_null(column.cast(pa.int64()), ABSENT).to_numpy()
    return values


def _flags(column: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(pc.fill_null(column, False).to_numpy(zero_copy_only=False), dtype=np.bool_)
