"""Configuration of the application, redacted on the way in."""

from typing import Final

from emberscope.tables.table import Column, Table

CONF: Final = Table(
    "conf",
    "one setting",
    (
        Column("key", "string", "name", "setting", "EnvironmentUpdate"),
        Column("value", "string", "text", "value; secrets are replaced", "EnvironmentUpdate"),
        Column(
            "scope",
            "category",
            "spark hadoop jvm sql",
            "where it was set: Spark Properties, Hadoop Properties, JVM or System Properties, or one SQL execution",
            "EnvironmentUpdate, SQLExecutionStart.modifiedConfigs",
        ),
        Column(
            "sql_execution_id",
            "int64",
            "id",
            "the execution that changed it, where scope is sql",
            "SQLExecutionStart.modifiedConfigs",
        ),
    ),
)
