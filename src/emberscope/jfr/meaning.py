"""What the annotations of a field say of its values: unit, label, and whether they are times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from emberscope.jfr.metadata import Field, Metadata

TICKS: Final = "TICKS"
_EPOCH: Final = "_SINCE_EPOCH"
_UNITS: Final = (
    ("DataAmount", "bytes"),
    ("MemoryAmount", "bytes"),
    ("MemoryAddress", "address"),
    ("Percentage", "ratio"),
)
"""Annotations of package jdk.jfr that give a unit; MemoryAmount is that of JDK 9."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """`instant` or `span` is the unit of a point in time or of a time span, as the metadata call it (`TICKS`,
    `MILLISECONDS`); else both are empty. `unit` is for people, empty where there is none."""

    instant: str = ""
    span: str = ""
    unit: str = ""
    label: str = ""
    description: str = ""
    is_unsigned: bool = False


NOTHING_SAID: Final = Meaning()


def meaning(metadata: Metadata, field: Field | None, path: str) -> Meaning:
    """What a field means. `startTime` and `duration` of an event are in ticks where nothing is said of them."""
    if field is None:
        return NOTHING_SAID

    def annotation(name: str) -> str | None:
        return metadata.annotation(field, f"jdk.jfr.{name}")

    instant, span = annotation("Timestamp"), annotation("Timespan")
    if instant is None and span is None:
        instant = TICKS if path == "startTime" else None
        span = TICKS if path == "duration" else None
    unit = next((unit for name, unit in _UNITS if annotation(name) is not None), "")
    if annotation("DataAmount") == "BITS":
        unit = "bits"
    if annotation("Frequency") is not None:
        unit = f"{unit}/s" if unit else "Hz"
    return Meaning(
        "" if instant is None else (instant or "MILLISECONDS").removesuffix(_EPOCH),
        "" if span is None else span or "NANOSECONDS",
        unit,
        annotation("Label") or "",
        annotation("Description") or "",
        annotation("Unsigned") is not None,
    )
