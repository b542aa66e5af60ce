import gzip
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emberscope.errors import InputError
from emberscope.profile.flame_data import flame_data
from emberscope.profile.fold import compacted, fold
from emberscope.profile.pack import pack, pack_flame, unpack, unpack_flame
from tests.profile.strategies import recording, rows
from tests.profile.test_flame_data import TASKS


@given(rows(), st.sampled_from(["count", "value"]))
def test_prop_unpack_undoes_pack(samples, weight):
    recorded = recording(samples)
    tree = compacted(fold(recorded.samples, recorded.stacks, recorded.frames, weight=weight))
    assert unpack(pack(tree)) == tree


@given(rows(), st.none() | st.integers(-(10**9), 10**9))
def test_prop_unpack_undoes_pack_with_all_weight_columns(samples, start_ns):
    recorded = recording(samples)
    flame = flame_data(recorded.samples, recorded.stacks, recorded.frames, TASKS, start_ns)
    back = unpack_flame(pack_flame(flame))
    for field in fields(flame):
        was, now = getattr(flame, field.name), getattr(back, field.name)
        if isinstance(was, np.ndarray):
            assert (now.dtype, now.tolist()) == (was.dtype, was.tolist()), field.name
        elif field.name == "facets":
            assert [(n, f.values, f.places.tolist()) for n, f in now.items()] == [
                (n, f.values, f.places.tolist()) for n, f in was.items()
            ]
        else:
            assert now == was, field.name


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


@pytest.mark.parametrize(
    "data", [b"", b"no gzip", gzip.compress(b"JSON", mtime=0), gzip.compress(b"EMBF\x09\0\0\0\0\0\0\0", mtime=0)]
)
def test_unpack_names_what_is_wrong_with_other_bytes(data):
    with pytest.raises(InputError, match="packed tree"):
        unpack(data)
