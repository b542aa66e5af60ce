"""Ratios of pairs, and how sure they are."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

RESAMPLES: Final = 20_000

# The 97.5 % point of Student's distribution for 1, 2, … degrees of freedom; beyond the last one that of 30 is used.
STUDENT: Final = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


@dataclass(frozen=True, slots=True)
class Ratio:
    """The geometric mean of the ratios of the pairs, and its 95 % interval by two ways. NaN where it takes more pairs.

    `low` to `high` is the bootstrap's, which says too little of the spread when pairs are few; `t_low` to `t_high` is
    Student's, which takes the logarithms of the ratios to be normal.
    """

    pairs: int
    mean: float
    low: float
    high: float
    t_low: float
    t_high: float

    @property
    def upper(self) -> float:
        """The upper end that a claim must hold at."""
        return max(self.high, self.t_high)


def ratio(pairs: Sequence[tuple[float, float]], *, seed: int = 1) -> Ratio:
    """Of (value, baseline) pairs; at least one."""
    logs = [math.log(value / baseline) for value, baseline in pairs]
    mean = statistics.fmean(logs)
    if len(logs) < 2:
        return Ratio(len(logs), math.exp(mean), *[math.nan] * 4)
    chance = random.Random(seed)
    means = sorted(statistics.fmean(chance.choices(logs, k=len(logs))) for _ in range(RESAMPLES))
    low, high = means[round(0.025 * RESAMPLES)], means[round(0.975 * RESAMPLES) - 1]
    spread = STUDENT[min(len(logs) - 1, len(STUDENT)) - 1] * statistics.stdev(logs) / math.sqrt(len(logs))
    return Ratio(len(logs), *map(math.exp, (mean, low, high, mean - spread, mean + spread)))
