"""Laws of the rules over stacks, which logs alone cannot try."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emberscope.rules.base import Rule
from emberscope.rules.catalog import RULES
from emberscope.rules.evaluate import evaluate
from emberscope.tables.run import Run
from emberscope.tables.samples import SAMPLES
from tests.rules.stacks.profiles import CODE, profiled, sample
from tests.rules.stacks.recorded import recorded
from tests.runs import any_runs, found, run_of, with_rows, without

STACK_RULES = [rule for rule in RULES if any(read.table == SAMPLES for read in rule.reads)]
every_rule = pytest.mark.parametrize("rule", STACK_RULES, ids=lambda rule: rule.code)
# Hot code, and frames that no rule knows.
FRAMES = (
    CODE,
    "shop.Prices.of",
    "java.util.regex.Pattern.compile",
    "java.text.SimpleDateFormat.<init>",
    "java.lang.Throwable.fillInStackTrace",
    "java.util.zip.Deflater.deflate",
    "org.apache.spark.api.python.PythonWorkerFactory.create",
    "java.lang.Math.sqrt",
)


@every_rule
def test_not_evaluated_without_a_recording(rule: Rule[Any]) -> None:
    for name in ("samples", "stacks", "frames"):
        diagnosis = evaluate(without(recorded("lock"), name), [rule])
        assert [answer.code for answer in diagnosis.not_evaluated] == [rule.code]
        assert diagnosis.findings == ()


@every_rule
@pytest.mark.parametrize("name", ["hot_spots", "lock"])
def test_the_order_of_rows_does_not_matter(rule: Rule[Any], name: str) -> None:
    run = recorded(name)
    shuffled = run
    for table in ("samples", "tasks", "stages", "jobs", "executors"):
        rows = list(range(run.tables[table].num_rows))
        random.Random(7).shuffle(rows)
        shuffled = with_rows(shuffled, table, run.tables[table].take(pa.array(rows, pa.int64())))
    assert [finding.title for finding in found(rule, shuffled)] == [finding.title for finding in found(rule, run)]


@every_rule
def test_silent_about_the_healthy_twin(rule: Rule[Any]) -> None:
    assert found(rule, recorded("lock_healthy")) == []


@settings(max_examples=60, deadline=None)
@given(any_runs(), st.data())
def test_prop_any_samples_beside_any_tasks_are_answered_without_a_crash(run: Run, data: st.DataObject) -> None:
    drawn = st.fixed_dictionaries(
        {
            "event": st.sampled_from(["cpu", "wall", "native", "lock", "alloc", "live"]),
            "count": st.none() | st.integers(0, 10_000),
            "value": st.none() | st.integers(0, 10**12),
            "stage_id": st.none() | st.integers(0, 3),
            "stage_attempt": st.none() | st.integers(0, 1),
            "task_id": st.none() | st.integers(0, 50),
            "state": st.none() | st.sampled_from(["STATE_RUNNABLE", "BLOCKED"]),
            "variant": st.none() | st.sampled_from(["enter", "park"]),
            "object_class": st.none() | st.just("shop.Prices"),
        }
    )
    stacks = st.lists(st.sampled_from(FRAMES), max_size=4)
    rows = [{**sample(*data.draw(stacks)), **row} for row in data.draw(st.lists(drawn, max_size=12))]
    whole = profiled(rows, run)
    length = run.application.observed_ms or 0
    for ranked in evaluate(whole, STACK_RULES).findings:
        assert 0 <= ranked.confidence <= 1
        assert 0 <= (ranked.finding.wasted_wall_ms or 0) <= length + 1
        assert (ranked.finding.wasted_core_ms or 0) >= 0
        assert ranked.finding.evidence
        assert ranked.finding.advice


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 100_000))
def test_prop_code_that_is_well_does_not_start_to_fire_when_there_is_more_of_it(scale: int) -> None:
    """A hundredth of each hot spot, and the rest work."""
    spots = [sample(CODE, frame, count=scale) for frame in FRAMES[2:6]]
    run = profiled([*spots, sample(CODE, "java.lang.Math.sqrt", count=100 * scale)])
    assert [ranked.finding.title for ranked in evaluate(run, STACK_RULES).findings] == []


def test_an_empty_profile_says_nothing() -> None:
    assert evaluate(profiled([], run_of()), STACK_RULES).findings == ()
