from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.base import Finding
from emberscope.rules.skew.skewed_stage import RULE
from emberscope.tables.plan_nodes import PLAN_NODES
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task, with_rows

JOIN = {
    "sql_execution_id": 0,
    "node_id": 3,
    "name": "SortMergeJoin",
    "detail": "SortMergeJoin [key#1L], [key#9L], Inner",
    "stage_ids": [0],
}
AGGREGATE = {
    "sql_execution_id": 0,
    "node_id": 3,
    "name": "HashAggregate",
    "detail": "HashAggregate(keys=[origin#17], functions=[count(1)])",
    "stage_ids": [0],
}


def skewed(node: dict[str, Any] | None = None, conf: dict[str, str] | None = None, **straggler: Any) -> Run:
    """Seven tasks of 2 s and 4 MiB, and one of 40 s and 400 MiB."""
    tasks = [
        task(0, 2_000 * (i // 3), 2_000, task_id=i, shuffle_read_local_bytes=4 << 20, shuffle_read_records=1000)
        for i in range(7)
    ]
    more = {"shuffle_read_local_bytes": 400 << 20, "shuffle_read_records": 100_000, **straggler}
    tasks.append(task(0, 0, 40_000, task_id=7, **more))
    return run_of(
        60_000,
        conf=conf,
        tasks=tasks,
        stages=[stage(0, 0, 40_000, sql_execution_id=0 if node else None)],
        jobs=[job(0, 0, 40_000)],
        executors=[executor("1", 4)],
        plan_nodes=[node] if node else [],
    )


def only(run: Run) -> Finding:
    (finding,) = found(RULE, run)
    return finding


def advised(finding: Finding) -> dict[str, str | None]:
    return {a.setting: a.value for a in finding.advice if a.setting}


def test_names_the_join_that_spark_ran_and_prices_it() -> None:
    finding = only(spark_wrote("skew_spill_python"))
    assert finding.where.stage == 4
    assert "SortMergeJoin by key" in finding.summary
    assert "findings_skew_spill_python.py" in finding.summary
    assert finding.wasted_wall_ms is not None
    assert finding.wasted_wall_ms > 1_000
    assert finding.confidence > 0.9
    assert advised(finding) == {"spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "83m"}


def test_ignores_the_even_stages_of_a_healthy_application() -> None:
    assert found(RULE, spark_wrote("none")) == []


def test_ignores_what_is_short_even_or_has_few_tasks() -> None:
    even = run_of(tasks=[task(0, 0, 30_000, task_id=i) for i in range(8)])
    short = run_of(tasks=[task(0, 0, 4_900 if i == 0 else 10, task_id=i) for i in range(8)])
    few = run_of(tasks=[task(0, 0, 40_000 if i == 0 else 10, task_id=i) for i in range(3)])
    assert [found(RULE, run) for run in (even, short, few)] == [[], [], []]


def test_the_saving_is_that_of_the_same_work_spread_over_the_cores() -> None:
    finding = only(skewed())
    # 54 s of work on 4 cores take 13.5 s, or up to a piece of 2 s more; it took 40 s.
    assert finding.wasted_wall_ms is not None
    assert 40_000 - 13_500 - 2_000 <= finding.wasted_wall_ms <= 40_000 - 13_500


def test_adaptive_execution_gets_the_settings_that_would_split_this_partition() -> None:
    assert advised(only(skewed(JOIN))) == {"spark.sql.adaptive.forceOptimizeSkewedJoin": "true"}
    off = {"spark.sql.adaptive.enabled": "false", "spark.sql.adaptive.skewJoin.enabled": "false"}
    assert advised(only(skewed(JOIN, off))) == dict.fromkeys(off, "true")
    high = {"spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes": "1g"}
    assert advised(only(skewed(JOIN, high))) == dict.fromkeys(high, "200m")
    factor = {"spark.sql.adaptive.skewJoin.skewedPartitionFactor": "200"}
    assert advised(only(skewed(JOIN, factor))) == dict.fromkeys(factor, "50")
    small = only(skewed(JOIN, shuffle_read_local_bytes=80 << 20))
    assert advised(small)["spark.sql.adaptive.advisoryPartitionSizeInBytes"] == "10m"


def test_an_aggregation_gets_code_and_no_setting() -> None:
    finding = only(skewed(AGGREGATE))
    assert advised(finding) == {}
    assert "Aggregate by origin in two steps" in finding.advice[0].text
    assert "100 values" in finding.advice[0].text


def test_an_rdd_gets_code_for_rdds() -> None:
    assert "reduceByKey" in only(skewed()).advice[0].text


def test_a_slow_host_is_not_skew_of_the_data() -> None:
    slow = only(skewed(shuffle_read_local_bytes=4 << 20, shuffle_read_records=1000, host="b"))
    assert "host b" in slow.title
    assert slow.where.host == "b"
    assert slow.advice[0].kind == "check"


def test_equal_data_on_one_host_is_costly_work() -> None:
    costly = only(skewed(shuffle_read_local_bytes=4 << 20, shuffle_read_records=1000))
    assert "cost more to compute" in costly.summary
    assert costly.confidence < only(skewed()).confidence


def test_without_the_times_of_the_application_there_is_no_price() -> None:
    run = skewed()
    blind = run_of(None, tasks=[task(0, 0, 40_000 if i == 0 else 100, task_id=i) for i in range(8)])
    assert only(blind).wasted_wall_ms is None
    assert only(run).wasted_wall_ms is not None


def test_each_skewed_stage_is_found_on_its_own() -> None:
    sizes = [{"shuffle_read_records": 300_000 if i == 0 else 1_000} for i in range(6)]
    tasks = [task(s, 0, 30_000 if i == 0 else 100, task_id=10 * s + i, **sizes[i]) for s in range(2) for i in range(6)]
    stages = [f.where.stage for f in found(RULE, run_of(tasks=tasks))]
    assert stages == [0, 1]


def test_a_window_cannot_be_split_and_is_told_by_what_it_was_shuffled_by() -> None:
    window = {**JOIN, "name": "Window", "detail": "Window [max(gust#9) windowspecdefinition(route#4)], [route#4]"}
    run = skewed(window)
    exchange = {**JOIN, "node_id": 5, "name": "Exchange", "detail": "Exchange hashpartitioning(route#4, 32), X"}
    nodes = PLAN_NODES.from_rows([{**AGGREGATE, "node_id": 1}, window, exchange])
    finding = only(with_rows(run, "plan_nodes", nodes))
    assert "Window by route" in finding.summary
    assert "all rows of one route in one task" in finding.advice[0].text
    assert advised(finding) == {}


def test_very_many_records_need_less_to_be_skewed() -> None:
    def tripled(records: int, factor: float = 3.4) -> Run:
        tasks = [task(0, 0, 10_000, task_id=i, shuffle_read_records=records) for i in range(8)]
        long = task(0, 0, 10_000 * factor, task_id=9, shuffle_read_records=round(records * factor))
        return run_of(tasks=[*tasks, long])

    assert found(RULE, tripled(1_000)) == []
    assert "is skewed" in only(tripled(10_000_000)).title
    assert "is skewed" in only(tripled(30_000_000, 2.1)).title
    assert found(RULE, tripled(30_000_000, 1.9)) == []


def test_says_why_adaptive_execution_left_a_large_partition_whole() -> None:
    full = only(skewed({**JOIN, "detail": "SortMergeJoin [key#1L], [key#9L], FullOuter"}))
    assert advised(full) == {}
    assert "neither side of a full outer join" in full.advice[0].text
    left = only(skewed({**JOIN, "detail": "SortMergeJoin [key#1L], [key#9L], LeftOuter"}))
    assert "only the side whose rows are all kept" in left.advice[0].text


@pytest.mark.parametrize("mib", [2, 4, 6])
def test_no_limit_sets_a_partition_apart_that_is_no_larger_than_others(mib: int) -> None:
    """The task has 100 times the records of its siblings, and not many more bytes."""
    assert advised(only(skewed(JOIN, shuffle_read_local_bytes=mib << 20))) == {}
    assert advised(only(skewed(JOIN, shuffle_read_local_bytes=40 << 20))) != {}
