"""A part of the report: a section of the page that brings along all that it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emberscope.report.stage_rows import StageRow, stage_rows

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed


@dataclass(frozen=True, slots=True)
class Subject:
    """What every part is made from: the diagnosed run, whether it has samples, and the rows of its stage attempts."""

    item: Diagnosed
    recorded: bool
    stages: Sequence[StageRow]


@dataclass(frozen=True, slots=True)
class Part:
    """`templates/parts/<name>.html`, which sees `data` and nothing else; its section has `name` as its id.

    `title` stands in the page's navigation. `modules` and `styles` are those of `web/` that its elements need; what
    these modules import comes with them.
    """

    name: str
    title: str
    data: Mapping[str, Any]
    modules: Sequence[str] = ()
    styles: Sequence[str] = ()


def subject_of(item: Diagnosed) -> Subject:
    tables = item.run.tables
    samples = tables.get("samples")
    recorded = samples is not None and samples.num_rows > 0 and "stacks" in tables and "frames" in tables
    return Subject(item, recorded, stage_rows(item.run))
