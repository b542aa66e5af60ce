from __future__ import annotations

import pytest

from emberscope.rules.plan.built_in import built_in_for


@pytest.mark.parametrize(
    ("function", "name"),
    [
        ("parse_date", "to_date"),
        ("to_upper", "upper"),
        ("toUpper", "upper"),
        ("md5", "md5"),
        ("sha256_hex", "sha2(column, 256)"),
        ("extract_json", "from_json, get_json_object or to_json"),
        ("days_between", "datediff"),
        ("weigh", None),
        ("<lambda>", None),
        ("predict", None),
        ("update_score", None),
    ],
)
def test_built_in(function: str, name: str | None) -> None:
    assert built_in_for(function) == name
