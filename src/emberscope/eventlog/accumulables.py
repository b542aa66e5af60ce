"""Values of accumulators as of the completion of stages: those of plans and of the user's own code."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Set
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from emberscope.eventlog.events import ABSENT, Accumulable
from emberscope.redact import Redactor, shorten
from emberscope.tables.accumulables import ACCUMULABLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TASK_METRICS: Final = "internal.metrics."
_SQL: Final = "sql"
_TEXT_CHARACTERS: Final = 1000


class StageValue(NamedTuple):
    """The value of an accumulator when a stage attempt completed; null where it is no integer."""

    stage_id: int
    stage_attempt: int
    value: int | None


class AccumulableColumns:
    """Collects the accumulators of completed stages, in the order of their completion."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._names: dict[int, str | None] = {}
        self._sql: set[int] = set()
        self._values = array("q")  # accumulator, stage, attempt and value, as numbers: there are many
        self._index = np.empty((0, 4), dtype=np.int64)
        self._places: dict[int, tuple[int, int]] = {}
        self._texts: dict[tuple[int, int, int], str | None] = {}

    def completed(self, stage_id: int, stage_attempt: int, accumulables: list[Accumulable]) -> None:
        for accumulable in accumulables:
            if is_task_metric(accumulable):
                continue
            raw = bytes(accumulable.value)
            value = integer(raw)
            self._values.extend((accumulable.id, stage_id, stage_attempt, ABSENT if value is None else value))
            self._names.setdefault(accumulable.id, accumulable.name and sys.intern(accumulable.name))
            if accumulable.metadata == _SQL:
                self._sql.add(accumulable.id)
            if value is None and raw:
                text = shorten(raw.decode("utf-8", errors="replace"), _TEXT_CHARACTERS)
                self._texts[accumulable.id, stage_id, stage_attempt] = self._redactor.text(text)

    def of(self, accumulator_id: int) -> list[StageValue]:
        """Its values, in the order in which the stages completed."""
        if len(self._index) * 4 != len(self._values):
            rows = self._rows()
            self._index = rows[np.argsort(rows[:, 0], kind="stable")]
            ids, starts = np.unique(self._index[:, 0], return_index=True)
            ends = [*starts.tolist()[1:], len(rows)]
            self._places = dict(zip(ids.tolist(), zip(starts.tolist(), ends, strict=True), strict=True))
        start, end = self._places.get(accumulator_id, (0, 0))
        if start == end:
            return []
        found = self._index[start:end].tolist()
        return [StageValue(stage_id, attempt, _known(value)) for _, stage_id, attempt, value in found]

    def _rows(self) -> NDArray[np.int64]:
        return np.array(self._values, dtype=np.int64).reshape(-1, 4)

    def table(self, of_plans: Set[int]) -> pa.Table:
        """The table `accumulables`; `of_plans` are the accumulators that plans name."""
        rows = self._rows()
        rows = rows[np.lexsort((rows[:, 0], rows[:, 2], rows[:, 1]))]
        sql = self._sql | of_plans
        ids, stages, attempts, values = (rows[:, at] for at in range(4))
        listed = ids.tolist()
        texts = self._texts
        keys = zip(listed, stages.tolist(), attempts.tolist(), strict=True)
        return ACCUMULABLES.from_columns(
            {
                "stage_id": pa.array(stages),
                "stage_attempt": pa.array(attempts),
                "accumulator_id": pa.array(ids),
                "name": [self._redactor.text(self._names[accumulator_id]) for accumulator_id in listed],
                "kind": ["sql" if accumulator_id in sql else "user" for accumulator_id in listed],
                "value": pa.array(values, mask=values == ABSENT),
                "text": [texts.get(key) for key in keys],
            }
        )


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
