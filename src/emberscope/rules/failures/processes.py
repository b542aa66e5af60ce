"""Which process a line of a log is about: the driver, or which of the executors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from emberscope.rules.said import Said

_DRIVERS: Final = frozenset({"driver", "am", "client"})
_MOST_NAMED: Final = 4


def of_driver(row: Said) -> bool:
    """Whether the driver wrote it. A process that nothing is known of counts as an executor: there are more of them."""
    return row.role in _DRIVERS or row.executor_id == "driver"


def by_side(rows: Sequence[Said]) -> list[list[Said]]:
    """The rows of the driver, and those of all others; a side without any is left out."""
    sides = ([row for row in rows if of_driver(row)], [row for row in rows if not of_driver(row)])
    return [side for side in sides if side]


def named(rows: Sequence[Said]) -> str:
    """`executor 6`, `executors 1, 2 and 7 more`, `the driver`, `a JVM`, `5 JVMs`."""
    if of_driver(rows[0]):
        return "the driver"
    ids = sorted({row.executor_id for row in rows if row.executor_id}, key=lambda one: (len(one), one))
    if not ids:
        count = len({row.file for row in rows})
        return "a JVM" if count == 1 else f"{count} JVMs"
    more = f" and {len(ids) - _MOST_NAMED} more" if len(ids) > _MOST_NAMED else ""
    return f"executor{'' if len(ids) == 1 else 's'} {', '.join(ids[:_MOST_NAMED])}{more}"


def only_one(rows: Sequence[Said]) -> str | None:
    """The executor, or `driver`, that all rows are about; None where they are about several or nobody knows."""
    ids = {"driver" if of_driver(row) else row.executor_id for row in rows}
    return next(iter(ids)) if len(ids) == 1 else None
