"""The kernel in C gives memory back, and says so where there is none."""

from __future__ import annotations

import subprocess
import sys

import pytest

from emberscope.kernel.ops import ARRAY, LONG

native = pytest.importorskip("emberscope.kernel._native")
resource = pytest.importorskip("resource")

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

DATA = b"\x08\x07\x05\x03\x01\x02\x03\x00" * 50_000
PROGRAM = [LONG, 0, 0, ARRAY, 1, 3, LONG, 2, 0]


def _resident_bytes() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def _once() -> None:
    decoder = native.Decoder(DATA, True)
    decoder.program(7, PROGRAM)
    decoder.events(0, len(DATA), None)
    keys = decoder.column(7, 0)
    decoder.lookup(7, keys)
    tree = native.Tree()
    tree.node(range(2_000))
    nodes = native.tally(bytes(4 * 1_000), None, None, 5)
    native.folded(tree.parents(), tree.frames(), memoryview(bytes(8 * tree.size())), ["a"] * 2_000)
    native.where(keys, frozenset(nodes))


@linux
def test_nothing_is_kept() -> None:
    for _ in range(20):
        _once()
    before = _resident_bytes()
    for _ in range(200):
        _once()
    assert _resident_bytes() - before < 200 * 20_000  # one lost column of each round would be 80 MB


_STARVED = """
import resource
from emberscope.kernel._native import Decoder
data = bytes([8, 7, 5, 3, 1, 2, 3, 0]) * 2_000_000
decoder = Decoder(data, True)
decoder.program(7, [0, 0, 0, 9, 1, 3, 0, 2, 0])
with open("/proc/self/statm") as statm:
    mapped = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + (40 << 20),) * 2)
try:
    decoder.events(0, len(data), None)
except MemoryError:
    rows = decoder.rows(7)
    assert 0 < rows < 2_000_000
    assert len(decoder.column(7, 0)) == rows and len(decoder.column(7, 2)) == 3 * rows
    assert decoder.counts() == {7: rows}
    print("told")
"""


@linux
def test_want_of_memory_is_told_and_leaves_whole_records() -> None:
    done = subprocess.run([sys.executable, "-c", _STARVED], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("told\n", 0), done.stderr
