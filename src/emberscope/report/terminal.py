"""The report for a terminal, where a page cannot be opened: what happened, where the time went, what to mend."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from emberscope.report.bars import percents
from emberscope.report.part import subject_of
from emberscope.report.text import price
from emberscope.report.visible import tail, visible
from emberscope.units import format_count, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed
    from emberscope.report.hotspots import Hotspots
    from emberscope.report.part import Subject
    from emberscope.rules.evaluate import Ranked

Painter: TypeAlias = Callable[[str, str], str]

_MOST_FINDINGS: Final = 6
_MOST_METHODS: Final = 10
_EIGHTHS: Final = " ▏▎▍▌▋▊▉"
_COLOURS: Final = {"critical": "31;1", "high": "31", "medium": "33", "low": "36", "info": "2"}


def report_terminal(item: Diagnosed, *, width: int = 100, colour: bool = False) -> str:
    """At most `width` columns wide. With `colour`, severities and headings are marked by ANSI sequences."""
    width = max(40, width)
    subject = subject_of(item)
    paint = _painter(colour)
    lines = [*wrapped(item.outcome, width), ""]
    lines += [*_story(subject, width, paint), *_findings(item.diagnosis.findings, width, paint)]
    if subject.hotspots:
        lines += _hot(subject.hotspots, width, paint)
    seen = subject.seen
    lines += wrapped(f"{seen.log} {seen.recorder} {seen.verdict}", width)
    return "\n".join(lines) + "\n"


def _painter(on: bool) -> Painter:
    """Marks text by the code of an ANSI sequence, or leaves it alone."""
    return (lambda text, code: f"\x1b[{code}m{text}\x1b[0m") if on else (lambda text, code: text)


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
        label = _cut(visible(chapter.label), names).ljust(names)
        bar = f"  {bar_of(chapter.ratio / longest, room)}" if room >= 6 else ""
        yield f"  {label}{bar}  {format_ms(chapter.wall_ms):>11}  {percent:>5} %"
    yield ""


def _findings(findings: Sequence[Ranked], width: int, paint: Painter) -> Iterator[str]:
    if not findings:
        return
    yield paint("What to mend, by what it would save", "1")
    for number, finding in enumerate(findings[:_MOST_FINDINGS], 1):
        said = finding.finding
        mark = f"[{finding.rule.code} {finding.severity}]"
        title = _cut(visible(" ".join(said.title.split())), max(20, width - len(mark) - 8))
        yield f"  {number} {title}  {paint(mark, _COLOURS[finding.severity])}"
        yield from wrapped(price(finding), width, "    ")
        for advice in said.advice:
            if advice.kind == "set":
                yield f"    --conf {visible(f'{advice.setting}={advice.value}')}"
        if all(advice.kind != "set" for advice in said.advice) and said.advice:
            yield from wrapped(said.advice[0].text, width, "    ")
    if len(findings) > _MOST_FINDINGS:
        yield f"  and {len(findings) - _MOST_FINDINGS} more: `emberscope diagnose` tells all, with their evidence"
    yield ""


def _hot(hot: Hotspots, width: int, paint: Painter) -> Iterator[str]:
    amount = format_count(hot.weight) + (f" {hot.event} samples" if hot.unit == "samples" else f" {hot.unit}")
    yield paint(f"Hot code ({amount})", "1")
    yield "     self    total"
    for method in hot.methods[:_MOST_METHODS]:
        name = tail(visible(method.name), width - 22)
        yield f"  {format_ratio(method.self_ratio):>7}  {format_ratio(method.total_ratio):>7}  {name}"
    yield ""


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """Text in lines of a terminal; words longer than one are broken."""
    return textwrap.wrap(visible(text), width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)
