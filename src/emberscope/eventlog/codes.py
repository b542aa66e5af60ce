"""Texts that come again and again, as small integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Codes(dict[str | None, int]):
    """A code for every distinct text; None is -1."""

    def __init__(self) -> None:
        super().__init__({None: -1})

    def __missing__(self, text: str | None) -> int:
        code = self[text] = len(self) - 1
        return code

    def texts(self) -> list[str]:
        return [text for text in self if text is not None]

    def of_positions(self, positions: NDArray[np.int64], texts: list[str]) -> NDArray[np.int64]:
        """Codes of texts that are given by their positions in a list; -1 is None."""
        used = np.zeros(len(texts) + 1, dtype=np.bool_)
        used[positions] = True
        codes = np.full(len(texts) + 1, -1, dtype=np.int64)
        for position in np.flatnonzero(used[:-1]).tolist():
            codes[position] = self[texts[position]]
        return codes[positions]
