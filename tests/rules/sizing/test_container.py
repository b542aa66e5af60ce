"""The arithmetic of containers, with the numbers that Spark and EMR give themselves."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emberscope.rules.sizing.container import largest_heap_mib, overhead_mib, shape_of
from tests.runs import run_of


def test_emr_divides_in_place_of_multiplying() -> None:
    assert largest_heap_mib(5632, 0.1875) == 4742
    assert overhead_mib(4742, 0.1875) == 889


@given(st.integers(1024, 500_000), st.sampled_from([0.1, 0.1875, 0.25, 0.4]))
def test_the_largest_heap_fits_and_a_larger_one_does_not(container: int, ratio: float) -> None:
    heap = largest_heap_mib(container, ratio)
    assert heap + overhead_mib(heap, ratio) <= container
    assert heap + 2 + overhead_mib(heap + 2, ratio) >= container - 1


def test_a_shape_is_what_the_settings_say() -> None:
    shape = shape_of(run_of(conf={"spark.executor.memory": "8g", "spark.executor.cores": "4"}))
    assert (shape.heap_mib, shape.overhead_mib, shape.cores, shape.container_mib) == (8192, 819, 4, 9011)
    shape = shape_of(
        run_of(
            conf={
                "spark.executor.memory": "2g",
                "spark.yarn.executor.memoryOverhead": "1024",
                "spark.memory.offHeap.enabled": "true",
                "spark.memory.offHeap.size": "1073741824",
                "spark.executor.pyspark.memory": "512m",
            }
        )
    )
    assert (shape.overhead_mib, shape.explicit, shape.beside_mib, shape.cores) == (1024, True, 1536, None)
