"""Ints as they are given (bytes or any buffer of the right width) as memoryviews that can be indexed."""

from __future__ import annotations

from array import array
from typing import Final, TypeAlias

Ints: TypeAlias = memoryview | bytes | bytearray

_WIDTHS: Final = {"q": 8, "i": 4}


def ints(given: Ints, form: str) -> memoryview:
    """A flat view of format `form` (q or i) over the memory given.

    Raises `TypeError` for items of another width, `ValueError` for bytes that are no whole number of items.
    """
    view = memoryview(given)
    if view.itemsize not in (1, _WIDTHS[form]):
        raise TypeError(f"items of {view.itemsize} bytes, not of {_WIDTHS[form]}")
    if view.nbytes % _WIDTHS[form]:
        raise ValueError(f"{view.nbytes} bytes are no whole number of items")
    if not view.nbytes:
        return memoryview(array(form))
    if view.format == form and view.ndim == 1:
        return view
    return view.cast("B").cast(form)  # type: ignore[call-overload, no-any-return]
