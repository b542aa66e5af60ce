"""Stacks, lines, numbers and values as another reader expects them of its own test recordings.

Those in tests/data, and where it is there the corpus of public recordings: the directory that `CORPUS` names in the
environment, or `../shared/corpus` beside the checkout.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.jfr.expected_stacks import SUFFIX, difference, expected, kind_of, ticks_per_second
from tests.jfr.recordings import DATA

CORPUS = Path(os.environ.get("CORPUS", DATA.parents[3] / "shared" / "corpus"))
KEPT = sorted(DATA.glob(f"*{SUFFIX}"))
PUBLIC = [
    file
    for file in sorted(CORPUS.glob(f"jfr/*/*{SUFFIX}"))
    if file.name.replace(" ", "_") not in {kept.name for kept in KEPT}
]


@pytest.mark.parametrize("file", [*KEPT, *PUBLIC], ids=lambda file: "-".join(map(str, kind_of(file))))
def test_stacks_are_as_expected(file: Path) -> None:
    assert difference(file) == ""


def test_the_expectations_are_read_whole() -> None:
    totals = {}
    for file in KEPT:
        name, event, variant = kind_of(file)
        stacks = expected(file, event, ticks_per_second(file.with_name(f"{name}.jfr.gz")))
        totals[name.rsplit("_", 1)[-1], variant] = (stacks.counts.total(), stacks.values.total())
    assert totals == {
        ("180855", "sampled"): (6, 4_689_568),
        ("3", "in_new_tlab"): (667, 1_398_800_384),
        ("3", None): (0, 5_020_000_000),
    }
