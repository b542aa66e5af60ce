"""Laws of the vocabulary, looped over every table."""

import pytest

from emberscope.tables.catalog import TABLES
from emberscope.tables.table import Table


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.name)
def test_every_column_says_type_unit_meaning_and_source(table: Table) -> None:
    assert table.doc
    names = [column.name for column in table.columns]
    assert len(names) == len(set(names))
    for column in table.columns:
        assert all((column.unit, column.doc, column.source)), column.name
        assert column.arrow_type() is not None


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.name)
def test_the_unit_is_part_of_a_numbers_name(table: Table) -> None:
    for column in table.columns:
        for unit, suffix in (
            ("ms", "_ms"),
            ("epoch ms", "_ms"),
            ("ns", "_ns"),
            ("epoch ns", "_ns"),
            ("bytes", "_bytes"),
        ):
            if column.unit == unit:
                assert column.name.endswith(suffix), (table.name, column.name)


def test_table_names_are_unique() -> None:
    assert len({table.name for table in TABLES}) == len(TABLES)
