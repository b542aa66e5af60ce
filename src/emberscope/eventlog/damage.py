"""What is wrong with a log as a whole, told from what its events say of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from emberscope.eventlog.balance import balance_notes, jobs_and_stages, without_any
from emberscope.tables.coverage import Note
from emberscope.tables.run import Application
from emberscope.units import counted

if TYPE_CHECKING:
    from emberscope.eventlog.build import Builder


def damage_notes(
    builder: Builder, application: Application, tables: dict[str, pa.Table], *, compacted: bool
) -> list[Note]:
    """Events that are missing or there twice, and clocks that do not agree; each with its size.

    Missing is what the log itself contradicts: ids that were left out, starts without ends and ends without starts,
    stages that needed more tasks than are seen. A healthy log has no such note.
    """
    counts = builder.running.counts()
    lost = max(0, builder.running.lost)
    found = builder.balance.tasks(counts, tables["stages"], lost)
    # Of a log that is there twice all events count twice, but each thing is one.
    found += jobs_and_stages(tables, {} if counts.repeated else builder.event_counts, application.complete)
    found += without_any(tables, builder.balance.stages)
    notes = balance_notes(
        found,
        max(0, builder.malformed - lost),
        begins=application.spark_version is not None,
        compacted=compacted,
    )
    if counts.repeated:
        one = counts.repeated == 1
        ends = "1 end of a task is" if one else f"{counted(counts.repeated, 'end')} of tasks are"
        message = f"{ends} in the log more than once, and {'counts' if one else 'count'} as often."
        notes.append(Note("duplicate_part", message))
    return notes + builder.clock.notes(tables, builder.balance.stages, builder.hosts())
