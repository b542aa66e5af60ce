"""A recording straight to folded stacks, where nothing else of it is needed."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from emberscope.jfr.folding import Folded

_JFR: Final = b"FLR\0"


def fold_at_once(path: str, event: str | None, *, lines: bool = False, compilation: bool = False) -> Folded | None:
    """The folded stacks of one recording, by the number of samples. None where it takes `load` to make them.

    That is: where `path` is no plain recording, where a manifest of ours lies beside it, and where there are no samples
    of this event, or none of those that are counted. Raises `InputError` where the recording cannot be read.
    """
    try:
        with open(path, "rb") as file:
            is_plain = file.read(len(_JFR)) == _JFR
    except OSError:
        return None
    if not is_plain or os.path.exists(f"{os.path.splitext(path)[0]}.json"):
        return None
    from emberscope.jfr.folding import fold_recording

    collecting = gc.isenabled()
    gc.disable()  # millions of small objects and not one cycle: looking for some takes a tenth of the time
    try:
        return fold_recording(path, path, event, lines=lines, compilation=compilation)
    finally:
        if collecting:
            gc.enable()
