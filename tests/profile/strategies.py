"""Samples, stacks and spans at random, as the tables hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from emberscope.tables.coverage import Coverage
from emberscope.tables.recording import Recording, RecordingFacts
from emberscope.tables.samples import SAMPLES
from emberscope.tables.series import SERIES
from emberscope.tables.spans import SPANS
from emberscope.tables.stack_tree import StackTree

TASK = "org.apache.spark.executor.Executor$TaskRunner.run"
NAMES = st.sampled_from(["a", "b", "c;d", "e\nf", "org.apache.spark.rdd.RDD.iterator", "Ü.m", "</script>\x00", TASK])
STACKS = st.lists(NAMES, max_size=6)
EVENTS = st.sampled_from(["cpu", "wall", "alloc"])


@st.composite
def rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Samples as dictionaries, the stack as a list of names, root first."""
    row = st.fixed_dictionaries(
        {
            "stack": STACKS,
            "event": EVENTS,
            "variant": st.sampled_from([None, "enter", "park"]),
            "count": st.integers(1, 5),
            "value": st.integers(0, 2**40),
            "stage_id": st.none() | st.integers(0, 3),
            "sql_execution_id": st.none() | st.integers(0, 1),
            "executor_id": st.none() | st.sampled_from(["1", "2"]),
            "stage_attempt": st.none() | st.integers(0, 1),
            "task_id": st.none() | st.integers(0, 12),
            "role": st.none() | st.sampled_from(["driver", "executor"]),
            "state": st.none() | st.sampled_from(["STATE_RUNNABLE", "STATE_SLEEPING"]),
            "time_ns": st.integers(0, 20),
        }
    )
    return draw(st.lists(row, max_size=12))


def recording(samples: Sequence[dict[str, Any]], *, tree: StackTree | None = None) -> Recording:
    """A recording of these samples, its stacks in `tree` or in one of its own."""
    tree = tree or StackTree()
    made = [{**row, "stack": tree.node([tree.frame(name) for name in row["stack"]])} for row in samples]
    stacks, frames = tree.tables()
    facts = RecordingFacts("x.jfr", "jfr", 1, (), {}, None, None, {}, (), Coverage())
    table = SAMPLES.from_rows(made) if made else SAMPLES.empty()
    return Recording(facts, table, stacks, frames, SPANS.empty(), SERIES.empty())


def texts(recorded: Any, weight: str = "count") -> dict[tuple[str, ...], int]:
    """The weight of each stack as a tuple of names, read from the tables one row at a time."""
    parents = recorded.stacks["parent"].to_pylist()
    frames = recorded.stacks["frame"].to_pylist()
    names = recorded.frames["name"].to_pylist()
    result: dict[tuple[str, ...], int] = {}
    for node, value in zip(recorded.samples["stack"].to_pylist(), recorded.samples[weight].to_pylist(), strict=True):
        path = []
        while node:
            path.append(names[frames[node]])
            node = parents[node]
        key = tuple(reversed(path))
        result[key] = result.get(key, 0) + value
    return result


def table(samples: Sequence[dict[str, Any]]) -> pa.Table:
    return recording(samples).samples
