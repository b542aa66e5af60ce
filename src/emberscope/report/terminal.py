"""The report for a terminal, where a page cannot be opened: what happened, where the time went, what to mend."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.report.bars import percents
from emberscope.report.finding_lines import (
    Painter,
    cut,
    not_evaluated_line,
    painter,
    settings_lines,
    wrapped,
)
from emberscope.report.finding_tree import branches
from emberscope.report.part import subject_of
from emberscope.report.screen import MOST_PATCH, chosen, rest_lines
from emberscope.report.text import chain_lines
from emberscope.report.visible import tail, visible
from emberscope.tuning.dialects import patch_lines
from emberscope.units import format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed
    from emberscope.report.hotspots import Hotspots
    from emberscope.report.part import Subject

_MOST_FINDING_LINES: Final = 24
_MOST_TITLES: Final = 3
_MOST_METHODS: Final = 10
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"


def report_terminal(item: Diagnosed, *, width: int = 100, colour: bool = False) -> str:
    """At most `width` columns wide. With `colour`, severities and headings are marked by ANSI sequences."""
    width = max(40, width)
    subject = subject_of(item)
    paint = painter(colour)
    lines = [*wrapped(item.outcome, width), "", *chain_lines(item.chain, width)]
    lines += [*_story(subject, width, paint), *_findings(item, width, paint)]
    if subject.hotspots:
        lines += _hot(subject.hotspots, width, paint)
    seen = subject.seen
    lines += wrapped(f"{seen.log} {seen.recorder} {seen.verdict}", width)
    return "\n".join(lines) + "\n"


def bar_of(ratio: float, width: int) -> str:
    """A bar of eighths of a column; what is not zero has one at least."""
    eighths = max(round(ratio * width * 8), 1 if ratio > 0 else 0)
    return ("█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")).ljust(width)


def _story(subject: Subject, width: int, paint: Painter) -> Iterator[str]:
    chapters = subject.story
    if not chapters:
        return
    yield from (paint(line, "1") for line in wrapped("Where the wall time went, in the order it came", width))
    names = min(max(len(chapter.label) for chapter in chapters), max(16, width - 42))
    longest = max(chapter.ratio for chapter in chapters)
    room = min(24, width - names - 28)
    for chapter, percent in zip(chapters, percents([chapter.ratio for chapter in chapters]), strict=True):
        label = cut(visible(chapter.label), names).ljust(names)
        bar = f"  {bar_of(chapter.ratio / longest, room)}" if room >= 6 else ""
        yield f"  {label}{bar}  {format_ms(chapter.wall_ms):>11}  {percent:>5} %"
    yield ""


def _findings(item: Diagnosed, width: int, paint: Painter) -> Iterator[str]:
    """The findings as `diagnose` tells them on one screen, the settings once, and what was not evaluated."""
    found = branches(item.diagnosis.findings)
    if found:
        yield paint("What to mend, by what it would save", "1")
        choice = chosen(found, _MOST_FINDING_LINES, width, paint)
        yield from choice.lines
        yield from rest_lines(choice.rest, _MOST_TITLES, "`emberscope diagnose --all` tells them", width, paint)
    patch = settings_lines(patch_lines(item.patch), MOST_PATCH, width, paint)
    yield from [*patch, ""] if patch else []
    unasked = not_evaluated_line(item.diagnosis.not_evaluated)
    yield from [*wrapped(unasked, width), ""] if unasked else []


def _hot(hot: Hotspots, width: int, paint: Painter) -> Iterator[str]:
    amount = format_count(hot.weight) + (f" {hot.event} samples" if hot.unit == "samples" else f" {hot.unit}")
    yield paint(f"Hot code ({amount})", "1")
    yield "     self    total"
    for method in hot.methods[:_MOST_METHODS]:
        name = tail(visible(method.name), width - 22)
        yield f"  {format_ratio(method.self_ratio):>7}  {format_ratio(method.total_ratio):>7}  {name}"
    yield ""
