"""The inner loops of the readers: decoding of records, interning of stacks, folding.

In C where it was built, else in Python: `NATIVE` says which, the results are the same. `EMBERSCOPE_KERNEL=python` in
the environment chooses Python.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

__all__ = [
    "CHOSEN",
    "NATIVE",
    "Decoder",
    "Lines",
    "Stacks",
    "Tree",
    "add",
    "elements",
    "folded",
    "tally",
    "where",
    "xxh32",
]

CHOSEN: Final = os.environ.get("EMBERSCOPE_KERNEL") == "python"
"""Whether Python was asked for."""

if TYPE_CHECKING:
    from emberscope.kernel._native import Decoder, Lines, Stacks, Tree, add, elements, folded, tally, where, xxh32

    NATIVE: Final[bool] = True
else:
    try:
        if CHOSEN:
            raise ImportError
        from emberscope.kernel._native import (
            ABI,
            Decoder,
            Lines,
            Stacks,
            Tree,
            add,
            elements,
            folded,
            tally,
            where,
            xxh32,
        )

        NATIVE = ABI == 2
        if not NATIVE:
            raise ImportError
    except ImportError:
        from emberscope.kernel.plain import Decoder, Lines, Stacks, Tree, add, elements, folded, tally, where, xxh32

        NATIVE = False
