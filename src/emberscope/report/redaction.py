"""A run as it can be handed on: pseudonyms for hosts, users, paths and the application's name, no literals of SQL.

All that is told of a run comes from its tables, so that these are what is redacted, before anything is made of them.
The frames of recorded code and classes of objects stay: without them a flame graph says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from emberscope.report.pseudonyms import LITERAL, Pseudonyms
from emberscope.tables.coverage import Coverage, Note

if TYPE_CHECKING:
    import pyarrow as pa

    from emberscope.tables.run import Run

_AS_THEY_ARE: Final = frozenset({"frames", "stacks", "series", "plan_metrics", "accumulables", "executor_metrics"})
_KEPT: Final = frozenset(
    {
        *("executor_id", "status", "event", "variant", "state", "kind", "role", "object_class", "locality", "scope"),
        *("error_class", "server", "storage_level", "metric_type", "resource", "source", "session_id", "statement_id"),
        *("query_id", "run_id", "streaming_query_id", "container_id", "key", "mark", "outcome"),
    }
)
_PLANS: Final = frozenset({"physical_plan", "detail"})
_STATEMENTS: Final = frozenset({"description", "text", "name", "sources", "sink"})

# Settings of Spark that say where or whose it is, and the prefixes of Spark's own: values of all others are left out.
_WHOSE: Final = re.compile(
    r"label|annotation|namespace|serviceAccount|container\.image|queue|principal|keytab|\.tags|job\.?group|description"
    r"|callerContext|uuid|tenant|subscription|project|account",
    re.IGNORECASE,
)
_OWN: Final = re.compile(
    r"spark\.(?:app|barrier|blacklist|broadcast|buffer|checkpoint|cleaner|connect|decommission|default|deploy|driver"
    r"|dynamicAllocation|emberscope|eventLog|excludeOnFailure|executor|executorEnv|extraListeners|files|hadoop|history"
    r"|io|jars|kryo|kryoserializer|kubernetes|launcher|locality|log|master|memory|metrics|network|plugins|port"
    r"|pyspark|python|rdd|reducer|redaction|repl|resources|rpc|scheduler|serializer|shuffle|speculation|sql|stage"
    r"|storage|streaming|submit|task|ui|unsafe|worker|yarn)\b"
)
_PLAIN: Final = re.compile(r"(?:true|false|-?\d+(?:\.\d+)?\s?[A-Za-z]{0,3})", re.IGNORECASE)


def redacted(run: Run) -> Run:
    """The run without what says whose it is; its coverage says that it was redacted."""
    names = Pseudonyms()
    _learn(run, names)
    tables = {name: _table(name, table, names) for name, table in run.tables.items()}
    application = replace(
        run.application,
        app_name=None if run.application.app_name is None else "application",
        user=None if run.application.user is None else names.of("user", run.application.user),
        master=None if run.application.master is None else names.text(run.application.master),
    )
    return replace(
        run,
        path="run",
        application=application,
        tables=tables,
        coverage=_coverage(run, names),
        recordings=tuple(
            replace(facts, path=facts.path.rpartition("/")[2], coverage=Coverage()) for facts in run.recordings
        ),
        recorder={k: names.text(v) if isinstance(v, str) else v for k, v in run.recorder.items()},
    )


def _learn(run: Run, names: Pseudonyms) -> None:
    """Hosts in the order in which their executors came, users, and the application's name."""
    for table in ("executors", "tasks", "running_tasks", "samples", "executor_events", "marks", "spans", "log_events"):
        rows = run.tables.get(table)
        if rows is not None and rows.num_rows:
            for host in rows["host"].unique().to_pylist():
                names.know("host", host)
    for key in ("spark.driver.host", "spark.driver.bindAddress"):
        names.know("host", run.setting(key))
    names.know("user", run.application.user)
    names.know("user", run.setting("user.name", "jvm"))
    for table in ("sessions", "statements"):
        rows = run.tables.get(table)
        for user in [] if rows is None else rows["user"].unique().to_pylist():
            names.know("user", user)
    names.know("application", run.application.app_name)


def _table(name: str, table: pa.Table, names: Pseudonyms) -> pa.Table:
    if name in _AS_THEY_ARE:
        return table
    if name == "conf":
        keys, values = table["key"].to_pylist(), table["value"].to_pylist()
        new = [None if v is None else setting(k or "", v, names) for k, v in zip(keys, values, strict=True)]
        return _with(table, "value", new)
    for column in table.column_names:
        clean = _rule(name, column, names)
        if clean is not None and _holds_text(table[column]):
            table = _cleaned(table, column, clean)
    return table


def _rule(table: str, column: str, names: Pseudonyms) -> Callable[[str], str] | None:
    """What a column's texts go through; None for those that stay."""
    if column in ("host", "client_host"):
        return lambda text: names.of("host", text)
    if column == "user":
        return lambda text: names.of("user", text)
    if column in _KEPT:
        return None
    if column in _PLANS:
        return names.plan
    return names.statement if column in _STATEMENTS else names.text


def _holds_text(column: pa.ChunkedArray) -> bool:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _cleaned(table: pa.Table, column: str, clean: Callable[[str], str]) -> pa.Table:
    import pyarrow as pa

    values = table[column]
    if pa.types.is_dictionary(values.type):
        texts = [pa.array(_each(c.dictionary.to_pylist(), clean), pa.string()).take(c.indices) for c in values.chunks]
        encoded = pa.chunked_array(texts, pa.string()).dictionary_encode()
        return table.set_column(table.column_names.index(column), table.schema.field(column), encoded)
    if pa.types.is_list(values.type):
        return _with(table, column, [None if row is None else _each(row, clean) for row in values.to_pylist()])
    return _with(table, column, _each(values.to_pylist(), clean))


def _each(values: Iterable[str | None], clean: Callable[[str], str]) -> list[str | None]:
    return [None if value is None else clean(value) for value in values]


def _with(table: pa.Table, column: str, values: list[Any]) -> pa.Table:
    import pyarrow as pa

    field = table.schema.field(column)
    plain = pa.array(values, pa.string()).dictionary_encode() if pa.types.is_dictionary(field.type) else None
    return table.set_column(
        table.column_names.index(column), field, pa.array(values, field.type) if plain is None else plain
    )


def setting(key: str, value: str, names: Pseudonyms) -> str:
    """The value of a setting of this name: numbers and switches stay, what says whose or where it is does not."""
    if _PLAIN.fullmatch(value):
        return value
    if key == "spark.app.name":
        return "application"
    if key == "user.name":
        return names.of("user", value)
    if key.endswith((".host", ".bindAddress", "Host")):
        return names.of("host", value)
    if key.startswith("spark.") and (_WHOSE.search(key) or not _OWN.match(key)):
        return LITERAL
    return names.text(value)


def _coverage(run: Run, names: Pseudonyms) -> Coverage:
    def clean(text: str) -> str:
        return names.text(text.replace(run.path.rstrip("/") + "/", "").replace(run.path, "run"))

    notes = tuple(replace(note, message=clean(note.message), where=clean(note.where)) for note in run.coverage.notes)
    said = Note(
        "redacted",
        "Hosts, users, paths and the application's name are replaced by pseudonyms, literals of SQL and settings that "
        f"are not Spark's own by {LITERAL}. Frames of recorded code, names of columns and tables, and numbers are as "
        "they were.",
    )
    return Coverage((*notes, said))
