from __future__ import annotations

import pytest

from emberscope.rules.memory.container import container, has_container, process_peaks, rounded_up
from tests.runs import run_of

MIB = 1 << 20
GIB = 1 << 30


@pytest.mark.parametrize(
    ("conf", "overhead"),
    [
        ({"spark.executor.memory": "8g"}, round(0.1 * 8 * GIB)),
        ({"spark.executor.memory": "1g"}, 384 * MIB),
        ({"spark.executor.memory": "8g", "spark.executor.memoryOverhead": "1000"}, 1000 * MIB),
        ({"spark.executor.memory": "8g", "spark.yarn.executor.memoryOverhead": "2g"}, 2 * GIB),
        ({"spark.executor.memory": "8g", "spark.executor.memoryOverheadFactor": "0.25"}, 2 * GIB),
        ({"spark.executor.memory": "10g", "spark.kubernetes.resource.type": "python"}, 4 * GIB),
        ({"spark.executor.memory": "1g", "spark.executor.minMemoryOverhead": "1g"}, GIB),
    ],
)
def test_the_overhead_is_as_spark_reckons_it(conf: dict[str, str], overhead: int) -> None:
    assert container(run_of(conf=conf)).overhead_bytes == overhead


def test_a_container_holds_all_its_parts() -> None:
    conf = {
        "spark.executor.memory": "4g",
        "spark.executor.memoryOverhead": "1g",
        "spark.executor.pyspark.memory": "2g",
        "spark.memory.offHeap.enabled": "true",
        "spark.memory.offHeap.size": "3g",
    }
    assert container(run_of(conf=conf)).limit_bytes == 10 * GIB
    off = container(run_of(conf={**conf, "spark.memory.offHeap.enabled": "false"}))
    assert off.limit_bytes == 7 * GIB


@pytest.mark.parametrize(
    ("master", "limited"),
    [("yarn", True), ("k8s://https://a:443", True), ("spark://a:7077", False), ("local[2]", False), ("", False)],
)
def test_only_yarn_and_kubernetes_hold_an_executor_to_its_size(master: str, limited: bool) -> None:
    assert has_container(run_of(conf={"spark.master": master})) is limited


def test_the_processes_of_one_executor_are_taken_together_but_not_the_driver() -> None:
    run = run_of(
        executor_metrics=[
            {"executor_id": "1", "process_jvm_rss_bytes": 5, "process_python_rss_bytes": 7},
            {
                "executor_id": "1",
                "process_jvm_rss_bytes": 6,
                "process_python_rss_bytes": 1,
                "process_other_rss_bytes": 2,
            },
            {"executor_id": "2", "process_jvm_rss_bytes": None, "process_python_rss_bytes": 9},
            {"executor_id": "driver", "process_jvm_rss_bytes": 99, "process_python_rss_bytes": 0},
        ]
    )
    assert list(process_peaks(run)) == ["1"]
    peak = process_peaks(run)["1"]
    assert (peak.together_bytes, peak.jvm_bytes, peak.python_bytes) == (12, 6, 7)


def test_nothing_is_known_where_spark_did_not_poll() -> None:
    assert process_peaks(run_of()) == {}
    assert process_peaks(run_of(executor_metrics=[{"executor_id": "1", "jvm_heap_bytes": 5}])) == {}


def test_sizes_are_rounded_up_to_a_step() -> None:
    assert rounded_up(1) == 128 * MIB
    assert rounded_up(128 * MIB) == 128 * MIB
    assert rounded_up(300 * MIB, 256 * MIB) == 512 * MIB
