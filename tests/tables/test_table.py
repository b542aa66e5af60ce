import numpy as np
import pyarrow as pa
import pytest

from emberscope.tables.table import Column, Table

PETS = Table(
    "pets",
    "one pet",
    (
        Column("name", "category", "name", "what it is called", "collar"),
        Column("weight_g", "int64", "g", "how heavy", "scales"),
        Column("toys", "list<int32>", "ids", "its toys", "basket"),
    ),
)


def test_from_columns_fills_absent_columns_with_null() -> None:
    table = PETS.from_columns({"weight_g": np.array([1, 2])})
    assert table.schema.equals(PETS.schema())
    assert table.to_pylist() == [
        {"name": None, "weight_g": 1, "toys": None},
        {"name": None, "weight_g": 2, "toys": None},
    ]


def test_from_columns_takes_lists_arrow_and_categories() -> None:
    table = PETS.from_columns(
        {"name": ["a", None, "a"], "weight_g": pa.array([1, 2, 3], pa.int32()), "toys": [[1], [], None]}
    )
    assert table["name"].to_pylist() == ["a", None, "a"]
    assert table["toys"].to_pylist() == [[1], [], None]


def test_from_columns_refuses_a_column_the_table_lacks() -> None:
    with pytest.raises(KeyError, match="colour"):
        PETS.from_columns({"colour": ["red"]})


def test_from_rows_takes_rows_with_different_keys() -> None:
    rows = [{"name": "a"}, {"weight_g": 5}]
    assert PETS.from_rows(rows).to_pylist() == [
        {"name": "a", "weight_g": None, "toys": None},
        {"name": None, "weight_g": 5, "toys": None},
    ]


def test_empty_has_the_schema_with_units() -> None:
    schema = PETS.empty().schema
    assert schema.field("weight_g").metadata[b"unit"] == b"g"
    assert schema.metadata[b"table"] == b"pets"
