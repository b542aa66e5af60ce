"""What the kernel takes of the lines of task events, by the records that msgspec reads: they say it once, for both.

Taken are starts of tasks, and the ends of first attempts that ended well; the few others need more care.
"""

from __future__ import annotations

import array
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

import msgspec
from msgspec.structs import FieldInfo, fields

from emberscope.eventlog.events import ABSENT, EndReason, Id, Int, TaskEnd, TaskStart
from emberscope.kernel import members as m

SUCCESS: Final = "Success"

Member = tuple[bytes, int, int, int, bytes, bool]

_ATTEMPTS: Final = frozenset({"attempt", "stage_attempt"})
"""Later attempts count in other ways too (`sql_retries.py`), which want their lines."""

_ACTIONS: Final = ((Int, m.LONG), (Id, m.INT), (bool, m.FLAG), (str, m.TEXT))


def kinds(ends: Sequence[str], starts: Sequence[str]) -> list[tuple[bytes, bytes, list[list[Member]]]]:
    """The program of `kernel.Lines` for rows with these columns, behind the number of the line."""
    return [_kind(TaskEnd, "TaskEnd", ends), _kind(TaskStart, "TaskStart", starts)]


def _kind(record: type[msgspec.Struct], name: str, columns: Sequence[str]) -> tuple[bytes, bytes, list[list[Member]]]:
    at = {column: position for position, column in enumerate(columns, 1)}
    row = array.array("q", [0] + [ABSENT] * len(columns))
    nodes: list[list[Member]] = []
    _add_node(record, at, row, nodes, name == "TaskEnd")
    return f'{{"Event":"SparkListener{name}"'.encode(), row.tobytes(), nodes


def _add_node(
    record: type[msgspec.Struct], at: Mapping[str, int], row: array.array[int], nodes: list[list[Member]], first: bool
) -> int:
    number = len(nodes)
    nodes.append([])
    for field in fields(record):
        key = f'"{field.encode_name}":'.encode()
        column = at.get(field.name, -1)
        if record is EndReason:
            is_reason = field.name == "reason"
            text = f'"{SUCCESS}"'.encode() if is_reason else b""
            nodes[number].append((key, m.IS if is_reason else m.ABSENT, -1, 0, text, is_reason))
            continue
        kind = _without_none(field.type)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            column = at.get(f"has_{field.name}", -1)
            nodes[number].append((key, m.OBJECT, column, _add_node(kind, at, row, nodes, first), b"", field.required))
        else:
            # A field of another type is for msgspec, and so are the lines that have it.
            action = next((action for known, action in _ACTIONS if kind == known), m.ABSENT)
            if first and field.name in _ATTEMPTS:
                action = m.ZERO
            nodes[number].append((key, action, column if action != m.ABSENT else -1, 0, b"", field.required))
        if column >= 0:
            row[column] = _default(field)
    return number


def _without_none(kind: Any) -> Any:
    if get_origin(kind) in (Union, UnionType):
        (kind,) = (part for part in get_args(kind) if part is not type(None))
    return kind


def _default(field: FieldInfo) -> int:
    if isinstance(field.default, int):
        return int(field.default)
    return 0 if field.name == "metrics" else ABSENT if field.required else -1
