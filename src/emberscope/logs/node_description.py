"""`kubectl describe node`: what is wrong with a machine of the cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from emberscope.logs.statement import Statement

_CONDITION: Final = re.compile(r"^\s+(\w+)\s+(True|False|Unknown)\s{2,}(.*)$")
_CELL: Final = re.compile(r"\s{2,}")


def is_node(lines: Sequence[str]) -> bool:
    return any(line.startswith("Allocatable:") for line in lines)


def node_statements(name: str, lines: Sequence[str], line_of: Callable[[str], int | None]) -> Iterator[Statement]:
    """Its conditions that are not as they should be: pressure that is there, readiness that is not."""
    section = ""
    for line in lines:
        if line[:1].strip():
            section = line.partition(":")[0]
        found = _CONDITION.match(line) if section == "Conditions" else None
        if found is None:
            continue
        kind, state = found[1], found[2]
        if state == ("True" if kind == "Ready" else "False"):
            continue
        # Last heartbeat, last transition, reason, message; times have single blanks in them.
        cells = _CELL.split(found[3].strip())
        reason, message = cells[-2:] if len(cells) > 1 else ("", cells[-1])
        said = f"Node {name}: {kind} is {state}: {reason}: {message}"
        text = f"{said}\nThe node had condition: [{kind}]" if kind != "Ready" else said
        yield Statement(said, text, line_of(line), None, "WARN", "kubernetes", "node", host=name)
