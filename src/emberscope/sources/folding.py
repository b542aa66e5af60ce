"""A recording straight to folded stacks, where nothing else of it is needed."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING, Final

from emberscope.tables.samples import COUNTED_EVENTS

if TYPE_CHECKING:
    from emberscope.jfr.folding import Folded

_JFR: Final = b"FLR\0"


def fold_at_once(
    path: str, event: str | None, *, by_number: bool = False, lines: bool = False, compilation: bool = False
) -> Folded | None:
    """The folded stacks of one recording, by the number of samples. None where it takes `load` to make them.

    That is: where `path` is no recording, where a manifest of ours lies beside it, where there are no samples of this
    event, where each chunk may tell of them anew (live objects), and where they do not weigh what they are counted as,
    unless they are wanted `by_number`.
    Raises `InputError` where the recording cannot be read.
    """
    if event == "live" or (event is not None and event not in COUNTED_EVENTS and not by_number):
        return None
    if not _is_recording(path) or os.path.exists(f"{os.path.splitext(path)[0]}.json"):
        return None
    from emberscope.jfr.folding import fold_recording

    collecting = gc.isenabled()
    gc.disable()  # millions of small objects and not one cycle: looking for some takes a tenth of the time
    try:
        return fold_recording(path, path, event, lines=lines, compilation=compilation)
    finally:
        if collecting:
            gc.enable()


def _is_recording(path: str) -> bool:
    """Told by the content, packed or not."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            if file.read(len(_JFR)) == _JFR:
                return True
    except OSError:
        return False
    from pathlib import Path

    from emberscope.sources.kind import is_recording

    return is_recording(Path(path))
