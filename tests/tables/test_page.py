"""The page of the tables is the tables."""

from pathlib import Path

from emberscope.tables.catalog import TABLES
from emberscope.tables.page import tables_page

ROOT = Path(__file__).parents[2]


def test_the_page_is_that_of_the_source() -> None:
    page = (ROOT / "docs" / "tables.md").read_text(encoding="utf-8")
    assert page == tables_page(), "run docs/generate.py"


def test_every_column_has_one_row_of_five_cells() -> None:
    rows = [line for line in tables_page().splitlines() if line.startswith("| `")]
    assert len(rows) == sum(len(table.columns) for table in TABLES)
    assert all(row.replace("\\|", "").count("|") == 6 for row in rows)
