from __future__ import annotations

import pytest

from emberscope.report.hot_code import hot_code
from emberscope.tables.samples import SAMPLES
from emberscope.tables.stack_tree import StackTree
from tests.runs import run_of, with_rows


def test_samples_count_for_their_top_frame_and_its_family() -> None:
    tree = StackTree()
    run_frame = tree.frame("java.lang.Thread.run")
    rows = [
        {"event": event, "count": count, "stack": tree.node([run_frame, tree.frame(name)])}
        for event, name, count in (
            ("alloc", "org.example.Other.make", 900),
            ("cpu", "org.example.Mine.slow", 60),
            ("cpu", "org.example.Mine.slower", 39),
            ("cpu", "org.apache.spark.rdd.RDD.iterator", 1),
            ("cpu", "java.lang.Object.hashCode", 0),
        )
    ]
    stacks, frames = tree.tables()
    run = with_rows(with_rows(run_of(), "stacks", stacks), "frames", frames)
    hot = hot_code(with_rows(run, "samples", SAMPLES.from_rows(rows)))
    assert hot is not None
    assert (hot.event, hot.samples) == ("cpu", 100)
    assert hot.families == (("user", 99), ("spark_core", 1))
    assert hot.methods[:2] == (("org.example.Mine.slow", 60), ("org.example.Mine.slower", 39))
    only = hot_code(with_rows(run, "samples", SAMPLES.from_rows(rows[:1])))
    assert only is not None
    assert only.event == "alloc"


@pytest.mark.parametrize("rows", [[], [{"event": "cpu", "count": 3, "stack": None}]])
def test_nothing_is_hot_where_nothing_was_seen(rows: list[dict[str, object]]) -> None:
    stacks, frames = StackTree().tables()
    run = with_rows(with_rows(run_of(), "stacks", stacks), "frames", frames)
    assert hot_code(with_rows(run, "samples", SAMPLES.from_rows(rows))) is None
    assert hot_code(run_of()) is None
