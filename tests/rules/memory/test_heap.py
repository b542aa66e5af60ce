from __future__ import annotations

from typing import Any

import pytest

from emberscope.rules.memory.heap import execution_bytes, full_ratio, heap_bytes, heaps, task_memory_bytes
from tests.runs import executor, run_of, spark_wrote

MIB = 1 << 20
GIB = 1 << 30


def offering(storage: int | None, conf: dict[str, str], **more: Any) -> float:
    row = {**executor("1", 4), "max_on_heap_storage_bytes": storage, **more}
    return heap_bytes(run_of(conf=conf, executors=[row]))


def test_the_heap_is_what_the_jvm_said_not_what_was_asked_for() -> None:
    # (limit - 300 MiB) * 0.6 is offered for storage.
    assert offering(int(0.6 * (3900 - 300) * MIB), {"spark.executor.memory": "4g"}) == pytest.approx(3900 * MIB, abs=2)


def test_a_fraction_that_was_set_is_taken_into_account() -> None:
    conf = {"spark.executor.memory": "1g", "spark.memory.fraction": "0.2"}
    assert offering(int(0.2 * 700 * MIB), conf) == pytest.approx(1000 * MIB, abs=6)


@pytest.mark.parametrize("storage", [None, 0, 100 * GIB, 1 * MIB])
def test_the_setting_counts_where_no_sense_can_be_made_of_what_is_offered(storage: int | None) -> None:
    assert offering(storage, {"spark.executor.memory": "4g"}) == 4 * GIB


def test_what_is_offered_counts_where_nothing_was_set() -> None:
    assert offering(int(0.6 * (20_000 - 300) * MIB), {}) == pytest.approx(20_000 * MIB, abs=2)


def test_the_old_memory_manager_says_nothing_of_the_heap() -> None:
    conf = {"spark.memory.useLegacyMode": "true"}
    assert offering(400 * MIB, conf) == GIB


def test_how_full_the_fullest_heap_was() -> None:
    rows = [{**executor(str(i), 1), "peak_jvm_heap_bytes": peak} for i, peak in enumerate((None, 256 * MIB, 512 * MIB))]
    run = run_of(conf={"spark.executor.memory": "1g"}, executors=rows)
    assert full_ratio(run) == 0.5
    assert [heap.full_ratio for heap in heaps(run)] == [None, 0.25, 0.5]


def test_nothing_is_known_without_executors() -> None:
    run = run_of(conf={"spark.executor.memory": "2g"})
    assert full_ratio(run) is None
    assert execution_bytes(run) is None
    assert task_memory_bytes(run) is None
    assert heap_bytes(run) == 2 * GIB


def test_tasks_share_the_unified_memory_by_cores() -> None:
    run = run_of(conf={"spark.executor.memory": "1324m"}, executors=[executor("1", 4)])
    assert task_memory_bytes(run) == pytest.approx(0.6 * 256 * MIB)
    assert task_memory_bytes(run, 2) == pytest.approx(0.6 * 512 * MIB)


def test_memory_off_the_heap_is_what_counts_where_it_is_on() -> None:
    conf = {"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "8g"}
    assert task_memory_bytes(run_of(conf=conf, executors=[executor("1", 4)])) == 2 * GIB


def test_a_log_of_spark_tells_the_heap() -> None:
    # 1 GiB under G1 in local-cluster: all of it.
    assert heap_bytes(spark_wrote("skew_spill_python")) == pytest.approx(GIB, rel=0.05)


def test_a_recording_knows_the_heap_too() -> None:
    series = [{"name": "heap_used_bytes", "value": float(v), "executor_id": "1", "time_ns": 1} for v in (5, 512 * MIB)]
    run = run_of(conf={"spark.executor.memory": "1g"}, executors=[executor("1", 1)], series=series)
    assert full_ratio(run) == 0.5
