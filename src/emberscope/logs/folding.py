"""Records that differ in numbers and names alone become one row with a count, in memory that does not grow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

MOST_TEXT: Final = 8000
MOST_ROWS: Final = 20_000
"""Kinds of records; more are counted and not kept."""
MOST_OF_ONE: Final = 400
"""Rows of the same signatures, each with its own figures; later ones count to the last."""

_NUMBERS: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0x[0-9a-f]+|\b[0-9a-f]{16,}\b"
    r"|(?:ip-|host-|i-)[\w.-]+|\d+(?:[.,:]\d+)*",
    re.IGNORECASE,
)


class Folded(Struct):
    """A row of `log_events` in the making."""

    values: dict[str, Any]
    time_ms: int | None
    last_ms: int | None
    count: int = 1

    def again(self, time_ms: int | None, count: int = 1) -> None:
        self.count += count
        if time_ms is not None:
            self.time_ms = time_ms if self.time_ms is None else min(self.time_ms, time_ms)
            self.last_ms = time_ms if self.last_ms is None else max(self.last_ms, time_ms)


class Folding:
    """The rows so far. `beyond` counts records that were of one kind too many."""

    def __init__(self) -> None:
        self.rows: list[Folded] = []
        self._by_key: dict[tuple[Any, ...], Folded] = {}
        self._of_signatures: dict[tuple[str, ...], int] = {}
        self.beyond = 0

    def add(
        self,
        values: dict[str, Any],
        time_ms: int | None,
        fields: Mapping[str, Mapping[str, Any]],
        causes: Sequence[str],
    ) -> Folded | None:
        """One record; the row that it became or was added to."""
        key = self._key(values, fields, causes)
        known = self._by_key.get(key)
        if known is None and fields:
            names = tuple(fields)
            if self._of_signatures.get(names, 0) >= MOST_OF_ONE:
                key = (names,)
                known = self._by_key.get(key)
            self._of_signatures[names] = self._of_signatures.get(names, 0) + 1
        if known is not None:
            known.again(time_ms)
            return known
        if len(self.rows) >= MOST_ROWS:
            self.beyond += 1
            return None
        values["fields"] = json.dumps(fields, ensure_ascii=False) if fields else None
        values["signatures"] = list(fields)
        row = Folded(values, time_ms, time_ms)
        self.rows.append(row)
        self._by_key[key] = row
        return row

    def is_full(self, row: Folded) -> bool:
        """Whether further records with its signatures are counted to it, whatever their figures."""
        return self._by_key.get((tuple(row.values["signatures"]),)) is row

    @staticmethod
    def _key(
        values: Mapping[str, Any], fields: Mapping[str, Mapping[str, Any]], causes: Sequence[str]
    ) -> tuple[Any, ...]:
        exception = causes[-1].partition(":")[0] if causes else None
        if not fields and values["level"] == "INFO":
            return (values["message"], values["file"], values["executor_id"])
        if not fields:
            return (values["level"], values["logger"], kind_of_message(values["message"]), exception)
        said = tuple((name, *sorted((k, v) for k, v in group.items() if k[0] != "@")) for name, group in fields.items())
        return (said, values["logger"], values["file"], values["executor_id"], kind_of_message(values["message"]))


def kind_of_message(message: str) -> str:
    """A message without what differs from one time to the next."""
    return _NUMBERS.sub("#", message[:400])
