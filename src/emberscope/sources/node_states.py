"""The state of a node among logs: its facts as rows beside those of records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from emberscope.logs.instance_state import log_events, read_instance_state

if TYPE_CHECKING:
    from emberscope.logs.read import LogReader

_MOST_BYTES: Final = 8 << 20
"""Outputs of commands on one machine; what is longer is something else."""


def read_node_state(reader: LogReader, stream: BinaryIO, file: str) -> None:
    """What one file of a node's state tells; secrets in the commands of processes are taken out."""
    text = stream.read(_MOST_BYTES).decode("utf-8", "replace")
    for row in log_events(read_instance_state(text, file), file):
        time_ms = row.pop("time_ms")
        fields = json.loads(row.pop("fields"))
        kept = {name: {key: _plain(reader, value) for key, value in group.items()} for name, group in fields.items()}
        values: dict[str, Any] = {key: row[key] for key in row if key not in ("last_ms", "count", "signatures")}
        values |= {"message": _plain(reader, row["message"]), "text": _plain(reader, row["text"]), "executor_id": None}
        reader.folding.add(values, time_ms, kept, ())
    reader.lines += text.count("\n")


def _plain(reader: LogReader, text: str) -> str:
    return reader.redactor.text(text) or ""
