"""What Python packs, the browser unpacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from selenium import webdriver

from emberscope.report.assets import joined
from emberscope.report.columns import pack_columns
from tests.web.browser import chromium

BODY = joined(["flame/unpack.js", "columns.js"]).removeprefix("(() => {").removesuffix("})();\n")
ASK = """
const [packed, done] = arguments;
unpackColumns(packed).then((columns) => done(Object.entries(columns).map(([name, column]) =>
  [name, column instanceof Float64Array ? [...column].map((x) => (Number.isNaN(x) ? null : x))
    : column instanceof Int32Array ? [...column] : [...column.places].map((place) => column.values[place] ?? null)])),
  (error) => done(String(error)));
"""

INTS = st.lists(st.integers(-(2**31), 2**31 - 1))
FLOATS = st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False))
WORDS = st.lists(st.none() | st.text(st.characters(codec="utf-8")) | st.sampled_from(["</script>", '"', "\u202e", "𝒳"]))


@pytest.fixture(scope="module")
def browser() -> Any:
    with chromium() as browser:
        yield browser


@pytest.mark.browser
@given(ints=INTS, floats=FLOATS, words=WORDS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_columns_arrive_as_they_were(
    browser: webdriver.Chrome, ints: list[int], floats: list[float | None], words: list[str | None]
) -> None:
    packed = pack_columns(
        {
            "ints": np.array(ints, np.int64),
            "floats": np.array([math.nan if x is None else x for x in floats], np.float64),
            "words": words,
        }
    )
    arrived = browser.execute_async_script(BODY + ASK, packed)
    assert [name for name, _ in arrived] == ["ints", "floats", "words"]
    assert arrived[0][1] == ints
    assert arrived[1][1] == floats
    assert arrived[2][1] == words


def test_integers_beyond_32_bits_are_refused() -> None:
    with pytest.raises(ValueError, match="column a has integers beyond 32 bits"):
        pack_columns({"a": np.array([2**31], np.int64)})
