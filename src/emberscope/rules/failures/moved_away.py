"""Settings that let an executor hand its blocks to others before it goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.rules.base import Advice, set_conf
from emberscope.rules.settings import is_on, version

if TYPE_CHECKING:
    from emberscope.tables.run import Run

_FIRST: Final = (3, 1)
_BLOCKS_BY_DEFAULT: Final = (3, 4)


def moved_away(run: Run) -> Iterator[Advice]:
    """What this run does not have set of it; nothing for a Spark that cannot. An unknown version is taken for new."""
    now = version(run)
    if (0, 0) < now < _FIRST:
        return
    yielded = (
        ("spark.decommission.enabled", "An executor that is told to go finishes what it can.", False),
        ("spark.storage.decommission.enabled", "It hands its blocks, shuffle output too, to others first.", False),
    )
    for key, text, default in yielded:
        if not is_on(run, key, default=default):
            yield set_conf(key, "true", text)
    blocks = "spark.storage.decommission.shuffleBlocks.enabled"
    if (0, 0) < now < _BLOCKS_BY_DEFAULT and not is_on(run, blocks, default=False):
        yield set_conf(blocks, "true", "Shuffle output among them.")
