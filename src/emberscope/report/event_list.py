"""The event types of recordings, with their columns, as text and as a document."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from emberscope.report.event_text import type_name
from emberscope.sources.events import EventType
from emberscope.units import counted, format_count


def columns_of(schema: pa.Schema) -> list[dict[str, str | None]]:
    """Columns as the document has them. Times are epoch ms there, and time spans ns."""
    return [
        {
            "name": field.name,
            "type": type_name(field.type),
            "unit": "ms since epoch" if pa.types.is_timestamp(field.type) else _fact(field, "unit"),
            "label": _fact(field, "label"),
        }
        for field in schema
    ]


def types_document(types: Sequence[EventType]) -> list[dict[str, Any]]:
    return [
        {
            "name": kind.name,
            "events": kind.events,
            "label": _fact(kind.schema, "label"),
            "category": _fact(kind.schema, "category"),
            "description": _fact(kind.schema, "description"),
            "columns": columns_of(kind.schema),
        }
        for kind in types
    ]


def types_text(inputs: str, types: Sequence[EventType]) -> str:
    """A paragraph for each type: how many, its name, its columns with their units."""
    total = sum(kind.events for kind in types)
    lines = [f"{inputs}: {counted(total, 'event')} of {counted(len(types), 'type')}", ""]
    width = max((len(format_count(kind.events)) for kind in types), default=0)
    for kind in types:
        label = _fact(kind.schema, "label")
        lines.append(f"{format_count(kind.events):>{width}}  {kind.name}{f' ({label})' if label else ''}")
        names = ", ".join(_column(field) for field in kind.schema)
        margin = " " * (width + 4)
        lines += textwrap.wrap(
            names, 100, initial_indent=margin, subsequent_indent=margin, break_long_words=False, break_on_hyphens=False
        )
    return "\n".join(lines) + "\n"


def _column(field: pa.Field) -> str:
    unit = _fact(field, "unit")
    return f"{field.name} [{unit}]" if unit else field.name


def _fact(of: pa.Field | pa.Schema, name: str) -> str | None:
    found = (of.metadata or {}).get(name.encode())
    return found.decode() if found else None
