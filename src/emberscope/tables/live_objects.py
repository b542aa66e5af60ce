"""Live objects that a recorder told of again and again, each time that it looked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

OLD: Final = "old"
"""The variant of samples of which each look tells anew."""

_SITE: Final = ("role", "executor_id", "object_class", "stack")


def at_most(samples: pa.Table, looks: npt.NDArray[np.int64]) -> pa.Table:
    """`samples` with the live objects of one look for each process, class and stack: that at which most of them lived.

    `looks` has the number of the look of each row, from 0. JDK Flight Recorder tells at the end of each chunk of all
    objects that it follows and that still live, so that what lives long is told of in every chunk; added up it would
    grow with the number of chunks. Of looks with equally many the last one stays. Other rows stay as they are.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    is_old = pc.fill_null(pc.equal(samples["variant"], OLD), False).to_numpy()
    rows = np.flatnonzero(is_old)
    if not len(rows) or len(np.unique(looks[rows])) == 1:
        return samples
    live = samples.take(pa.array(rows))
    site = np.zeros(len(rows), np.int64)
    for name in _SITE:
        column = live[name].combine_chunks()
        codes = column if name == "stack" else pc.dictionary_encode(column.cast(pa.string())).indices
        part = codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
        site = np.unique(site * (int(part.max()) + 1) + part, return_inverse=True)[1].astype(np.int64)
    width = int(looks.max()) + 1
    pairs, which, counts = np.unique(site * width + looks[rows], return_inverse=True, return_counts=True)
    of_site, look = np.divmod(pairs, width)
    order = np.lexsort((look, counts, of_site))
    best = np.zeros(len(pairs), np.bool_)
    best[order[np.append(np.diff(of_site[order]) != 0, True)]] = True
    kept = ~is_old
    kept[rows] = best[which]
    return samples.filter(pa.array(kept))
