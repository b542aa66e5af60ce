"""A part of the report: a section of the page that brings along all that it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from emberscope.report.bars import Anchors
from emberscope.report.hotspots import Heap, Hotspots, heaps, hotspots
from emberscope.report.seen import Seen, seen
from emberscope.report.sql_rows import SqlPart, sql_part
from emberscope.report.stage_rows import MOST_STAGES, ExecutorRow, StageRow, executor_rows, stage_rows
from emberscope.report.story import Chapter, story

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed


@dataclass(frozen=True, slots=True)
class Subject:
    """What the parts are made from: the diagnosed run, and what several of them show.

    `recorded` is whether there are samples, `stages` are all stage attempts and `shown_stages` those of them that the
    page has rows for, `anchors` what the page has to link to.
    """

    item: Diagnosed
    recorded: bool
    story: tuple[Chapter, ...]
    stages: Sequence[StageRow]
    shown_stages: Sequence[StageRow]
    executors: Sequence[ExecutorRow]
    hotspots: Hotspots | None
    heaps: tuple[Heap, ...]
    sql: SqlPart | None
    seen: Seen
    anchors: Anchors

    @property
    def recording_alone(self) -> bool:
        """Whether all that is known are samples: no event log."""
        return self.recorded and "tasks" not in self.item.run.tables and not self.story

    @property
    def linked_stages(self) -> list[int]:
        """The stages that links of the page lead to the flame graph of."""
        told = [row.stage_id for row in self.shown_stages]
        told += [one.finding.where.stage for one in self.anchors.findings if one.finding.where.stage is not None]
        told += [one.stage for one in (self.hotspots.methods if self.hotspots else ()) if one.stage is not None]
        return sorted(set(told))


@dataclass(frozen=True, slots=True)
class Part:
    """`templates/parts/<name>.html`, which sees `data` and nothing else; its section has `name` as its id.

    `title` stands in the page's navigation. `modules` and `styles` are those of `web/` that its elements need; what
    these modules import comes with them. `vendored` are those of `web/vendor/` that stand before them.
    """

    name: str
    title: str
    data: Mapping[str, Any]
    modules: Sequence[str] = ()
    styles: Sequence[str] = ()
    vendored: Sequence[str] = ()


def subject_of(item: Diagnosed) -> Subject:
    run, findings = item.run, item.diagnosis.findings
    samples = run.tables.get("samples")
    recorded = samples is not None and samples.num_rows > 0 and "stacks" in run.tables and "frames" in run.tables
    rows = stage_rows(run)
    large = {id(row) for row in sorted(rows, key=lambda row: -row.task_ms)[:MOST_STAGES]}
    shown = [row for row in rows if id(row) in large]
    sql = sql_part(run, findings, recorded)
    executions = frozenset(execution.id for execution in sql.executions) if sql else frozenset()
    return Subject(
        item,
        recorded,
        story(run),
        rows,
        shown,
        executor_rows(run),
        hotspots(run, findings),
        heaps(run),
        sql,
        seen(run),
        Anchors(findings, {(row.stage_id, row.attempt) for row in shown}, executions, recorded),
    )
