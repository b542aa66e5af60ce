"""The page of docs/ that lists all tables, made from the tables themselves."""

from __future__ import annotations

from typing import Final

from emberscope.tables.catalog import TABLES
from emberscope.tables.table import Table

_HEAD: Final = """# Tables

Made from `src/emberscope/tables/` by `make docs`. A value that is not known is null, never zero. A table that an input
cannot give is absent; one that it could give and did not fill is empty. Types are Arrow's; a `category` is a dictionary
of strings, and where its values are few, the unit lists them.
"""


def tables_page() -> str:
    """Markdown: one section for each table, one row for each column."""
    return _HEAD + "".join(_section(table) for table in TABLES)


def _section(table: Table) -> str:
    rows = [" | ".join([f"| `{name}`", *map(_cell, texts)]) + " |" for name, *texts in table.columns]
    head = "| column | type | unit | meaning | source |\n|---|---|---|---|---|\n"
    return f"\n## {table.name}\n\nOne row is {table.doc}.\n\n{head}" + "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")
