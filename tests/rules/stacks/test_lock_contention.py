from __future__ import annotations

import pytest

from emberscope.rules.stacks.lock_contention import RULE
from tests.rules.stacks.recorded import recorded
from tests.runs import found


def test_finds_the_lock_that_all_tasks_of_an_executor_fought_for() -> None:
    (finding,) = found(RULE, recorded("lock"))
    assert finding.where.stage == 0
    assert "app.Rates.askTogether()" in finding.title
    assert any("a lock of app.Rates;" in evidence.text for evidence in finding.evidence)
    assert ("app.Rates.askTogether",) in [evidence.frames for evidence in finding.evidence]
    assert all(advice.setting is None for advice in finding.advice)
    assert "2 in place of 4 cores" in finding.advice[1].text


def test_the_price_is_what_four_tasks_in_a_row_take_beyond_four_at_once() -> None:
    """Each of 1,000 rows takes at least 25 ms; behind the lock one after the other, and four at once without it."""
    (finding,) = found(RULE, recorded("lock"))
    assert finding.wasted_core_ms == pytest.approx(3 * 1_000 * 25, rel=2)
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 0.7 * 0.75 * 25_000


def test_is_silent_about_the_twin_without_a_lock_and_about_other_hot_code() -> None:
    assert found(RULE, recorded("lock_healthy")) == []
    assert found(RULE, recorded("hot_spots")) == []
