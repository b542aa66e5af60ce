"""What the heap of each process held, class by class, at the looks that the recorder took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from emberscope.tables.run import Run

MOST_PROCESSES: Final = 8
MOST_LOOKS: Final = 8
MOST_CLASSES: Final = 20
OTHERS: Final = "all other classes"


@dataclass(frozen=True, slots=True)
class HeapRow:
    """Bytes of one class at each look that is shown, and its instances at the last.

    None where the class was too small for a row of its own: then it is among the others of that look.
    """

    object_class: str
    bytes: tuple[int | None, ...]
    instances: int | None

    @property
    def grown(self) -> int:
        """From the first to the last look; from nothing, at most, where it was too small to be told then."""
        return (self.bytes[-1] or 0) - (self.bytes[0] or 0)


@dataclass(frozen=True, slots=True)
class HeapLooks:
    """The heap of one process: epoch ms of its looks, and a row for each class, those that grew the most first.

    `looks` is how many there were; where they are too many, those in `times_ms` are spread over them, the first and the
    last among them. `hidden` classes more had rows of their own at one of these looks at least.
    """

    process: str
    looks: int
    times_ms: tuple[int, ...]
    rows: tuple[HeapRow, ...]
    totals: tuple[int, ...]
    hidden: int

    @property
    def has_gaps(self) -> bool:
        """Whether a class was too small for a row of its own at a look."""
        return any(size is None for row in self.rows for size in row.bytes)

    def document(self) -> dict[str, Any]:
        rows = [{"object_class": r.object_class, "bytes": list(r.bytes), "instances": r.instances} for r in self.rows]
        return {
            "process": self.process,
            "looks": self.looks,
            "times_ms": list(self.times_ms),
            "bytes": list(self.totals),
            "classes": rows,
        }


def heap_looks(run: Run) -> tuple[HeapLooks, ...]:
    """All processes whose heaps were looked at, the fullest first; `MOST_PROCESSES` of them are shown to people."""
    table = run.tables.get("heap_classes")
    if table is None or not table.num_rows:
        return ()
    table = table.set_column(
        table.column_names.index("executor_id"), "executor_id", table["executor_id"].cast(pa.string())
    )
    found = []
    for executor in pc.unique(table["executor_id"]).to_pylist():
        is_it = pc.is_null(table["executor_id"]) if executor is None else pc.equal(table["executor_id"], executor)
        found.append(_of_process(executor, table.filter(is_it)))
    return tuple(sorted(found, key=lambda one: (-max(one.totals), one.process)))


def _of_process(executor: str | None, table: pa.Table) -> HeapLooks:
    times = np.unique(table["time_ns"].to_numpy())
    shown = times[np.unique(np.linspace(0, len(times) - 1, MOST_LOOKS).round().astype(np.int64))]
    sizes: dict[str, list[int | None]] = {}
    instances: dict[str, int] = {}
    totals = [0] * len(shown)
    place = {int(time): number for number, time in enumerate(shown)}
    columns = (table[name].to_pylist() for name in ("time_ns", "object_class", "size_bytes", "instances"))
    for time, name, size, count in zip(*columns, strict=True):
        if time in place:
            key, look = OTHERS if name is None else name, place[time]
            own = sizes.setdefault(key, [None] * len(shown))
            own[look] = (own[look] or 0) + size
            totals[look] += size
            if look == len(shown) - 1:
                instances[key] = instances.get(key, 0) + count
    # A look that has no others told of every class that there was.
    absent = [0 if size is None else None for size in sizes.get(OTHERS, [None] * len(shown))]
    rows = []
    for key, own in sizes.items():
        told = tuple(there if size is None else size for size, there in zip(own, absent, strict=True))
        rows.append(HeapRow(key, told, instances.get(key, absent[-1])))
    rows.sort(key=lambda row: (row.object_class == OTHERS, -row.grown, -(row.bytes[-1] or 0), row.object_class))
    named = sum(row.object_class != OTHERS for row in rows)
    kept = [*rows[: min(named, MOST_CLASSES)], *rows[named:]]
    return HeapLooks(
        "unknown process" if executor is None else "driver" if executor == "driver" else f"executor {executor}",
        len(times),
        tuple(int(time) // 1_000_000 for time in shown),
        tuple(kept),
        tuple(totals),
        max(0, named - MOST_CLASSES),
    )
