import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.errors import InputError
from emberscope.profile.flame_data import flame_data
from emberscope.profile.fold import compacted, fold
from emberscope.profile.pack import pack, pack_flame, unpack, unpack_flame, unvarints, varints
from tests.profile.strategies import recording, rows


@given(rows(), st.sampled_from(["count", "value"]))
def test_prop_unpack_undoes_pack(samples, weight):
    recorded = recording(samples)
    tree = compacted(fold(recorded.samples, recorded.stacks, recorded.frames, weight=weight))
    assert unpack(pack(tree)) == tree


@given(rows())
def test_prop_unpack_undoes_pack_with_all_weight_columns(samples):
    recorded = recording(samples)
    flame = flame_data(recorded.samples, recorded.stacks, recorded.frames)
    back = unpack_flame(pack_flame(flame))
    assert (back.names, back.kinds) == (flame.names, flame.kinds)
    assert np.array_equal(back.parents, flame.parents)
    assert np.array_equal(back.frames, flame.frames)

    def told(column):
        key = (column.event, column.unit, column.sql_execution_id, column.stage_id, column.executor_id)
        return (*key, column.nodes.tolist(), column.weights.tolist())

    assert [told(column) for column in back.columns] == [told(column) for column in flame.columns]


@given(st.lists(st.integers(0, 2**63 - 1)))
def test_prop_unvarints_undoes_varints(values):
    assert unvarints(varints(np.array(values, np.int64))).tolist() == values


def test_varints_have_seven_bits_a_byte_lowest_first():
    assert varints(np.array([0, 127, 128, 300], np.int64)) == bytes([0, 127, 128, 1, 172, 2])


def test_pack_gives_the_same_bytes_for_the_same_tree():
    recorded = recording([{"stack": ["a", "b"], "count": 1}, {"stack": ["a"], "count": 2}])
    tree = compacted(fold(recorded.samples, recorded.stacks, recorded.frames))
    assert pack(tree) == pack(tree)


def test_pack_refuses_a_tree_in_another_order():
    recorded = recording(
        [{"stack": ["a"], "count": 1}, {"stack": ["b"], "count": 2}, {"stack": ["a", "c"], "count": 3}]
    )
    with pytest.raises(ValueError, match="depth first"):
        pack(fold(recorded.samples, recorded.stacks, recorded.frames))


@pytest.mark.parametrize("data", [b"", b"no gzip", gzip.compress(b"JSON"), gzip.compress(b"EMBF\x09\0\0\0\0\0\0\0")])
def test_unpack_names_what_is_wrong_with_other_bytes(data):
    with pytest.raises(InputError, match="packed tree"):
        unpack(data)
