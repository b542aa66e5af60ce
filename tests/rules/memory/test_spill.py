from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.memory.spill import RULE
from emberscope.tables.run import Run
from tests.runs import executor, found, job, run_of, spark_wrote, stage, task

MIB = 1 << 20


def spilling(count: int, read: int, disk: int, conf: dict[str, str] | None = None, **more: Any) -> Run:
    """`count` tasks of 10 s, one after the other, each of which reads and spills so many bytes."""
    columns = {
        "shuffle_read_local_bytes": read,
        "disk_spilled_bytes": disk,
        "memory_spilled_bytes": 2 * disk,
        "peak_execution_memory_bytes": disk,
        **more,
    }
    return run_of(
        10_000 * count + 1_000,
        conf=conf,
        tasks=[task(0, 10_000 * i, 10_000, task_id=i, **columns) for i in range(count)],
        stages=[stage(0, 0, 10_000 * count, sql_execution_id=0)],
        jobs=[job(0, 0, 10_000 * count)],
        executors=[executor("1", 1)],
    )


def advised(run: Run) -> dict[str, str | None]:
    (finding,) = found(RULE, run)
    return {a.setting: a.value for a in finding.advice if a.setting}


def test_finds_the_spill_of_the_skewed_task_that_spark_ran() -> None:
    (finding,) = found(RULE, spark_wrote("skew_spill_python"))
    assert finding.where.stage == 4
    assert finding.evidence[0].value == pytest.approx(135_116_889, rel=0.05)
    assert "1 of 8 tasks" in finding.summary
    assert [a.kind for a in finding.advice] == ["code"]


@pytest.mark.parametrize("log", ["none", "driver_idle_gc"])
def test_ignores_applications_that_do_not_spill(log: str) -> None:
    assert found(RULE, spark_wrote(log)) == []


def test_ignores_little_and_little_beside_the_input() -> None:
    assert found(RULE, spilling(4, 100 * MIB, 10 * MIB)) == []
    assert found(RULE, spilling(4, 30_000 * MIB, 60 * MIB)) == []


def test_large_partitions_get_the_number_that_holds_128_mib_each() -> None:
    assert advised(spilling(4, 1024 * MIB, 200 * MIB))["spark.sql.shuffle.partitions"] == "32"


def test_small_partitions_get_memory_per_task() -> None:
    settings = advised(spilling(4, 64 * MIB, 50 * MIB, {"spark.executor.cores": "4", "spark.executor.memory": "2g"}))
    # Tasks held d and spilled 2 d: three times the memory.
    assert settings["spark.executor.memory"] == "6g"
    assert settings["spark.executor.cores"] == "1"
    assert settings["spark.sql.shuffle.partitions"] == "12"
    assert settings["spark.sql.adaptive.advisoryPartitionSizeInBytes"] == "21m"


def test_local_mode_sizes_the_driver() -> None:
    settings = advised(spilling(4, 64 * MIB, 50 * MIB, {"spark.master": "local[4]", "spark.driver.memory": "1g"}))
    assert settings["spark.driver.memory"] == "3g"
    assert "spark.executor.memory" not in settings
    assert "spark.executor.cores" not in settings


def test_the_estimate_writes_and_reads_the_bytes_once() -> None:
    (finding,) = found(RULE, spilling(4, 1024 * MIB, 100_000_000))
    assert finding.wasted_core_ms == 4 * 2_000
    assert finding.wasted_wall_ms == 4 * 2_000
    assert "100 MB/s" in finding.saving_basis


def test_a_task_cannot_lose_more_than_it_ran() -> None:
    (finding,) = found(RULE, spilling(2, 1024 * MIB, 10_000 * MIB))
    assert finding.wasted_core_ms == 20_000


def test_a_fraction_that_was_lowered_is_set_back() -> None:
    lowered = {"spark.memory.fraction": "0.2"}
    assert advised(spilling(4, 1024 * MIB, 200 * MIB, lowered))["spark.memory.fraction"] == "0.6"
    assert "spark.memory.fraction" not in advised(spilling(4, 1024 * MIB, 200 * MIB, {"spark.memory.fraction": "0.7"}))


def test_a_spill_whose_bytes_on_disk_are_not_known_has_no_price() -> None:
    (finding,) = found(RULE, spilling(4, 1024 * MIB, 0, memory_spilled_bytes=1024 * MIB))
    assert finding.title == "Stage 0 spilled 4.0 GiB of memory"
    assert finding.wasted_wall_ms is None
    assert finding.wasted_core_ms is None


def test_a_short_stage_in_a_long_application_is_not_worth_a_word() -> None:
    def short(length_ms: int) -> Run:
        return run_of(
            length_ms,
            tasks=[task(0, 0, 5_000, disk_spilled_bytes=400 * MIB, memory_spilled_bytes=800 * MIB)],
            stages=[stage(0, 0, 5_000)],
            jobs=[job(0, 0, 5_000)],
            executors=[executor("1", 1)],
        )

    assert found(RULE, short(1_000_000)) == []
    assert len(found(RULE, short(100_000))) == 1


def test_only_the_largest_spills_of_very_many_stages_are_replayed() -> None:
    run = run_of(
        1_000_000,
        tasks=[task(i, 10_000 * i, 10_000, disk_spilled_bytes=(i + 100) * MIB) for i in range(60)],
        stages=[stage(i, 10_000 * i, 10_000 * (i + 1)) for i in range(60)],
        jobs=[job(0, 0, 600_000)],
        executors=[executor("1", 1)],
    )
    assert [finding.where.stage for finding in found(RULE, run)] == list(range(60 - RULE.limits.most_stages, 60))


def test_more_partitions_than_a_driver_can_look_after_are_not_advised() -> None:
    assert advised(spilling(4, 1 << 55, 1 << 54)) == {}
