"""Columns of numbers and words as a page carries them: small, and typed arrays at once where they arrive.

`web/columns.js` is the other side. Gzip of: `EMBC`, the version (uint32, 1), the header's length in bytes (uint32), the
header (JSON in ASCII), then each column one after the other, little-endian. The header is a list with one entry per
column: `{"name", "type", "length"}`, and for `words` also `values`, the distinct texts.

- `ints`: int32, each as its difference to the one before (from 0), which gzip makes small where values are sorted
- `floats`: float64 as they are; NaN is null
- `words`: int32 places in `values`, as `ints`; -1 is null
"""

from __future__ import annotations

import base64
import gzip
import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

_VERSION: Final = 1

Values: TypeAlias = npt.NDArray[Any] | Sequence[str | None]


def pack_columns(columns: Mapping[str, Values]) -> str:
    """Columns by name as base64 text. Integers must lie in int32; lists of texts become `words`. Null text is None."""
    header: list[dict[str, Any]] = []
    bodies: list[bytes] = []
    for name, values in columns.items():
        entry: dict[str, Any] = {"name": name}
        if isinstance(values, np.ndarray) and values.dtype.kind == "f":
            entry["type"], body = "floats", values.astype("<f8").tobytes()
        elif isinstance(values, np.ndarray):
            entry["type"], body = "ints", _differences(values, name)
        else:
            places: dict[str, int] = {}
            codes = [-1 if value is None else places.setdefault(value, len(places)) for value in values]
            entry |= {"type": "words", "values": list(places)}
            body = _differences(np.array(codes, np.int64), name)
        header.append(entry | {"length": len(values)})
        bodies.append(body)
    head = json.dumps(header, separators=(",", ":")).encode("ascii")
    head += b" " * (-len(head) % 4)
    whole = b"EMBC" + struct.pack("<II", _VERSION, len(head)) + head + b"".join(bodies)
    return base64.b64encode(gzip.compress(whole, 6, mtime=0)).decode("ascii")


def _differences(values: npt.NDArray[Any], name: str) -> bytes:
    numbers = values.astype(np.int64)
    if len(numbers) and (int(numbers.min()) < -(2**31) or int(numbers.max()) >= 2**31):
        raise ValueError(f"column {name} has integers beyond 32 bits")
    # Differences may need 33 bits; they wrap, and wrap back when they are summed up in 32 bits.
    return np.diff(numbers, prepend=0).astype(np.int32).astype("<i4").tobytes()
