"""Totals of SQL metrics over repeated tasks and stages, against a plain replay of what Spark's listener does."""

import json
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from emberscope.eventlog.accumulables import StageValue
from emberscope.eventlog.sql_retries import RepeatedTasks, is_repeated
from emberscope.eventlog.sql_totals import totals

METRIC = 7


@dataclass(frozen=True)
class Attempt:
    """One attempt of a task: it adds `value` to the metric."""

    index: int
    number: int
    succeeded: bool
    value: int

    def line(self, stage_id: int, stage_attempt: int, task_id: int) -> bytes:
        return json.dumps(
            {
                "Event": "SparkListenerTaskEnd",
                "Stage ID": stage_id,
                "Stage Attempt ID": stage_attempt,
                "Task End Reason": {"Reason": "Success" if self.succeeded else "ExceptionFailure"},
                "Task Info": {
                    "Task ID": task_id,
                    "Index": self.index,
                    "Attempt": self.number,
                    "Accumulables": [
                        {"ID": METRIC, "Name": "rows", "Update": str(self.value), "Metadata": "sql"},
                        {"ID": 1, "Name": "internal.metrics.resultSize", "Update": 5},
                    ],
                },
            }
        ).encode()


@st.composite
def task(draw: st.DrawFn, index: int) -> list[Attempt]:
    """The attempts of one task in the order in which they end; a copy may overtake the attempt that it copies.

    Spark has one of them succeed at most: the others are then killed, or told to be.
    """
    count = draw(st.integers(1, 3))
    good = draw(st.integers(0, count))
    attempts = [Attempt(index, number, number == good, draw(st.integers(0, 9))) for number in range(count)]
    return draw(st.permutations(attempts))


@st.composite
def stage_attempts(draw: st.DrawFn) -> list[list[Attempt]]:
    """The attempts of one stage, each with its tasks' attempts in the order of their ends."""
    result = []
    for _ in range(draw(st.integers(1, 3))):
        tasks = [draw(task(index)) for index in range(draw(st.integers(1, 3)))]
        result.append([attempt for each in tasks for attempt in each])
    return result


def replay(stages: list[list[list[Attempt]]]) -> tuple[int, int]:
    """All that was added; and what Spark's pages show: of a task the last value until one attempt succeeds."""
    everything = sum(a.value for attempts in stages for tasks in attempts for a in tasks)
    shown = 0
    for attempts in stages:
        values: dict[int, int] = {}
        done: set[int] = set()
        for a in attempts[-1]:
            if a.index not in done:
                values[a.index] = a.value
            if a.succeeded:
                done.add(a.index)
        shown += sum(values.values())
    return everything, shown


@given(st.lists(stage_attempts(), min_size=1, max_size=3), st.integers(0, 50), st.booleans())
def test_total_and_last_attempt(stages: list[list[list[Attempt]]], before: int, cached: bool) -> None:
    repeated = RepeatedTasks()
    counted = before if cached else 0
    others = [StageValue(99, 0, before)]
    own = []
    task_id = 0
    for stage_id, attempts in enumerate(stages):
        for stage_attempt, tasks in enumerate(attempts):
            repeated.submitted(stage_id, stage_attempt)
            for attempt in tasks:
                task_id += 1
                counted += attempt.value
                if is_repeated(stage_attempt, attempt.number, attempt.succeeded):
                    repeated.take(attempt.line(stage_id, stage_attempt, task_id))
            own.append(StageValue(stage_id, stage_attempt, counted))
    assert totals(METRIC, [*others, *own], own, repeated, cached) == replay(stages)


def test_nothing_counted_is_null() -> None:
    assert totals(METRIC, [], [], RepeatedTasks(), False) == (None, None)
    assert totals(METRIC, [StageValue(0, 0, None)], [StageValue(0, 0, None)], RepeatedTasks(), False) == (None, None)


def test_a_malformed_line_is_passed_by() -> None:
    repeated = RepeatedTasks()
    repeated.take(b'{"Event":"SparkListenerTaskEnd","Stage ID":1,')
    assert not repeated.last_attempt(1)
