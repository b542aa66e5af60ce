"""The two bars of the page, part by part: where each begins, how wide it is, its colour, and where it leads."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from emberscope.report.story import Chapter
    from emberscope.report.waterfall import Part
    from emberscope.rules.evaluate import Ranked

# The rule that prices a part of the waterfall: the part links to its finding where there is one.
_RULE_OF_PART: Final = {
    "driver_alone": ("A1",),
    "driver_before": ("A1",),
    "driver_between": ("A1",),
    "driver_after": ("A1",),
    "idle_cores": ("A2", "B1"),
    "gc": ("C1",),
    "python": ("F3",),
    "cpu_spill": ("C3",),
    "spill": ("C3",),
}
_COLOURS: Final = {
    "driver_alone": "driver",
    "driver_before": "driver",
    "driver_between": "driver",
    "driver_after": "idle",
    "other_work": "other",
    "unknown_work": "other",
    "waiting_for_executors": "scheduling",
    "scheduling": "scheduling",
    "python": "python",
    "gc": "gc",
    "shuffle_fetch_wait": "shuffle",
    "shuffle_write": "shuffle",
    "spill": "spill",
    "task_overhead": "overhead",
    "task_wait": "wait",
    "task_unsplit": "wait",
    "failed_attempts": "failed",
    "unended_tasks": "failed",
    "idle_cores": "idle",
    "residual": "residual",
}
# What the charts over time tell more of than the table of stages: running tasks, CPU of the machine, GC.
_OVER_TIME: Final = frozenset(("task_wait", "task_unsplit", "gc", "idle_cores", "spill"))
# So many characters fit into a hundredth of the bar's width where the window is 1,280 px wide.
_CHARACTERS: Final = 1.7
_MOST_WORK: Final = 8
_MOST_CPU: Final = 6


@dataclass(frozen=True, slots=True)
class Bar:
    """One part of a bar: `start` and `width` in per cent of it, `percent` as it is written, `colour` a class of the
    page's style sheet, `href` an anchor of the page or a state of the flame graph."""

    part: str
    label: str
    short: str
    note: str
    wall_ms: int
    start: float
    width: float
    percent: str
    colour: str
    href: str


@dataclass(frozen=True, slots=True)
class Anchors:
    """What the page has to link to."""

    findings: Sequence[Ranked]
    stages: Container[tuple[int, int]]
    executions: Container[int]
    recorded: bool

    def finding_of(self, part: str) -> str | None:
        """The finding whose rule prices this part of the time."""
        for code in _RULE_OF_PART.get(part, ()):
            for number, finding in enumerate(self.findings, 1):
                if finding.rule.code == code:
                    return f"#finding-{number}"
        return None


def story_bar(chapters: Sequence[Chapter], anchors: Anchors) -> list[Bar]:
    shades = (f"work{shade % _MOST_WORK}" for shade in count())
    hrefs = [_chapter_href(chapter, anchors) for chapter in chapters]
    return _bars(chapters, shades, hrefs, [chapter.label.replace("SQL execution ", "SQL ") for chapter in chapters])


def _chapter_href(chapter: Chapter, anchors: Anchors) -> str:
    """The SQL execution, else the stage, else the finding, else what the cores did."""
    if chapter.sql is not None and chapter.sql in anchors.executions:
        return f"#sql-{chapter.sql}"
    if chapter.stage is not None and chapter.stage in anchors.stages:
        return f"#stage-{chapter.stage[0]}-{chapter.stage[1]}"
    if chapter.part.endswith("work"):
        return "#stages"
    finding = anchors.finding_of(chapter.part)
    if finding:
        return finding
    if chapter.part.startswith("driver") and anchors.recorded:
        return "#executor=driver"
    return "#executors" if chapter.part == "waiting_for_executors" else "#cores"


def cores_bar(parts: Sequence[Part], anchors: Anchors) -> list[Bar]:
    shades = (f"cpu{min(shade, _MOST_CPU - 1)}" for shade in count())
    return _bars(parts, shades, [_part_href(part, anchors) for part in parts], [part.label for part in parts])


def _bars(
    pieces: Sequence[Chapter | Part], shades: Iterator[str], hrefs: Sequence[str], shorts: Sequence[str]
) -> list[Bar]:
    """Side by side; what has no colour of its own takes the next of `shades`."""
    bars, start = [], 0.0
    written = percents([piece.ratio for piece in pieces])
    for piece, percent, href, short in zip(pieces, written, hrefs, shorts, strict=True):
        width = 100 * piece.ratio
        bars.append(
            Bar(
                piece.part,
                piece.label,
                _short(short, width),
                piece.note,
                piece.wall_ms,
                round(start, 3),
                round(width, 3),
                percent,
                _COLOURS.get(piece.part) or next(shades),
                href,
            )
        )
        start += width
    return bars


def _part_href(part: Part, anchors: Anchors) -> str:
    """The finding that prices the part, else the flame graph for what it has, the charts for what they show, else the
    stages."""
    finding = anchors.finding_of(part.part)
    if finding:
        return finding
    if part.is_cpu and anchors.recorded:
        return "#flame"
    if part.part == "driver_alone" and anchors.recorded:
        return "#executor=driver"
    if part.part in _OVER_TIME:
        return "#times"
    return "#coverage" if part.part == "residual" else "#stages"


def _short(label: str, width: float) -> str:
    """What of a label fits beside the share into a part of this width."""
    most = max(1, int(_CHARACTERS * width) - 7)
    return label if len(label) <= most else label[: most - 1].rstrip() + "…"


def percents(ratios: Sequence[float]) -> list[str]:
    """Shares as per cent with one decimal, as sentences have them; a share that would round to zero is `<0.1`."""
    return ["<0.1" if 0 < ratio < 0.0005 else "100" if ratio >= 0.9995 else f"{100 * ratio:.1f}" for ratio in ratios]
