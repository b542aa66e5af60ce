"""Stacks the other way round: leaf first, so that all callers of a method stand above one node."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from emberscope.profile.ancestry import tree_arrays
from emberscope.tables.samples import SAMPLES
from emberscope.tables.stacks import STACKS


def reverse(samples: pa.Table, stacks: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The same samples over a prefix tree whose first level holds the top frames. Frames keep their numbers."""
    parents, frames = (array.tolist() for array in tree_arrays(stacks))
    old = samples["stack"].fill_null(0).to_numpy()
    new_of = np.zeros(len(parents), np.int32)
    new_parents, new_frames = [-1], [-1]
    nodes: dict[tuple[int, int], int] = {}
    for leaf in np.unique(old).tolist():
        node, new = leaf, 0
        while node > 0:
            key = (new, frames[node])
            new = nodes.setdefault(key, len(new_parents))
            if new == len(new_parents):
                new_parents.append(key[0])
                new_frames.append(key[1])
            node = parents[node]
        new_of[leaf] = new
    index = samples.schema.get_field_index("stack")
    reversed_samples = samples.set_column(index, SAMPLES.schema().field("stack"), pa.array(new_of[old]))
    return reversed_samples, STACKS.from_columns({"parent": new_parents, "frame": new_frames})
