from __future__ import annotations

import pytest

from emberscope.rules.evaluate import evaluate
from emberscope.rules.memory.gc_pressure import RULE as GC_PRESSURE
from emberscope.rules.stacks.allocation import RULE
from emberscope.tables.run import Run
from tests.rules.stacks.profiles import CODE, USER, one_stage, profiled, sample
from tests.rules.stacks.recorded import recorded
from tests.runs import found


def allocating(gc_ms: int, *, share: float = 0.8, samples: int = 200) -> Run:
    """Two tasks of 100 s with so much collection each; the user's method allocates this share of the bytes."""
    mine = round(share * samples)
    more = {"event": "alloc", "value": 1 << 20}
    rows = [sample(CODE, USER, "java.lang.Double.valueOf", object_class="java.lang.Double", **more)] * mine
    rows += [sample(CODE, "org.apache.spark.unsafe.types.UTF8String.copy", object_class="byte[]", **more)] * (
        samples - mine
    )
    return profiled(rows, one_stage(gc_time_ms=gc_ms))


def test_the_price_is_the_methods_share_of_the_collection_above_what_is_healthy() -> None:
    (finding,) = found(RULE, allocating(25_000))
    assert finding.title == "Stage 0: 80.0 % of the garbage comes from shop.Prices.of()"
    assert finding.wasted_core_ms == pytest.approx(2 * 20_000 * 0.8)
    assert finding.wasted_wall_ms == pytest.approx(20_000 * 0.8)
    assert finding.evidence[2].frames == (USER, "java.lang.Double.valueOf")
    assert "java.lang.Double: 80.0 %" in finding.evidence[1].text


def test_allocation_that_costs_no_time_is_no_finding() -> None:
    assert found(RULE, allocating(9_000)) == []


def test_no_single_place_or_too_few_samples_are_no_finding() -> None:
    assert found(RULE, allocating(25_000, samples=40)) == []
    spread = [
        sample(CODE, f"shop.Prices.of{place}", event="alloc", value=1 << 20) for place in range(10) for _ in range(20)
    ]
    assert found(RULE, profiled(spread, one_stage(gc_time_ms=25_000))) == []


def test_the_place_is_the_cause_and_the_collection_its_consequence() -> None:
    first, second = evaluate(allocating(25_000), [GC_PRESSURE, RULE]).findings
    assert (first.rule.code, second.rule.code, second.caused_by) == ("S18", "C1", (0,))


@pytest.mark.parametrize("name", ["hot_spots", "lock"])
def test_is_silent_where_collection_was_short(name: str) -> None:
    assert found(RULE, recorded(name)) == []
