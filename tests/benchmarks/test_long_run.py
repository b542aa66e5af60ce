"""How sure a slope is. The hour itself is `benchmarks/long_run.py`."""

from __future__ import annotations

import random
from itertools import accumulate

import pytest
from benchmarks.long_run import slope

TIMES = [float(n) for n in range(200)]


def test_a_straight_line_has_its_slope_and_no_doubt() -> None:
    assert slope(TIMES, [3 + 2 * time for time in TIMES]) == pytest.approx((2, 0), abs=1e-9)


def test_independent_looks_have_the_textbook_s_interval() -> None:
    chance = random.Random(8)
    rate, half = slope(TIMES, [0.5 * time + chance.gauss(0, 1) for time in TIMES])
    # A deviation of 1 over the root of the sum of squares of the times, 2 of them.
    assert half == pytest.approx(2 * 1 / (200 * (200**2 - 1) / 12) ** 0.5, rel=0.35)
    assert abs(rate - 0.5) < 3 * half


def test_looks_that_follow_each_other_tell_less_than_as_many_independent_ones() -> None:
    chance = random.Random(8)
    walk = list(accumulate(chance.gauss(0, 1) for _ in TIMES))
    mixed = chance.sample(walk, len(walk))
    assert slope(TIMES, walk)[1] > 2 * slope(TIMES, mixed)[1]
