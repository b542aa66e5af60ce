import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from emberscope.profile.integers import packed, planes, unpacked, unplanes, unvarints, varints

INTEGERS = st.integers(0, 63).flatmap(lambda bits: st.lists(st.integers(0, 2**bits - 1)))


@given(INTEGERS)
def test_prop_unvarints_undoes_varints(values):
    assert unvarints(varints(np.array(values, np.int64))).tolist() == values


@given(INTEGERS)
def test_prop_unpacked_undoes_packed(values):
    encoding, width, data = packed(np.array(values, np.int64))
    assert unpacked(encoding, width, data).tolist() == values
    assert max(values, default=0) < 256**width


def test_varints_have_seven_bits_a_byte_lowest_first():
    assert varints(np.array([0, 127, 128, 300], np.int64)) == bytes([0, 127, 128, 1, 172, 2])


def test_planes_have_the_lowest_bytes_first():
    values = np.array([1, 256, 515], np.int64)
    assert planes(values, 2) == bytes([1, 0, 3, 0, 1, 2])
    assert unplanes(planes(values, 2), 2).tolist() == [1, 256, 515]
