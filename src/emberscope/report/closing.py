"""The few lines after a job: where its time went, the dearest findings, and where all the rest is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.report.finding_lines import confidence_words, not_evaluated_line, painter, rest_line, title_lines
from emberscope.report.finding_tree import branches
from emberscope.report.text import coverage_line, price
from emberscope.units import format_ratio

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed

MOST_FINDINGS: Final = 3
MOST_PARTS: Final = 5
_SMALL_RATIO: Final = 0.01
_WIDTH: Final = 100


def closing_lines(item: Diagnosed) -> Iterator[str]:
    """Outcome, waterfall in one line, the first findings, coverage."""
    yield from textwrap.wrap(item.outcome, _WIDTH)
    parts = sorted((part for part in item.waterfall if part.ratio >= _SMALL_RATIO), key=lambda part: -part.ratio)
    if parts:
        said = ", ".join(f"{part.label} {format_ratio(part.ratio)}" for part in parts[:MOST_PARTS])
        yield from _wrap(f"time: {said}")
    found, paint = branches(item.diagnosis.findings), painter(False)
    for branch in found[:MOST_FINDINGS]:
        yield from (f"  {line}" for line in title_lines(branch.number, branch.finding, _WIDTH - 2, paint))
        yield from _wrap(f"{price(branch.finding)}{confidence_words(branch.finding)}", "     ")
        if branch.consequences:
            numbers = ", ".join(str(number) for number, _ in branch.consequences)
            yield f"     so also {numbers}"
    if rest := found[MOST_FINDINGS:]:
        yield from _wrap(rest_line(rest, "in the report"))
    yield from _wrap(not_evaluated_line(item.diagnosis.not_evaluated))
    yield from _wrap(coverage_line(item.run.coverage))


def _wrap(text: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
