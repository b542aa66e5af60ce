"""Runs that were recorded on real Spark (tests/data/stacks)."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq

from emberscope.tables.catalog import TABLES
from emberscope.tables.coverage import Coverage
from emberscope.tables.run import Application, Run

DATA = Path(__file__).parents[2] / "data" / "stacks"


@cache
def recorded(name: str) -> Run:
    """A run with the tables of its archive."""
    by_name = {table.name: table for table in TABLES}
    with zipfile.ZipFile(DATA / f"{name}.zip") as archive:
        said = json.loads(archive.read("run.json"))
        tables = {}
        for member in archive.namelist():
            if member.endswith(".parquet"):
                rows = pq.read_table(io.BytesIO(archive.read(member)))
                table = by_name[member.removesuffix(".parquet")]
                tables[table.name] = table.from_columns({column: rows[column] for column in rows.column_names})
    period = said.pop("sample_period_ns")
    application = Application(app_id=name, complete=True, **said)
    return Run(name, application, tables, Coverage(), recorder={"sample_period_ns": period})
