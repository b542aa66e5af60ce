"""Secrets in the texts of a recording: environment, properties, command lines, and what looks like a key anywhere.

A value goes by the name beside it (`jdk.InitialEnvironmentVariable`, `jdk.InitialSystemProperty`, settings and flags
have a `key` or a `name`, and a `value`) and by the name of its own field; all texts go by what secrets look like
(`emberscope.redact`). Names in code are left alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from emberscope.redact import REPLACEMENT, Redactor


class Secrets:
    """Takes secrets out of arrays; `count` says out of how many values."""

    def __init__(self) -> None:
        self._redactor = Redactor()
        self.count = 0

    def cleaned(self, name: str, values: pa.Array) -> pa.Array:
        """A column without secrets; `name` is its path."""
        kind = values.type
        if pa.types.is_dictionary(kind):
            return self._texts(name.rpartition(".")[2], values)
        if pa.types.is_list(kind):
            inner = self.cleaned(name, values.values)
            return values if inner is values.values else _relisted(values, inner)
        if pa.types.is_struct(kind):
            fields = [self.cleaned(field.name, values.field(i)) for i, field in enumerate(kind)]
            return pa.StructArray.from_arrays(fields, [field.name for field in kind])
        return values

    def paired(self, keys: pa.DictionaryArray, values: pa.DictionaryArray) -> pa.DictionaryArray:
        """Values of which a second column says what they are of."""
        if values.null_count != len(values):
            hide = [self._redactor.is_secret(key) for key in keys.dictionary.to_pylist()]
            hidden = pc.fill_null(pa.array(hide, pa.bool_()).take(keys.indices), False)
            hidden = pc.and_(hidden, pc.is_valid(values))
            hidden = pc.and_(hidden, pc.fill_null(pc.not_equal(pc.cast(values, pa.string()), ""), False))
            count = pc.sum(hidden).as_py() or 0
            if count:
                self.count += count
                shown = pc.if_else(hidden, REPLACEMENT, pc.cast(values, pa.string()))
                return self._texts("", shown.dictionary_encode())
        return self._texts("", values)

    def _texts(self, field: str, values: pa.DictionaryArray) -> pa.DictionaryArray:
        texts: Sequence[str | None] = values.dictionary.to_pylist()
        if not texts:
            return values
        hide = bool(field) and self._redactor.is_secret(field)
        clean = [REPLACEMENT if hide and text else self._redactor.text(text) for text in texts]
        changed = np.array([a != b for a, b in zip(texts, clean, strict=True)])
        if not changed.any():
            return values
        self.count += int(pc.sum(pa.array(changed).take(values.indices)).as_py() or 0)
        return pa.DictionaryArray.from_arrays(values.indices, pa.array(clean, pa.string()))


def _relisted(lists: pa.ListArray, values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(lists.offsets, values, mask=lists.is_null() if lists.null_count else None)
