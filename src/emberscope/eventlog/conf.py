"""Settings of the application, from EnvironmentUpdate and the SQL executions' own changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
import pyarrow as pa

from emberscope.eventlog.events import EnvironmentUpdate
from emberscope.eventlog.rows import Files, Kept, Packing
from emberscope.redact import Redactor
from emberscope.tables.conf import CONF

PART_ROWS: Final = 1 << 14


class Settings:
    """Collects settings by scope; of repeated updates (Databricks writes one per file) the last value stays.

    With `files` those of SQL executions lie there; without `keep` they are not kept.
    """

    def __init__(self, redactor: Redactor, files: Files | None = None, *, keep: bool = True) -> None:
        self._redactor = redactor
        self._keep = keep
        self._in_parts = files is not None
        self._values: dict[tuple[str, str], str] = {}
        encode, decode = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder(dict[str, str]).decode
        self._of_sql: Kept[dict[str, str]] = Kept(Packing(dict, encode, decode), files and files())

    def add(self, update: EnvironmentUpdate) -> None:
        if regex := update.spark.get("spark.redaction.regex"):
            self._redactor.follow(regex)
        for scope, values in (
            ("spark", update.spark),
            ("hadoop", update.hadoop),
            ("jvm", update.jvm),
            ("jvm", update.system),
        ):
            for key, value in values.items():
                self._values[scope, key] = self._redactor.setting(key, value)

    def add_sql(self, execution_id: int, values: dict[str, str]) -> None:
        clean = {key: self._redactor.setting(key, value) for key, value in values.items()}
        if self._keep:
            self._of_sql.of(execution_id).update(clean)

    def get(self, scope: str, key: str) -> str | None:
        return self._values.get((scope, key))

    def keys(self) -> set[str]:
        """The keys of all settings of the application, of whatever scope."""
        return {key for _, key in self._values}

    def tables(self) -> Iterator[pa.Table]:
        """The table `conf`; with files in parts."""
        rows: list[tuple[str, str, str, int | None]] = [
            (key, value, scope, None) for (scope, key), value in self._values.items()
        ]
        for execution_id in self._of_sql.pairs()[0].tolist():
            rows += [(key, value, "sql", execution_id) for key, value in self._of_sql.take(execution_id).items()]
            if self._in_parts and len(rows) >= PART_ROWS:
                yield _table(rows)
                rows = []
        yield _table(rows)


def _table(rows: list[tuple[str, str, str, int | None]]) -> pa.Table:
    names = ("key", "value", "scope", "sql_execution_id")
    return CONF.from_columns({name: [row[at] for row in rows] for at, name in enumerate(names)})
