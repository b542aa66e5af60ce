from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from emberscope.settings.conditions import about, condition_of, fault, is_condition, parameters_of

TOOL = Path(__file__).parents[2] / "tools" / "settings" / "conditions.py"
DATA = Path(__file__).parents[2] / "src" / "emberscope" / "settings" / "conditions.tsv"


def test_every_line_has_its_fields() -> None:
    for line in DATA.read_text().splitlines():
        assert line.count("\t") == 4


@pytest.mark.parametrize(
    ("name", "message", "values"),
    [
        # Messages that Spark 4 prints, from its documentation of error conditions and from bug reports.
        (
            "CAST_INVALID_INPUT",
            'The value \'abc\' of the type "STRING" cannot be cast to "INT" because it is malformed. Correct the value',
            {"expression": "'abc'", "sourceType": '"STRING"', "targetType": '"INT"'},
        ),
        (
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
            "A column, variable, or function parameter with name `nme` cannot be resolved. Did you mean one of the "
            "following? [`name`, `id`]. SQLSTATE: 42703",
            {"objectName": "nme", "proposal": "`name`, `id`"},
        ),
        ("DIVIDE_BY_ZERO", "some other words of another version", {}),
        ("TABLE_OR_VIEW_NOT_FOUND", "The table or view `db`.`t` cannot be found. Verify", {"relationName": "`db`.`t`"}),
    ],
)
def test_parameters_are_found_again_in_a_message(name: str, message: str, values: dict[str, str]) -> None:
    assert parameters_of(name, message) == values


def test_whose_matter_it_is() -> None:
    assert [fault(state) for state in ("42703", "22012", "XX000", "58030", "38000", "99999", "")] == [
        "query",
        "data",
        "spark",
        "environment",
        "code",
        "unknown",
        "unknown",
    ]
    assert about("22012") == "values in the data"


def test_a_subclass_of_a_vendor_is_what_stands_above_it() -> None:
    condition = condition_of("UNRESOLVED_COLUMN.NEVER_HEARD")
    assert condition is not None
    assert (condition.name, condition.sqlstate) == ("UNRESOLVED_COLUMN", "42703")
    assert condition_of("NEVER_HEARD") is None
    assert not is_condition("INFO")
    assert is_condition("DIVIDE_BY_ZERO")


def test_the_data_agrees_with_the_spark_that_is_here() -> None:
    """Every condition in the jars of this Spark is in the data with its SQLSTATE, but those of the legacy names."""
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    (jar,) = (Path(spec.origin).parent / "jars").glob("spark-common-utils_*.jar")
    with zipfile.ZipFile(jar) as members:
        document = json.loads(members.read("error/error-conditions.json"))
    wanted = {name: entry.get("sqlState", "") for name, entry in document.items() if not name.startswith("_LEGACY_")}
    assert len(wanted) > 500
    got = {name: condition.sqlstate for name in wanted if (condition := condition_of(name)) is not None}
    assert got == wanted


def test_the_tool_writes_what_the_jars_hold() -> None:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    jars = str(Path(spec.origin).parent / "jars")
    done = subprocess.run([sys.executable, str(TOOL), jars], capture_output=True, text=True, check=True)
    lines = {line.split("\t")[0]: line.split("\t") for line in done.stdout.splitlines()}
    assert lines["DIVIDE_BY_ZERO"][1] == "22012"
    assert "<expression>" in lines["CAST_INVALID_INPUT"][4]
