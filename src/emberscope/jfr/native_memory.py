"""Which native memory was given back: `profiler.Malloc` against `profiler.Free`, by address and time.

async-profiler samples some calls of malloc and writes every call of free, so most frees are of memory that no sample
tells of. An address is used again and again: a free belongs to the last allocation there before it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.int64]


def freed(malloc_ns: Times, malloc_addresses: Times, free_ns: Times, free_addresses: Times) -> npt.NDArray[np.bool_]:
    """For each allocation, in the order given, whether it was given back before its address was allocated anew.

    Allocations and frees may come in any order, of any number of chunks; addresses are 64 bits as the file has them. A
    free at the very time of an allocation at its address is of the memory before: nothing lives for no time.
    """
    gone = np.zeros(len(malloc_ns), np.bool_)
    ours = np.isin(free_addresses, malloc_addresses)
    free_ns, free_addresses = free_ns[ours], free_addresses[ours]
    addresses = np.concatenate([malloc_addresses, free_addresses])
    times = np.concatenate([malloc_ns, free_ns])
    is_malloc = np.arange(len(times)) < len(malloc_ns)
    order = np.lexsort((is_malloc, times, addresses))
    follows = np.flatnonzero(
        is_malloc[order[:-1]] & ~is_malloc[order[1:]] & (addresses[order[:-1]] == addresses[order[1:]])
    )
    gone[order[follows]] = True
    return gone
