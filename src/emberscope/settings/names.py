"""Names of settings that are wrong: what was probably meant, and what became of old ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from emberscope.settings.catalog import OPEN, Setting, Version, lines, setting_of


@cache
def _bare() -> Mapping[str, str]:
    """Every registered name by its letters and digits alone."""
    return {bare(key): key for key, line in lines().items() if not line.startswith("unregistered", len(key) + 1)}


def bare(key: str) -> str:
    """A name without what people get wrong first: capitals, dots, dashes."""
    return re.sub(r"[^a-z0-9]", "", key.lower())


def meant(key: str, version: Version) -> Setting | None:
    """The setting that a name which Spark does not know was probably to be: the same letters, or one letter or two
    that are wrong, missing, added or swapped in a long name. None where nothing is that near, or where users and
    vendors make up names."""
    if setting_of(key) is not None or OPEN.match(key):
        return None
    letters = bare(key)
    same = _bare().get(letters)
    if same is not None:
        return _in(same, version)
    # A letter in four words is a slip; in a short name it may be another word.
    most = 2 if len(letters) >= 24 else 1 if len(letters) >= 14 else 0
    best: tuple[int, str] | None = None
    for other, name in _bare().items():
        if most and abs(len(other) - len(letters)) <= most and _family(other) == _family(letters):
            far = distance(letters, other, most)
            if far is not None and (best is None or far < best[0]):
                best = (far, name)
    return _in(best[1], version) if best else None


def _in(key: str, version: Version) -> Setting | None:
    setting = setting_of(key)
    return setting if setting is not None and setting.is_in(version) and setting.replaced is None else None


def _family(letters: str) -> str:
    """The first letters behind `spark.`, which a slip seldom hits."""
    return letters[5:8]


def distance(a: str, b: str, most: int) -> int | None:
    """How many letters are to be changed, added, dropped or swapped with the next to make `b` of `a`; None beyond
    `most`."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        last, row, older = row, [i], before
        for j, other in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and a[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return None
        before = last
    return row[-1] if row[-1] <= most else None
