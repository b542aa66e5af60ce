"""Settings of the application, from EnvironmentUpdate and the SQL executions' own changes."""

from __future__ import annotations

import pyarrow as pa

from emberscope.eventlog.events import EnvironmentUpdate
from emberscope.redact import Redactor
from emberscope.tables.conf import CONF


class Settings:
    """Collects settings by scope; of repeated updates (Databricks writes one per file) the last value stays."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._values: dict[tuple[str, int | None, str], str] = {}

    def add(self, update: EnvironmentUpdate) -> None:
        if regex := update.spark.get("spark.redaction.regex"):
            self._redactor.follow(regex)
        for scope, values in (
            ("spark", update.spark),
            ("hadoop", update.hadoop),
            ("jvm", update.jvm),
            ("jvm", update.system),
        ):
            self._put(scope, None, values)

    def add_sql(self, execution_id: int, values: dict[str, str]) -> None:
        self._put("sql", execution_id, values)

    def _put(self, scope: str, execution_id: int | None, values: dict[str, str]) -> None:
        for key, value in values.items():
            self._values[scope, execution_id, key] = self._redactor.setting(key, value)

    def get(self, scope: str, key: str) -> str | None:
        return self._values.get((scope, None, key))

    def table(self) -> pa.Table:
        """The table `conf`."""
        return CONF.from_columns(
            {
                "key": [key for _, _, key in self._values],
                "value": list(self._values.values()),
                "scope": [scope for scope, _, _ in self._values],
                "sql_execution_id": [execution_id for _, execution_id, _ in self._values],
            }
        )
