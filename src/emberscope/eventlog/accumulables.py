"""Values of accumulators as of the completion of stages: those of plans and of the user's own code."""

from __future__ import annotations

from collections.abc import Set
from typing import Final, NamedTuple

import msgspec
import pyarrow as pa

from emberscope.eventlog.events import Accumulable
from emberscope.redact import Redactor, shorten
from emberscope.tables.accumulables import ACCUMULABLES

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
        self._values: dict[int, list[StageValue]] = {}
        self._texts: dict[tuple[int, int, int], str | None] = {}

    def completed(self, stage_id: int, stage_attempt: int, accumulables: list[Accumulable]) -> None:
        for accumulable in accumulables:
            if is_task_metric(accumulable):
                continue
            raw = bytes(accumulable.value)
            value = integer(raw)
            self._values.setdefault(accumulable.id, []).append(StageValue(stage_id, stage_attempt, value))
            self._names.setdefault(accumulable.id, accumulable.name)
            if accumulable.metadata == _SQL:
                self._sql.add(accumulable.id)
            if value is None and raw:
                text = shorten(raw.decode("utf-8", errors="replace"), _TEXT_CHARACTERS)
                self._texts[accumulable.id, stage_id, stage_attempt] = self._redactor.text(text)

    def of(self, accumulator_id: int) -> list[StageValue]:
        """Its values, in the order in which the stages completed."""
        return self._values.get(accumulator_id, [])

    def table(self, of_plans: Set[int]) -> pa.Table:
        """The table `accumulables`; `of_plans` are the accumulators that plans name."""
        rows = [
            (accumulator_id, value, (accumulator_id, value.stage_id, value.stage_attempt))
            for accumulator_id, values in self._values.items()
            for value in values
        ]
        rows.sort(key=lambda row: (row[1][:2], row[0]))
        sql = self._sql | of_plans
        return ACCUMULABLES.from_columns(
            {
                "stage_id": [value.stage_id for _, value, _ in rows],
                "stage_attempt": [value.stage_attempt for _, value, _ in rows],
                "accumulator_id": [accumulator_id for accumulator_id, _, _ in rows],
                "name": [self._redactor.text(self._names[accumulator_id]) for accumulator_id, _, _ in rows],
                "kind": ["sql" if accumulator_id in sql else "user" for accumulator_id, _, _ in rows],
                "value": [value.value for _, value, _ in rows],
                "text": [self._texts.get(key) for _, _, key in rows],
            }
        )


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
