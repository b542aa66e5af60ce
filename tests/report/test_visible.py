from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.report.visible import clipped, tail, visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("plain words\n\tand tabs", "plain words\n\tand tabs"),
        ("\x1b[31mred\x00\x7f", "␛[31mred␀␡"),
        ("a\x9bb", "a\ufffdb"),
        ("evil\u202egnp.exe", "evil[U+202E]gnp.exe"),
        ("half \ud800 pair", "half \ufffd pair"),
        ("שלום", "שלום"),
        ("é 𝒳", "é 𝒳"),
    ],
)
def test_what_acts_is_seen(text: str, seen: str) -> None:
    assert visible(text) == seen


@given(st.text(st.characters(exclude_categories=())))
def test_prop_all_is_utf8_and_stays_as_it_is(text: str) -> None:
    once = visible(text)
    once.encode("utf-8")
    assert visible(once) == once


@given(st.text(), st.integers(10, 50))
def test_prop_clipping_keeps_both_ends(text: str, most: int) -> None:
    short = clipped(text, most)
    assert short == text or (text.startswith(short[: most // 2]) and text.endswith(short[-most // 4 :]))
    assert len(short) <= most + 60
    assert len(tail(text, most)) <= most
