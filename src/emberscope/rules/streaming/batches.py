"""The executed micro-batches of each run of a streaming query, in their order, as numpy columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

PHASES: Final = {
    "latest_offset_ms": "asking the sources for new offsets",
    "get_batch_ms": "making the plan of the new data",
    "query_planning_ms": "planning the query",
    "add_batch_ms": "running the batch",
    "wal_commit_ms": "writing the offsets to the checkpoint",
    "commit_offsets_ms": "writing to the checkpoint that the batch is done",
}


class Batches(Struct, frozen=True):
    """Executed batches of one run of a query. A progress event of a trigger that found no data is no batch."""

    query_id: str | None
    run_id: str
    name: str
    table: pa.Table

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def numbers(self, column: str) -> NDArray[np.float64]:
        """A column as float64; NaN where it is not known."""
        values = self.table[column].cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return np.asarray(values, dtype=np.float64)

    def total(self, column: str) -> float:
        """The sum of what is known."""
        return float(np.nansum(self.numbers(column))) if len(self) else 0.0

    def where(self, mask: NDArray[np.bool_]) -> Batches:
        return Batches(self.query_id, self.run_id, self.name, self.table.filter(pa.array(mask)))


@once
def batches(run: Run) -> tuple[Batches, ...]:
    """One for each run of a query that executed a batch, by run id."""
    table = run.tables.get("streaming_batches")
    if table is None or table.num_rows == 0:
        return ()
    known = [pc.is_valid(table[name]) for name in ("run_id", "batch_id", "started_ms", "duration_ms", "add_batch_ms")]
    executed = known[0]
    for one in known[1:]:
        executed = pc.and_(executed, one)
    table = table.filter(executed).sort_by([(name, "ascending") for name in ("run_id", "started_ms", "batch_id")])
    runs = table["run_id"].to_numpy(zero_copy_only=False)
    if not len(runs):
        return ()
    starts = np.flatnonzero(np.concatenate(([True], runs[1:] != runs[:-1])))
    found = []
    for first, end in zip(starts, [*starts[1:], len(runs)], strict=True):
        rows = table.slice(int(first), int(end - first))
        name = rows["name"][0].as_py()
        said = f"“{name}”" if name else str(rows["run_id"][0].as_py())[:8]
        found.append(Batches(rows["query_id"][0].as_py(), str(runs[first]), said, rows))
    return tuple(found)
