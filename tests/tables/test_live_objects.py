"""Live objects of many looks, against the same rule written one site at a time."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from emberscope.tables.live_objects import OLD, at_most
from emberscope.tables.samples import SAMPLES

ROW = st.fixed_dictionaries(
    {
        "event": st.just("live"),
        "variant": st.sampled_from([OLD, OLD, OLD, None]),
        "role": st.sampled_from(["driver", "executor", None]),
        "executor_id": st.sampled_from(["1", "2", None]),
        "object_class": st.sampled_from(["a.A", "b.B", None]),
        "stack": st.integers(0, 2),
        "time_ns": st.integers(0, 3),
    }
)


@given(st.lists(st.tuples(ROW, st.integers(0, 4))))
def test_prop_of_each_site_one_look_remains_that_with_the_most(given_rows: list) -> None:
    rows = [row for row, _ in given_rows]
    looks = np.array([look for _, look in given_rows], np.int64)
    names = ["event", "variant", "role", "executor_id", "object_class", "stack", "time_ns"]
    kept = at_most(SAMPLES.from_rows(rows), looks).select(names).to_pylist()

    def site(row: dict) -> tuple:
        return tuple(row[name] for name in ("role", "executor_id", "object_class", "stack"))

    seen: dict[tuple, Counter[int]] = {}
    for row, look in given_rows:
        if row["variant"] == OLD:
            seen.setdefault(site(row), Counter())[look] += 1
    best = {key: max(counts, key=lambda look: (counts[look], look)) for key, counts in seen.items()}
    expected = [row for row, look in given_rows if row["variant"] != OLD or best[site(row)] == look]
    assert kept == expected


def test_what_lives_through_many_looks_is_one_object() -> None:
    row = {"event": "live", "variant": OLD, "role": "executor", "executor_id": "1", "object_class": "a.A", "stack": 1}
    rows = [{**row, "time_ns": 100 + jitter} for jitter in (0, 1, -1)]
    kept = at_most(SAMPLES.from_rows(rows), np.arange(3)).to_pylist()
    assert [each["time_ns"] for each in kept] == [99], "its last sighting"
