"""Thread CPU time shared out to samples: a task's samples sum to what its thread used, whatever they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.attribute import intervals
from emberscope.profile.calibrate import ThreadCpu, calibrate, calibrated_samples
from emberscope.tables.samples import SAMPLES
from emberscope.tables.spans import SPANS

PLACES = [("executor", "1"), ("executor", "2"), ("driver", "driver")]

TASKS = st.lists(
    st.fixed_dictionaries(
        {
            "place": st.sampled_from(PLACES),
            "stage_id": st.integers(0, 2),
            "stage_attempt": st.integers(0, 1),
            "cpu_ns": st.none() | st.integers(0, 10**13),
            "ended": st.booleans(),
            "counts": st.lists(st.integers(0, 50), max_size=6),
            "beside": st.lists(st.integers(1, 9), max_size=2),
        }
    ),
    max_size=8,
)


def tables(found: list[dict[str, Any]]) -> tuple[pa.Table, pa.Table, list[int | None]]:
    """Spans and samples of the tasks, with the task that each sample counts for; those of no task among them."""
    spans, samples, owners = [], [], []
    for task_id, task in enumerate(found):
        role, executor = task["place"]
        common = {"role": role, "executor_id": executor, "task_id": task_id}
        stage = {name: task[name] for name in ("stage_id", "stage_attempt")}
        start = {**common, **stage, "thread_id": task_id, "start_ns": 100 * task_id, "cpu_start_ns": 5}
        spans.append({**start, "end_ns": None})
        if task["ended"]:
            spans.append({**start, "end_ns": 100 * task_id + 50, "cpu_ns": task["cpu_ns"]})
        for in_span, counts in ((True, task["counts"]), (False, task["beside"])):
            for count in counts:
                samples.append({**common, **stage, "event": "cpu", "count": count, "in_span": in_span})
                owners.append(task_id if in_span else None)
        samples.append({**common, **stage, "event": "alloc", "count": 3, "value": 77, "in_span": True})
        samples.append({"role": role, "executor_id": executor, "event": "cpu", "count": 2})
        owners += [None, None]
    order = np.random.default_rng(len(samples)).permutation(len(samples))
    rows = [{"stack": 0, "time_ns": 1, **samples[place]} for place in order]
    return SPANS.from_rows(spans), SAMPLES.from_rows(rows), [owners[place] for place in order]


@given(TASKS)
def test_the_samples_of_a_task_sum_to_its_thread(found: list[dict[str, Any]]) -> None:
    spans, samples, owners = tables(found)
    result = calibrate(samples, spans)
    counts = samples["count"].to_pylist()
    sums = [0] * len(found)
    for owner, count, weight in zip(owners, counts, result.weights.tolist(), strict=True):
        task = None if owner is None else found[owner]
        if task is None or not task["ended"] or task["cpu_ns"] is None or not count:
            assert weight == -1
            continue
        assert owner is not None
        sums[owner] += weight
        share = task["cpu_ns"] * count / sum(task["counts"])
        assert abs(weight - share) <= 1 + 1e-12 * task["cpu_ns"]
    for total, task in zip(sums, found, strict=True):
        measured = task["ended"] and task["cpu_ns"] is not None and sum(task["counts"])
        assert total == (task["cpu_ns"] if measured else 0)
    kept = calibrated_samples(samples, result)
    assert kept["value"].to_pylist() == [weight for weight in result.weights.tolist() if weight >= 0]
    assert set(kept["event"].to_pylist()) <= {"cpu"}


@given(TASKS)
def test_what_was_not_seen_is_told_and_all_adds_up(found: list[dict[str, Any]]) -> None:
    spans, samples, _ = tables(found)
    result = calibrate(samples, spans)
    for key, told in result.stages.items():
        mine = [task for task in found if (task["stage_id"], task["stage_attempt"]) == key]
        known = [task for task in mine if task["ended"] and task["cpu_ns"] is not None]
        unseen = [task for task in known if not sum(task["counts"])]
        assert told == ThreadCpu(
            len(known),
            sum(task["cpu_ns"] for task in known),
            sum(task["cpu_ns"] for task in known if sum(task["counts"])),
            sum(task["cpu_ns"] for task in unseen),
            sum(task["cpu_ns"] > 0 for task in unseen),
            len(mine) - len(known),
        )
    whole = result.whole
    assert whole.cpu_ns == whole.in_samples_ns + whole.not_seen_ns
    assert whole.tasks + whole.tasks_not_measured == len(found)


def test_a_task_that_is_sighted_again_by_a_later_engine_has_used_what_it_used_since_the_first() -> None:
    one = {"role": "executor", "executor_id": "1", "thread_id": 4, "task_id": 9, "stage_id": 1, "stage_attempt": 0}
    rows = [
        {**one, "start_ns": 10, "cpu_start_ns": 100},
        {**one, "start_ns": 50, "cpu_start_ns": 400},
        {**one, "start_ns": 50, "end_ns": 90, "cpu_start_ns": 400, "cpu_ns": 250},
    ]
    (task,) = intervals(SPANS.from_rows(rows)).to_pylist()
    assert (task["start_ns"], task["end_ns"], task["cpu_start_ns"], task["cpu_ns"]) == (10, 90, 100, 550)


def test_spans_of_an_older_recorder_calibrate_nothing() -> None:
    spans = SPANS.from_rows([{"role": "executor", "executor_id": "1", "thread_id": 1, "task_id": 1, "stage_id": 3,
                              "stage_attempt": 0, "start_ns": 0, "end_ns": 9}])  # fmt: skip
    samples = SAMPLES.from_rows([{"role": "executor", "executor_id": "1", "task_id": 1, "event": "cpu", "count": 1,
                                  "in_span": True, "stack": 0}])  # fmt: skip
    result = calibrate(samples, spans)
    assert result.weights.tolist() == [-1]
    assert result.whole == ThreadCpu(tasks_not_measured=1)
    assert not calibrate(samples, SPANS.empty()).stages
