"""Answers to a complaint in plain words: numbers that it gives, and a finding that says what it takes for granted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.base import Advice, Finding, Where
from emberscope.rules.said import Said, said
from emberscope.units import parse_bytes

if TYPE_CHECKING:
    from emberscope.tables.run import Run

SURE: Final = 0.6
"""How sure an answer to words alone is: symptoms fit, but nothing was measured."""

_SIZE: Final = re.compile(r"(\d+(?:[.,]\d+)?)\s?([KMGT]i?B)\b", re.IGNORECASE)
_CORES: Final = re.compile(r"(\d+)\s*(?:v?cores|vcpus?|slots)\b", re.IGNORECASE)
_EXECUTORS: Final = re.compile(
    r"(\d+)\s*(?:executors?|workers?|nodes?|machines?)\s*(?:x|×|\*|with|of|,|each with)\s*(\d+)\s*v?cores",
    re.IGNORECASE,
)
_PARTITIONS: Final = re.compile(
    r"shuffle[._ ]partitions\s*(?:=|is|to|of|:)?\s*(\d+)|(\d+)\s+(?:shuffle\s+)?partitions", re.IGNORECASE
)


class Limits(Struct, frozen=True):
    """Words have no threshold; values that are computed from numbers in them aim at partitions and files of 128 MiB."""

    aim_bytes: int = 128 << 20


def asked(run: Run, signature: str) -> tuple[Said, ...]:
    """What a person told in words of their own; no record of a log and no exception in one."""
    return tuple(row for row in said(run, signature) if row.level is None and row.exception is None)


def answer(
    rows: tuple[Said, ...],
    *,
    title: str,
    summary: str,
    advice: Iterable[Advice],
    confirm: str,
    confidence: float = SURE,
) -> Finding:
    """The finding; `confirm` is what input would tell for sure."""
    return Finding(
        title=title,
        summary=summary,
        where=Where(),
        evidence=tuple(row.evidence() for row in rows[:3]),
        advice=(*advice, Advice("check", confirm)),
        wasted_wall_ms=None,
        wasted_core_ms=None,
        saving_basis="Words alone have no price: an event log of the run gives one.",
        confidence=confidence,
        consequence="hint" if any(row.level for row in rows) else "risk",
    )


def sizes(text: str) -> list[int]:
    """The sizes that a text names, in bytes, in their order."""
    return [parse_bytes(f"{number.replace(',', '.')}{unit}", default_unit="b") for number, unit in _SIZE.findall(text)]


def cores(text: str) -> int | None:
    """How many cores a text says there are: `3 executors x 4 cores`, `12 cores`."""
    each = _EXECUTORS.search(text)
    product = int(each[1]) * int(each[2]) if each else 0
    return max([product, *(int(one) for one in _CORES.findall(text))]) or None


def shuffle_partitions(text: str) -> int | None:
    """The number of shuffle partitions that a text names."""
    found = _PARTITIONS.search(text)
    return int(found[1] or found[2]) if found else None
