from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from emberscope.rules.skew.skewed_stage import RULE as SKEWED_STAGE
from emberscope.rules.skew.slow_node import RULE
from emberscope.tables.executors import EXECUTORS
from emberscope.tables.run import Run
from tests.rules.fault_logs import fault_log
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task


def cluster(slow: float = 1.0, *, stages: int = 2, by: str = "host", **more: Any) -> Run:
    """Four executors of one core on two hosts; each stage has 40 tasks of 1 to 1.5 s. Of those on host b, or on
    executor 3 alone, each takes `slow` times as long. The first tasks of each executor take longer anyway."""
    tasks, rows = [], []
    begin = 0.0
    for number in range(stages):
        free = [begin] * 4
        for index in range(40):
            slot = free.index(min(free))
            host = "b" if slot > 1 else "a"
            factor = slow if (host == "b" if by == "host" else slot == 3) else 1.0
            run_ms = factor * (1_000 + 50 * (index % 10)) + (3_000 if free[slot] == 0 else 0)
            size = {"shuffle_read_local_bytes": (1_000 + 50 * (index % 10)) << 10}
            extra = {name: make(index, slot) for name, make in more.items()}
            place = {"executor_id": str(slot), "host": host, "task_id": 100 * number + index, "task_index": index}
            tasks.append(task(number, free[slot], run_ms, **{**place, **size, **extra}))
            free[slot] += run_ms
        end = max(free)
        rows.append(stage(number, begin, end, parent_ids=[number - 1] if number else []))
        begin = end
    executors = [{**executor(str(n), 1), "host": "b" if n > 1 else "a"} for n in range(4)]
    return run_of(round(begin), tasks=tasks, stages=rows, jobs=[job(0, 0, begin)], executors=executors)


def test_finds_the_executor_that_real_spark_ran_on_a_slow_process() -> None:
    (finding,) = found(RULE, fault_log("slow_node"))
    assert finding.where.executor == "2"
    assert finding.title == "Executor 2 was 3.9× slower than the others"
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 5_000


def test_its_long_tasks_are_not_told_again_as_stragglers() -> None:
    assert found(SKEWED_STAGE, fault_log("slow_node")) == []


def test_silent_in_local_mode_and_where_executors_are_alike() -> None:
    assert found(RULE, spark_wrote("none")) == []
    assert found(RULE, spark_wrote("skew_spill_python")) == []
    assert found(RULE, cluster()) == []


def test_a_slow_host_is_told_as_one() -> None:
    (finding,) = found(RULE, cluster(3.0))
    assert finding.title == "Host b was 3.0× slower than the others"
    assert (finding.where.host, finding.where.executor) == ("b", None)
    assert "executors 2, 3" in finding.summary


def test_a_slow_executor_on_a_good_host_is_told_alone() -> None:
    (finding,) = found(RULE, cluster(3.0, by="executor"))
    assert finding.title == "Executor 3 was 3.0× slower than the others"
    assert (finding.where.host, finding.where.executor) == ("b", "3")


def test_the_price_is_what_the_tasks_take_elsewhere() -> None:
    run = cluster(3.0)
    (finding,) = found(RULE, run)
    lengths = [row["finish_ms"] - row["launch_ms"] for row in run.tables["tasks"].to_pylist() if row["host"] == "b"]
    assert finding.wasted_core_ms == pytest.approx(sum(lengths) * 2 / 3, rel=0.03)
    assert finding.wasted_wall_ms is not None
    assert 0 < finding.wasted_wall_ms < max(lengths) * len(lengths)


def test_more_data_is_no_slow_machine() -> None:
    # Long on host b, but because these tasks read three times as much.
    more = cluster(
        3.0, shuffle_read_local_bytes=lambda index, slot: (3 if slot > 1 else 1) * (1_000 + 50 * (index % 10))
    )
    assert found(RULE, more) == []


def test_garbage_collection_is_no_slow_machine() -> None:
    collecting = cluster(3.0, gc_time_ms=lambda index, slot: 2 * (1_000 + 50 * (index % 10)) if slot > 1 else 0)
    assert found(RULE, collecting) == []


def test_the_advice_is_to_look_and_to_speculate() -> None:
    (finding,) = found(RULE, cluster(3.0))
    assert finding.advice[0].kind == "check"
    assert {a.setting: a.value for a in finding.advice if a.setting} == {"spark.speculation": "true"}


def test_data_that_lie_elsewhere_are_no_slow_machine() -> None:
    far = cluster(3.0, locality=lambda index, slot: "ANY" if slot > 1 else "PROCESS_LOCAL")
    assert found(RULE, far) == []


def test_no_second_copy_is_advised_where_all_executors_share_a_host() -> None:
    run = cluster(3.0)
    rows = [{**row, "host": "a"} for row in run.tables["executors"].to_pylist()]
    together = replace(run, tables={**run.tables, "executors": EXECUTORS.from_rows(rows)})
    assert all(advice.setting is None for one in found(RULE, together) for advice in one.advice)
    assert found(RULE, together)
