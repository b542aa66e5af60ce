"""What is kept comes back as it was, wherever it lay."""

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.eventlog import rows
from emberscope.eventlog.rows import Kept, rows_with

PAIRS = st.tuples(st.sampled_from([-1, 0, 1, 2, 3, 2**31 - 1]), st.integers(0, 2))
VALUES = st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.text(max_size=5), st.lists(st.integers(0, 9)))
STEPS = st.lists(st.tuples(PAIRS, st.sampled_from(["a", "b", "drop", "heavy"]), VALUES), max_size=40)


@given(steps=STEPS, at_hand=st.integers(1, 3))
def test_rows_in_a_file_are_those_in_memory(steps: list[tuple[tuple[int, int], str, Any]], at_hand: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "AT_HAND", at_hand)
        kept, whole = Kept(rows_with(["a", "b"]), io.BytesIO()), Kept(rows_with(["a", "b"]), None)
        expected: dict[tuple[int, int], dict[str, Any]] = {}
        for pair, what, value in steps:
            if what == "drop":
                for each in (kept, whole):
                    each.drop(*pair)
                expected.pop(pair, None)
            else:
                weight = 1 << 30 if what == "heavy" else 0
                for row in (kept.of(*pair, weight=weight), whole.of(*pair), expected.setdefault(pair, {})):
                    row["a" if what == "heavy" else what] = value
            assert len(kept._at_hand) <= at_hand
    for each in (kept, whole):
        assert {pair: _known(each.take(*pair)) for pair in zip(*(n.tolist() for n in each.pairs()), strict=True)} == {
            pair: _known(row) for pair, row in expected.items()
        }
        assert all(each.holds(*pair) and each.find(*pair) is not None for pair in expected)
        assert not each.holds(7, 7)
        assert each.find(7, 7) is None
        with pytest.raises(KeyError):
            each.take(7, 7)
        for pair in expected:
            each.take(*pair, last=True)
        assert not len(each.pairs()[0])


def _known(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}
