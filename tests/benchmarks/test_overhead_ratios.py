from __future__ import annotations

import math

import pytest
from benchmarks.overhead_ratios import ratio
from hypothesis import given
from hypothesis import strategies as st

VALUES = st.floats(min_value=1.0, max_value=1e4)


def test_pairs_that_all_say_the_same() -> None:
    found = ratio([(1.02 * base, base) for base in (10.0, 20.0, 40.0)])
    assert (found.mean, found.low, found.high, found.upper) == pytest.approx((1.02,) * 4)


def test_one_pair_has_no_interval() -> None:
    found = ratio([(3.0, 2.0)])
    assert found.mean == pytest.approx(1.5)
    assert math.isnan(found.low)
    assert math.isnan(found.t_high)


def test_students_interval_of_a_textbook_case() -> None:
    # Logarithms -0.1, 0, 0.1: mean 0, deviation 0.1, and 4.303 × 0.1 / √3 = 0.2484.
    found = ratio([(math.exp(log), 1.0) for log in (-0.1, 0.0, 0.1)])
    assert math.log(found.t_high) == pytest.approx(0.24843, abs=1e-4)


@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=12))
def test_the_interval_is_around_the_mean_and_within_the_pairs(pairs: list[tuple[float, float]]) -> None:
    found = ratio(pairs)
    ratios = [value / base for value, base in pairs]
    slack = 1 + 1e-9
    assert min(ratios) / slack <= found.low <= found.mean * slack
    assert found.mean / slack <= found.high <= max(ratios) * slack
    assert found.upper >= found.high
