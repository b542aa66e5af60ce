"""What the operators of all plans counted, in rows, bytes and ms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct, field

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

_OLD_UNIT: Final = re.compile(r"\s*\((?:ms|bytes)\)$| total \(min, med, max\)$")


class Counted(Struct, frozen=True):
    """What one operator counted, and what stands for the accumulators that it has: first, last and number of them."""

    values: Mapping[str, float] = field(default_factory=dict)
    accumulators: tuple[int, ...] = ()


def counted_by_operator(run: Run) -> dict[tuple[int, int], Counted]:
    """The metrics of each operator by execution and node."""
    table = run.tables.get("plan_metrics")
    if table is None or not table.num_rows:
        return {}
    columns = ("sql_execution_id", "node_id", "accumulator_id")
    sql, node, accumulator = (table[name].fill_null(-1).to_numpy() for name in columns)
    every, last = (_floats(table[name]) for name in ("value", "last_attempt_value"))
    names, name_of = _codes(table["name"])
    kinds, kind_of = _codes(table["metric_type"])
    of_old = np.array([name.endswith("(ms)") for name in names], dtype=np.bool_)[name_of]
    in_ns, in_ms = (np.array([kind == of for kind in kinds])[kind_of] for of in ("nsTiming", "timing"))
    values = np.where(in_ns, every / 1e6, np.where(in_ms | of_old | np.isnan(last), every, last))
    order = np.lexsort((accumulator, node, sql))
    order = order[node[order] >= 0]
    if not len(order):
        return {}
    sql, node, accumulator = sql[order], node[order], accumulator[order]
    starts = np.flatnonzero(np.concatenate(([True], (np.diff(sql) != 0) | (np.diff(node) != 0))))
    first, final = np.minimum.reduceat(accumulator, starts), np.maximum.reduceat(accumulator, starts)
    plain = [_OLD_UNIT.sub("", name) for name in names]
    said = [plain[code] for code in name_of[order].tolist()]
    amounts = values[order].tolist()
    found = {}
    for at, end, execution, node_id, low, high in zip(
        starts.tolist(),
        [*starts[1:].tolist(), len(order)],
        sql[starts].tolist(),
        node[starts].tolist(),
        first.tolist(),
        final.tolist(),
        strict=True,
    ):
        pairs = zip(said[at:end], amounts[at:end], strict=True)
        counted = {name: value for name, value in pairs if value >= 0}  # not where it is not known
        found[execution, node_id] = Counted(counted, (low, high, end - at))
    return found


def _codes(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """The values of a column of words, and for each row the place of its value."""
    column = column.cast("string").combine_chunks().dictionary_encode()
    return [*column.dictionary.to_pylist(), ""], column.indices.fill_null(len(column.dictionary)).to_numpy()


def _floats(column: pa.ChunkedArray) -> NDArray[np.float64]:
    return np.asarray(column.cast("float64", safe=False).to_numpy(), dtype=np.float64)
