from __future__ import annotations

import pytest

from emberscope.rules.time.tiny_tasks import RULE
from tests.rules.time.shapes import SHUFFLE, SQL, one_stage, settings_of
from tests.runs import found


def test_many_tasks_that_cost_more_to_start_than_to_run() -> None:
    (finding,) = found(RULE, one_stage(4_000, 10, overhead_ms=20))
    # 120 s of task time on 8 slots are 15 s; 40 s of work and 40 starts of 20 ms are 5.1 s.
    assert finding.wasted_wall_ms == pytest.approx(15_000 - 5_100, abs=50)
    assert finding.wasted_core_ms == pytest.approx(4_000 * 20 * 0.99)
    assert "4,000 tasks for 8 slots" in finding.summary
    assert "`coalesce(40)`" in finding.advice[0].text


@pytest.mark.parametrize(
    ("count", "run_ms", "overhead_ms", "why"),
    [
        (4_000, 600, 20, "the median task is not tiny"),
        (900, 10, 60, "too few"),
        (4_000, 40, 1, "starting them costs next to nothing"),
        (1_000, 10, 5, "too short"),
    ],
)
def test_ignores(count: int, run_ms: float, overhead_ms: float, why: str) -> None:
    assert found(RULE, one_stage(count, run_ms, overhead_ms=overhead_ms)) == [], why


def test_after_a_shuffle_adaptive_execution_may_merge_them() -> None:
    run = one_stage(4_000, 10, overhead_ms=20, of_stage=SQL, of_task=SHUFFLE)
    (finding,) = found(RULE, run)
    assert settings_of(finding) == {"spark.sql.shuffle.partitions": "40"}
    off = {"spark.sql.adaptive.enabled": "false"}
    run = one_stage(4_000, 10, overhead_ms=20, of_stage=SQL, of_task=SHUFFLE, conf=off)
    (finding,) = found(RULE, run)
    assert settings_of(finding) == {"spark.sql.adaptive.enabled": "true", "spark.sql.shuffle.partitions": "40"}


def test_files_are_read_in_larger_pieces() -> None:
    run = one_stage(4_000, 10, overhead_ms=20, of_stage=SQL, of_task={"input_bytes": 4 << 20})
    (finding,) = found(RULE, run)
    assert settings_of(finding) == {"spark.sql.files.maxPartitionBytes": "400m"}
