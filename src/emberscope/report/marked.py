"""What a JVM did beside the application's code, one event at a time: compilations, code thrown away, classes loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from emberscope.units import format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.tables.run import Run

MARKS: Final = {"compilation": "jit", "deoptimization": "jit", "class_load": "classes"}
"""The marks that are told, with the kind of events that they belong to."""

_WORDS: Final = {
    "compilation": ("long compilation", "long compilations"),
    "deoptimization": ("deoptimization", "deoptimizations"),
    "class_load": ("slow class load", "slow class loads"),
}
_MOST: Final = 5


@dataclass(frozen=True, slots=True)
class Marked:
    """The marks of one sort. `names` are methods or classes with how many marks each has and, where marks have an end,
    their ms together, most of it first; `texts` are what marks say more (a compiler, a reason) with their number.
    """

    mark: str
    count: int
    total_ms: float | None
    names: tuple[tuple[str, int, float | None], ...]
    texts: tuple[tuple[str, int], ...]

    def document(self) -> dict[str, Any]:
        return asdict(self)


def marked(run: Run) -> tuple[Marked, ...]:
    """The sorts of marks in `MARKS` that there are any of."""
    table = run.tables.get("marks")
    if table is None or not table.num_rows:
        return ()
    sorts, ends = table["mark"].cast(pa.string()), table["end_ns"]
    took = pc.divide(pc.cast(pc.subtract(ends, table["time_ns"]), pa.float64(), safe=False), 1e6)
    plain = pa.table({"mark": sorts, "name": table["name"], "text": table["text"], "ms": took})
    found = [(mark, plain.filter(pc.equal(plain["mark"], mark))) for mark in MARKS]
    return tuple(_marked(mark, rows) for mark, rows in found if rows.num_rows)


def _marked(mark: str, rows: pa.Table) -> Marked:
    timed = rows["ms"].null_count < rows.num_rows
    names = _grouped(rows, "name")
    names.sort(key=lambda one: (-(one[2] or 0), -one[1], one[0]))
    texts = sorted(((text, count) for text, count, _ in _grouped(rows, "text")), key=lambda one: (-one[1], one[0]))
    total_ms = float(pc.sum(rows["ms"]).as_py()) if timed else None
    return Marked(mark, rows.num_rows, total_ms, tuple(names[:_MOST]), tuple(texts[:_MOST]))


def _grouped(rows: pa.Table, column: str) -> list[tuple[str, int, float | None]]:
    rows = rows.filter(pc.is_valid(rows[column]))
    sums = rows.group_by(column, use_threads=False).aggregate([("mark", "count"), ("ms", "sum")]).to_pylist()
    return [(row[column], row["mark_count"], row["ms_sum"]) for row in sums]


def marked_rows(documents: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each sort with its kind of events, as words, of the documents of `Marked`."""
    for one in documents:
        said = f"{format_count(one['count'])} {_WORDS[one['mark']][one['count'] != 1]}"
        if one["total_ms"] is not None:
            said += f" that took {format_ms(one['total_ms'])} added up"
        if one["names"]:
            name, count, ms = one["names"][0]
            said += f"; most {'for' if one['total_ms'] is not None else 'of'} {name} ("
            said += f"{format_ms(ms)})" if ms is not None else f"{format_count(count)})"
        if one["mark"] == "deoptimization" and one["texts"]:
            text, count = one["texts"][0]
            said += f"; mostly {text} ({format_ratio(count / one['count'])})"
        yield MARKS[one["mark"]], said
