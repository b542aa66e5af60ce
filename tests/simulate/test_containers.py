from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.errors import UsageError
from emberscope.simulate.containers import best_shape, container_of, largest_heap_mib, packed, shapes
from emberscope.simulate.instance_types import node_of

EMR = 0.1875


@pytest.mark.parametrize(
    ("name", "cores", "gib", "yarn_mib"),
    [
        # cores and memory: AWS's pages of instance types; memory for YARN: the EMR guide, 5.2.2
        ("c5.12xlarge", 48, 96, 90112),
        ("r5.8xlarge", 32, 256, 253952),
        ("m5.xlarge", 4, 16, 12288),
        ("m5.4xlarge", 16, 64, 57344),
        ("x2iedn.xlarge", 4, 128, 122880),
        ("i3en.large", 2, 16, 12288),
        ("c4.8xlarge", 36, 60, 53248),
        ("48x96g", 48, 96, 90112),
    ],
)
def test_what_a_name_of_a_machine_says(name: str, cores: int, gib: int, yarn_mib: int) -> None:
    node = node_of(name)
    assert (node.cores, node.memory_bytes >> 30, node.yarn_mib) == (cores, gib, yarn_mib)


@pytest.mark.parametrize("name", ["", "r5", "m1.large", "nosuch9.xlarge", "r5.metal", "0x8g", "4x0g", "4x"])
def test_what_is_no_machine_is_said(name: str) -> None:
    with pytest.raises(UsageError):
        node_of(name)


def test_the_packing_of_the_emr_guide() -> None:
    """AWS EMR guide 5.2.2: 90112/5632 = 16 containers of 3 cores, 253952/5632 = 45 containers, 103 cores too many."""
    container = container_of(4743, 3, ratio=EMR, step_mib=32)
    assert container.container_mib == 5632
    small, large = (packed(node_of(name), container) for name in ("c5.12xlarge", "r5.8xlarge"))
    assert (small.containers, small.vcores, small.vcores_over) == (16, 48, 0)
    assert (large.containers, large.vcores, large.vcores_over, large.by_cores) == (45, 135, 103, 10)


def test_the_heap_that_emr_computes_for_a_container() -> None:
    assert largest_heap_mib(5632, EMR) == 4743


def test_yarn_rounds_up_and_an_overhead_that_is_set_counts() -> None:
    assert container_of(4096, 4, step_mib=1024).container_mib == 5120
    assert container_of(1024, 1).overhead_mib == 384
    assert container_of(4096, 4, overhead_mib=2048, beside_mib=512).container_mib == 6656


def test_the_shape_to_take_leaves_no_cores_idle_and_has_the_heap_that_is_needed() -> None:
    found = shapes(node_of("r5.8xlarge"), ratio=EMR, step_mib=32)
    best = best_shape(found)
    assert best is not None
    assert (best.container.cores, best.count, best.idle_cores) == (4, 8, 0)
    assert best_shape(shapes(node_of("c5.12xlarge"), ratio=EMR, step_mib=32, heap_mib_per_task=4096)) is None


@given(st.integers(1, 1 << 20), st.floats(0, 1))
def test_prop_the_largest_heap_fits_and_one_more_does_not(container_mib: int, ratio: float) -> None:
    heap = largest_heap_mib(container_mib, ratio)
    assert heap == 0 or container_of(heap, 1, ratio=ratio).container_mib <= container_mib
    assert container_of(heap + 1, 1, ratio=ratio).container_mib > container_mib


@given(st.integers(1, 128), st.integers(1, 1024), st.integers(1, 8))
def test_prop_shapes_never_ask_for_more_than_the_node_has(cores: int, gib: int, step: int) -> None:
    node = node_of(f"{cores}x{gib}g")
    for shape in shapes(node, step_mib=32 * step):
        assert shape.count * shape.container.cores + shape.idle_cores == cores
        assert shape.count * shape.container.container_mib + shape.unused_mib == node.yarn_mib
        assert shape.unused_mib >= 0
