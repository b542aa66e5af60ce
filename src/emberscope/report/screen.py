"""The answer on one screen of a terminal: what happened, where the time went, what to mend and how, what to paste."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emberscope.report.diagnosis import all_not_evaluated, no_finding
from emberscope.report.finding_lines import (
    Painter,
    branch_lines,
    cut,
    not_evaluated_line,
    painter,
    rest_line,
    settings_lines,
    title_lines,
    wrapped,
)
from emberscope.report.finding_tree import Branch, branches
from emberscope.report.text import chain_lines, coverage_line, hot_lines, part_line, price
from emberscope.report.visible import visible
from emberscope.tables.coverage import total
from emberscope.tuning.dialects import patch_lines
from emberscope.units import counted, format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed
    from emberscope.report.waterfall import Part

MOST_LINES: Final = 40
MOST_PATCH: Final = 8
HOW_ALL: Final = "`--all` tells everything, with all evidence"

_MOST_PARTS: Final = 6
_MOST_TITLES: Final = 2
_MOST_OUTCOME: Final = 4
_SMALL_RATIO: Final = 0.02


@dataclass(frozen=True, slots=True)
class Choice:
    """What of the findings a view has room for: paragraphs, and the branches that are only counted."""

    lines: tuple[str, ...]
    rest: tuple[Branch, ...]


def diagnosis_screen(diagnosed: Sequence[Diagnosed], *, width: int = 100, colour: bool = False) -> str:
    """One application on one screen; of several a few lines each."""
    width, paint = max(40, width), painter(colour)
    lines = _one(diagnosed[0], width, paint) if len(diagnosed) == 1 else list(_several(diagnosed, width, paint))
    return "\n".join(lines).rstrip() + "\n"


def chosen(found: Sequence[Branch], room: int, width: int, paint: Painter) -> Choice:
    """The first findings in full, as many as `room` lines take but one at least; hints only where nothing else is."""
    lines: list[str] = []
    shown = 0
    for branch in found:
        block = list(branch_lines(branch, width, paint))
        if shown and (branch.is_hint or len(lines) + len(block) + 1 > room):
            break
        lines += [*block, ""]
        shown += 1
    return Choice(tuple(lines), tuple(found[shown:]))


def _one(item: Diagnosed, width: int, paint: Painter) -> list[str]:
    parts = list(parts_lines(item, width))
    head = [*_outcome(item, width), "", *chain_lines(item.chain, width), *parts, *([""] if parts else [])]
    patch = settings_lines(patch_lines(item.patch), MOST_PATCH, width, paint)
    tail = [*patch, *([""] if patch else []), *closing_words([item], width)]
    found = branches(item.diagnosis.findings)
    if not found:
        return [*head, no_finding([item]), "", *tail]
    choice = chosen(found, MOST_LINES - len(head) - len(tail) - 2, width, paint)
    room = MOST_LINES - len(head) - len(choice.lines) - len(tail) - 3
    return [*head, *choice.lines, *rest_lines(choice.rest, room, HOW_ALL, width, paint), *tail]


def rest_lines(rest: Sequence[Branch], room: int, how: str, width: int, paint: Painter) -> list[str]:
    """What is not told in full: titles as far as there is room, hints and all others counted."""
    if not rest:
        return []
    titled = [branch for branch in rest if not branch.is_hint][: max(0, room)]
    counted_only = rest[len(titled) :]
    lines = [line for branch in titled for line in title_lines(branch.number, branch.finding, width, paint)]
    followers = sum(len(branch.consequences) for branch in titled)
    also = f"and {followers} that follow{'s' if followers == 1 else ''} from these; " if followers else ""
    said = also + (rest_line(counted_only, how) if counted_only else how)
    return [*lines, *wrapped(said, width), ""]


def _several(diagnosed: Sequence[Diagnosed], width: int, paint: Painter) -> Iterator[str]:
    yield f"{counted(len(diagnosed), 'application')}; name one of them for its proof and its fix, or use --all."
    yield ""
    for item in diagnosed:
        yield from _outcome(item, width)
        found = branches(item.diagnosis.findings)
        for branch in found[:_MOST_TITLES]:
            yield from (f"  {line}" for line in title_lines(branch.number, branch.finding, width - 2, paint))
            yield from wrapped(price(branch.finding), width, "     ")
        if rest := found[_MOST_TITLES:]:
            yield from wrapped(rest_line(rest, f"see {item.run.path}"), width, "  ")
        yield ""
    yield from closing_words(diagnosed, width)


def closing_words(diagnosed: Sequence[Diagnosed], width: int) -> list[str]:
    """What was not evaluated and how to record it, then how complete the data are."""
    unasked = not_evaluated_line(all_not_evaluated(diagnosed))
    return [
        *wrapped(unasked, width),
        *wrapped(coverage_line(total(item.run.coverage for item in diagnosed)), width),
    ]


def parts_lines(item: Diagnosed, width: int) -> Iterator[str]:
    """The waterfall, its small parts as one."""
    parts = item.waterfall
    if not parts:
        if item.hot is not None:
            yield from map(visible, hot_lines(item.hot))
            return
        if not item.only_told:
            yield from wrapped(
                "Where the time went is not known: the log has no start of the application, or no times after it.",
                width,
            )
        return
    large = _large(parts)
    small = [part for part in parts if part not in large and part.wall_ms]
    names = min(max(len(visible(part.label)) for part in large), max(14, width - 42))
    room, longest = min(30, width - names - 28), max(part.ratio for part in large)
    bar = room if room >= 6 else 0
    for part in large:
        yield part_line(part, cut(visible(part.label), names).ljust(names), bar, longest)
    if small:
        time = format_ms(sum(part.wall_ms for part in small))
        share = format_ratio(sum(part.ratio for part in small))
        gap = " " * (bar + 2) if bar else ""
        yield f"  {cut(counted(len(small), 'smaller part'), names):<{names}}{gap}  {time:>12}  {share:>7}"


def _large(parts: Sequence[Part]) -> list[Part]:
    """The parts that are told by name, in their own order."""
    told = sorted((part for part in parts if part.ratio >= _SMALL_RATIO), key=lambda part: -part.wall_ms)[:_MOST_PARTS]
    told = told or sorted(parts, key=lambda part: -part.wall_ms)[:1]
    return [part for part in parts if part in told]


def _outcome(item: Diagnosed, width: int) -> list[str]:
    lines = wrapped(item.outcome, width)
    return lines if len(lines) <= _MOST_OUTCOME else [*lines[: _MOST_OUTCOME - 1], f"{lines[_MOST_OUTCOME - 1]} …"]
