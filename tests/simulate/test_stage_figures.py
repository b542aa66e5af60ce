"""What is added up for all stages at once is what each stage's tasks add up to."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from emberscope.simulate.stage_figures import stage_figures
from emberscope.simulate.stage_tasks import stage_tasks
from emberscope.tables.run import Run
from tests.runs import any_runs, run_of, spark_wrote, stage, task

COLUMNS = ("executor_run_time_ms", "gc_time_ms", "disk_spilled_bytes", "peak_execution_memory_bytes")


def same(run: Run) -> None:
    figures = stage_figures(run)
    assert (figures is None) == (not stage_tasks(run))
    if figures is None:
        return
    assert figures.keys == [one.key for one in stage_tasks(run)]
    for place, one in enumerate(stage_tasks(run)):
        assert figures.counts[place] == len(one)
        assert figures.run_ms()[place] == one.run_ms().sum()
        for column in COLUMNS:
            known = one.numbers(column)[~np.isnan(one.numbers(column))]
            assert figures.total(column)[place] == known.sum()
            for found, expected in (
                (figures.most(column)[place], known.max(initial=-np.inf)),
                (figures.least(column)[place], known.min(initial=np.inf)),
            ):
                assert found == expected if len(known) else np.isnan(found)
            good = one.succeeded().numbers(column)
            good = good[~np.isnan(good)]
            found = figures.median(column)[place]
            assert found == np.median(good) if len(good) else np.isnan(found)


def test_of_a_log_that_spark_wrote() -> None:
    same(spark_wrote("skew_spill_python"))


@given(any_runs())
def test_prop_of_any_tasks(run: Run) -> None:
    same(run)


def test_wall_time_of_a_stage_is_its_own_or_that_of_its_tasks() -> None:
    run = run_of(
        stages=[stage(0, 0, 5_000), {**stage(1, 5_000, 9_000), "completed_ms": None}],
        tasks=[task(0, 1_000, 2_000), task(1, 6_000, 2_500)],
    )
    figures = stage_figures(run)
    assert figures is not None
    assert figures.wall_ms.tolist() == [5_000, 2_500]
