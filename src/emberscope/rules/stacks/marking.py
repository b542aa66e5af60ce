"""Which hot spot each stack of the prefix tree is: all patterns in two passes over its levels, no loop over nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from emberscope.profile.ancestry import levels, tree_arrays
from emberscope.rules.stacks.pattern import CONTEXTS, Pattern
from emberscope.rules.stacks.patterns import PATTERNS
from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run

NONE: Final = -1


class Marks(Struct, frozen=True):
    """By node of table stacks: the number of the pattern that has it (-1 for none), and the node at which the marked
    part of the stack begins (of the root where there is none), whose callers are who asked for it."""

    pattern: NDArray[np.int16]
    entry: NDArray[np.int32]
    parents: NDArray[np.int32]
    frames: NDArray[np.int32]


def marks_of(stacks: pa.Table, frames: pa.Table, patterns: Sequence[Pattern]) -> Marks:
    """The pattern of every stack."""
    parents, frame_of = tree_arrays(stacks)
    by_level = levels(parents)
    # An entry more than there are frames stands for the root, which has none.
    names = frames["name"].combine_chunks() if frames.num_rows else pa.array([], pa.string())
    held = _contexts(names, parents, frame_of, by_level)
    own = np.full(len(parents), NONE, np.int16)
    ranks = np.array([*(pattern.rank for pattern in patterns), -1])
    for number, pattern in reversed(list(enumerate(patterns))):
        nodes = np.flatnonzero(_matching(names, pattern.expression)[frame_of])
        for context in pattern.inside:
            nodes = nodes[held[context][nodes]]
        for context in pattern.outside:
            nodes = nodes[~held[context][nodes]]
        own[nodes[ranks[own[nodes]] <= pattern.rank]] = number
    pattern_of, entry = own.copy(), np.zeros(len(parents), np.int32)
    for nodes in by_level[1:]:
        above, mine = pattern_of[parents[nodes]], own[nodes]
        takes = (mine != NONE) & (mine != above) & (ranks[mine] >= ranks[above])
        pattern_of[nodes] = np.where(takes, mine, above)
        entry[nodes] = np.where(takes, nodes, entry[parents[nodes]])
    return Marks(pattern_of, entry, parents, frame_of)


def _contexts(
    names: pa.Array, parents: NDArray[np.int32], frame_of: NDArray[np.int32], by_level: Sequence[NDArray[np.int64]]
) -> dict[str, NDArray[np.bool_]]:
    """By context the nodes at which it holds."""
    held = {}
    for context, expression in CONTEXTS.items():
        holds = _matching(names, f"^(?:{expression})")[frame_of]
        if holds.any():
            for nodes in by_level[1:]:
                holds[nodes] |= holds[parents[nodes]]
        held[context] = holds
    return held


def _matching(names: pa.Array, expression: str) -> NDArray[np.bool_]:
    """Which frames match, with one more entry for no frame."""
    found = pc.fill_null(pc.match_substring_regex(names, expression), False)
    return np.append(np.asarray(found.to_numpy(zero_copy_only=False), dtype=np.bool_), False)


@once
def marks(run: Run) -> Marks:
    """The patterns of all rules over the stacks of a run that has them."""
    return marks_of(run.tables["stacks"], run.tables["frames"], PATTERNS)
