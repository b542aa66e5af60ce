"""The blocks that a stage fetched: one for each pair of a task that wrote the shuffle and one that reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.rules.long_stages import ratios

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.simulate.stage_figures import StageFigures

TINY_BYTES: Final = 16 << 10
"""Blocks below 16 KiB cost more to ask for than to send (our proposal)."""

MANY_BLOCKS: Final = 100_000
"""So many of them have to be fetched before anybody notices (our proposal)."""


def block_counts(figures: StageFigures) -> NDArray[np.float64]:
    """Blocks that the tasks of each stage attempt fetched."""
    counts: NDArray[np.float64] = figures.total("shuffle_read_local_blocks") + figures.total(
        "shuffle_read_remote_blocks"
    )
    return counts


def fetched_bytes(figures: StageFigures) -> NDArray[np.float64]:
    """Shuffle bytes that the tasks of each stage attempt read."""
    sizes: NDArray[np.float64] = figures.total("shuffle_read_local_bytes") + figures.total("shuffle_read_remote_bytes")
    return sizes


def blocks_are_tiny(figures: StageFigures) -> NDArray[np.bool_]:
    """By stage attempt, whether it fetched very many blocks that are tiny on average."""
    counts = block_counts(figures)
    tiny: NDArray[np.bool_] = (counts >= MANY_BLOCKS) & (ratios(fetched_bytes(figures), counts) < TINY_BYTES)
    return tiny
