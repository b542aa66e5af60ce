from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.simulate.splits import MIB, Files, Settings, most_divisor, pieces_of, splits, task_count

GUIDE = [Files(3500, 116 * MIB)]


def test_the_example_of_the_emr_guide() -> None:
    """AWS EMR guide 5.2.2: (116M × 3500 + 4M × 3500) / 15837 = 26.5M, so that a file of 116M becomes 4 to 5 tasks."""
    found = splits(GUIDE, Settings(spark=(2, 4), cores=15837))
    assert found.split_bytes / MIB == pytest.approx(26.5, abs=0.05)
    assert found.divisor_from is None
    assert pieces_of(116 * MIB, found.split_bytes) == 5
    assert 4 <= found.tasks / 3500 <= 5  # two of the small ends share a task
    # The guide multiplies 3.5K × 11 × 5 = 192.5K and sees 179,502: the packing of ends explains part of the difference.
    assert 3500 * 11 * 4 < found.tasks * 11 < 179_502 < 3500 * 11 * 5


def test_the_inverse_of_the_example_gives_the_parallelism_of_whole_splits() -> None:
    most = most_divisor(GUIDE, 128 * MIB)
    assert most == 3281
    assert splits(GUIDE, Settings(spark=(2, 4), cores=15837, default_parallelism=most)).split_bytes == 128 * MIB
    assert splits(GUIDE, Settings(spark=(2, 4), cores=15837, default_parallelism=most + 1)).split_bytes < 128 * MIB
    assert splits(GUIDE, Settings(spark=(2, 4), cores=15837, default_parallelism=most)).tasks == 3500


@pytest.mark.parametrize(
    ("spark", "divisor", "source"),
    [
        ((2, 4), 300, "spark.default.parallelism"),
        ((3, 0), 300, "spark.default.parallelism"),
        ((3, 1), 100, "spark.sql.files.minPartitionNum"),
        ((3, 5), 100, "spark.sql.files.minPartitionNum"),
    ],
)
def test_which_setting_counts_depends_on_the_version(spark: tuple[int, int], divisor: int, source: str) -> None:
    settings = Settings(spark=spark, cores=7, default_parallelism=300, leaf_parallelism=200, min_partitions=100)
    found = splits(GUIDE, settings)
    assert (found.divisor, found.divisor_from) == (divisor, source)


def test_the_parallelism_of_leaves_counts_from_spark_3_2_on() -> None:
    for spark, divisor in (((3, 1), 300), ((3, 2), 200)):
        settings = Settings(spark=spark, cores=7, default_parallelism=300, leaf_parallelism=200)
        assert splits(GUIDE, settings).divisor == divisor


def test_most_partitions_rescale_from_spark_3_5_on() -> None:
    settings = Settings(spark=(3, 5), cores=15837, max_partitions=5000)
    found = splits(GUIDE, settings)
    assert found.rescaled_from == splits(GUIDE, Settings(spark=(3, 5), cores=15837)).tasks
    assert found.tasks <= 7000
    assert splits(GUIDE, Settings(spark=(3, 4), cores=15837, max_partitions=5000)).rescaled_from is None


def test_one_core_counts_as_two() -> None:
    assert splits([Files(1, 100 * MIB)], Settings(spark=(3, 5), cores=1)).split_bytes == 52 * MIB


@dataclass
class _Closed:
    tasks: int = 0
    pieces: int = 0
    size: int = 0


def spark_packs(files: list[Files], split: int, open_cost: int) -> int:
    """Spark's own loop (`FilePartition.getFilePartitions`), piece by piece."""
    pieces = [
        min(split, size - offset)
        for group in files
        for size in [group.size_bytes] * group.count
        for offset in range(0, size, split)
    ]
    state = _Closed()
    for piece in sorted(pieces, reverse=True):
        if state.pieces and state.size + piece > split:
            state.tasks, state.pieces, state.size = state.tasks + 1, 0, 0
        state.size += piece + open_cost
        state.pieces += 1
    return state.tasks + (1 if state.pieces else 0)


@given(
    st.lists(st.builds(Files, st.integers(1, 40), st.integers(1, 400)), min_size=1, max_size=5),
    st.integers(1, 150),
    st.integers(0, 20),
)
def test_prop_the_count_of_tasks_is_that_of_sparks_own_loop(files: list[Files], split: int, open_cost: int) -> None:
    assert task_count(files, split, open_cost) == spark_packs(files, split, open_cost)


@given(st.integers(1, 5000), st.integers(1, 1 << 34), st.integers(1, 1 << 30))
def test_prop_the_inverse_is_the_largest_that_keeps_the_split(count: int, size: int, wanted: int) -> None:
    files = [Files(count, size)]
    most = most_divisor(files, wanted)
    total = count * (size + 4 * MIB)
    assert total // (most + 1) < wanted
    assert most == 1 or total // most >= wanted
