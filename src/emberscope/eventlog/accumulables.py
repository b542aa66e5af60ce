"""Values of accumulators as of the completion of stages: those of plans and of the user's own code."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from emberscope.eventlog.codes import Codes
from emberscope.eventlog.events import ABSENT, Accumulable
from emberscope.eventlog.narrow import NarrowColumns
from emberscope.redact import Redactor, shorten
from emberscope.tables.accumulables import ACCUMULABLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TASK_METRICS: Final = "internal.metrics."
_SQL: Final = "sql"
_TEXT_CHARACTERS: Final = 1000
_WAITING: Final = 6 << 14
PART_ROWS: Final = 1 << 15


class StageValue(NamedTuple):
    """The value of an accumulator when a stage attempt completed; null where it is no integer."""

    stage_id: int
    stage_attempt: int
    value: int | None


class AccumulableColumns:
    """Collects the accumulators of completed stages, in the order of their completion."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._names = Codes()
        # Accumulator, stage, attempt, value, code of the name, whether of SQL: there are many.
        self._kept = NarrowColumns(6)
        self._waiting = array("q")
        self._texts: dict[tuple[int, int, int], str | None] = {}
        # Each accumulator once, where its values start, what its name is and whether it is of SQL; then, by accumulator
        # and in the order of their coming: stage, attempt and value.
        self._ids = array("q")
        self._starts = array("q", (0,))
        self._name_of = self._is_sql = np.empty(0, dtype=np.int64)
        self._values = np.empty((0, 3), dtype=np.int64)

    def completed(self, stage_id: int, stage_attempt: int, accumulables: list[Accumulable]) -> None:
        for accumulable in accumulables:
            if is_task_metric(accumulable):
                continue
            raw = bytes(accumulable.value)
            value = integer(raw)
            name, sql = self._names[accumulable.name], accumulable.metadata == _SQL
            row = (accumulable.id, stage_id, stage_attempt, ABSENT if value is None else value, name, sql)
            self._waiting.extend(row)
            if value is None and raw:
                text = shorten(raw.decode("utf-8", errors="replace"), _TEXT_CHARACTERS)
                self._texts[accumulable.id, stage_id, stage_attempt] = self._redactor.text(text)
        if len(self._waiting) >= _WAITING:
            self._keep()

    def _keep(self) -> None:
        if self._waiting:
            self._kept.add(np.ascontiguousarray(np.array(self._waiting, dtype=np.int64).reshape(-1, 6).T))
            self._waiting = array("q")

    def close(self) -> None:
        """No more is to come."""
        self._keep()
        if not self._kept.rows:
            return
        ids = self._kept.take(0)
        order = np.argsort(ids, kind="stable")
        distinct, starts = np.unique(ids[order], return_index=True)
        self._values = np.empty((len(ids), 3), dtype=np.int64)
        for at in range(3):
            self._values[:, at] = self._kept.take(1 + at)[order]
        # The first name counts, and any sign of SQL.
        self._name_of = self._kept.take(4)[order[starts]]
        self._is_sql = np.maximum.reduceat(self._kept.take(5)[order], starts)
        self._kept.clear()
        self._ids = array("q", distinct.tobytes())
        self._starts = array("q", starts.astype(np.int64).tobytes())
        self._starts.append(len(ids))

    def of(self, accumulator_id: int) -> list[StageValue]:
        """Its values, in the order in which the stages completed. To be called after `close`."""
        at = bisect_left(self._ids, accumulator_id)
        if at == len(self._ids) or self._ids[at] != accumulator_id:
            return []
        found = self._values[self._starts[at] : self._starts[at + 1]].tolist()
        return [StageValue(stage_id, attempt, _known(value)) for stage_id, attempt, value in found]

    def tables(self, of_plans: NDArray[np.int64]) -> Iterator[pa.Table]:
        """The table `accumulables` in parts; `of_plans` are the accumulators that plans name. After `close`."""
        distinct = np.array(self._ids, dtype=np.int64)
        is_sql = (self._is_sql > 0) | np.isin(distinct, of_plans)
        which = np.repeat(np.arange(len(distinct)), np.diff(np.array(self._starts)))
        order = np.lexsort((which, self._values[:, 1], self._values[:, 0]))
        called = [*map(self._redactor.text, self._names.texts()), None]
        for start in range(0, max(1, len(order)), PART_ROWS):
            at = order[start : start + PART_ROWS]
            of, ids = which[at], distinct[which[at]]
            stages, attempts, values = self._values[at].T
            columns = {
                "stage_id": pa.array(stages),
                "stage_attempt": pa.array(attempts),
                "accumulator_id": pa.array(ids),
                "name": [called[code] for code in self._name_of[of].tolist()],
                "kind": ["sql" if each else "user" for each in is_sql[of].tolist()],
                "value": pa.array(values, mask=values == ABSENT),
            }
            if self._texts:
                keys = zip(ids.tolist(), stages.tolist(), attempts.tolist(), strict=True)
                columns["text"] = [self._texts.get(key) for key in keys]
            yield ACCUMULABLES.from_columns(columns)


def _known(value: int) -> int | None:
    return None if value == ABSENT else value


def is_task_metric(accumulable: Accumulable) -> bool:
    """Whether it only repeats the metrics of tasks."""
    return accumulable.name is not None and accumulable.name.startswith(_TASK_METRICS)


def integer(raw: bytes | msgspec.Raw) -> int | None:
    """The number of an accumulator as written: 12 or "12"; None for all else."""
    try:
        value = int(bytes(raw).strip(b'"'))
    except ValueError:
        return None
    return value if -(2**63) <= value < 2**63 else None
