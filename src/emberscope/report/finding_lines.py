"""Findings in lines of a terminal: what is wrong, its price, its proof, its fix; the same words in every text view."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from emberscope.report.text import price
from emberscope.report.visible import visible
from emberscope.rules.evaluate import SEVERITIES

if TYPE_CHECKING:
    from emberscope.report.finding_tree import Branch
    from emberscope.rules.base import Advice
    from emberscope.rules.evaluate import NotEvaluated, Ranked

Painter: TypeAlias = Callable[[str, str], str]

_COLOURS: Final = {"critical": "31;1", "high": "31", "medium": "33", "low": "36", "info": "2"}
_MOST_PROOF_LINES: Final = 3
_MOST_QUOTED_LINES: Final = 2
_MOST_FIX_LINES: Final = 2
_MOST_SETTINGS: Final = 3
_MOST_CONSEQUENCES: Final = 3
_MOST_CODES: Final = 12
# How a reason says that what is missing can be recorded: a setting, or a command.
_RECORDED_BY: Final = re.compile(r"spark\.[\w.]+=\w+|`[^`]+`")
_INDENT: Final = "   "


def painter(on: bool) -> Painter:
    """Marks text by the code of an ANSI sequence, or leaves it alone."""
    return (lambda text, code: f"\x1b[{code}m{text}\x1b[0m") if on else (lambda text, code: text)


def branch_lines(branch: Branch, width: int, paint: Painter) -> Iterator[str]:
    """A finding as one paragraph: title, price, proof, fix, and what follows from it in a line each."""
    finding = branch.finding
    yield from title_lines(branch.number, finding, width, paint)
    yield from wrapped(f"{price(finding)}{confidence_words(finding)}", width, _INDENT)
    yield from _few(finding.finding.summary, width, _MOST_PROOF_LINES)
    quoted = next((one for one in finding.finding.evidence if one.line is not None), None)
    if quoted is not None:
        yield from _few(f"{quoted.place}: {quoted.text}", width, _MOST_QUOTED_LINES, _INDENT + "  ")
    yield from _fix(finding.finding.advice, width)
    for number, consequence in branch.consequences[:_MOST_CONSEQUENCES]:
        mark = f"[{consequence.rule.code} {consequence.severity}]"
        room = width - len(_INDENT) - len(mark) - 16 - len(str(number))
        yield (
            f"{_INDENT}so also {number}: {cut(_one_line(consequence.finding.title), max(12, room))}  "
            f"{paint(mark, _COLOURS[consequence.severity])}"
        )
    if len(branch.consequences) > _MOST_CONSEQUENCES:
        yield from wrapped(f"and {len(branch.consequences) - _MOST_CONSEQUENCES} more that follow", width, _INDENT)


def title_lines(number: int, finding: Ranked, width: int, paint: Painter) -> list[str]:
    """`2. Stage 12 is skewed  [B1 high]`: one line, cut where it is too long."""
    mark = f"[{finding.rule.code} {finding.severity}]"
    lead = f"{number}. "
    title = cut(_one_line(finding.finding.title), max(16, width - len(mark) - len(lead) - 2))
    return [f"{paint(lead + title, '1')}  {paint(mark, _COLOURS[finding.severity])}"]


def confidence_words(finding: Ranked) -> str:
    """How sure a finding is, where that is less than a reader would take for granted."""
    return "" if finding.confidence >= 0.75 else f" Confidence {100 * finding.confidence:.0f} %."


def rest_line(rest: Sequence[Branch], how: str) -> str:
    """`and 7 more: 1 medium, 2 low, 4 info (…)`; what follows from another finding is counted with it."""
    counts = Counter(one.severity for branch in rest for one in (branch.finding, *(c for _, c in branch.consequences)))
    said = ", ".join(f"{counts[severity]} {severity}" for severity in SEVERITIES if counts[severity])
    return f"and {counts.total()} more: {said} ({how})"


def settings_lines(patch: Sequence[str], most: int, width: int, paint: Painter) -> list[str]:
    """The settings to paste, under a heading, then the remarks on them; empty without any."""
    if not patch:
        return []
    patch = sorted(patch, key=lambda line: line.startswith("#"))
    heading = "To paste into spark-defaults.conf (`emberscope conf --from` writes it in other forms):"
    shown = [f"  {cut(visible(line), width - 2) if line.startswith('#') else visible(line)}" for line in patch[:most]]
    more = [f"  # and {len(patch) - most} more lines: `emberscope diagnose --all`"] if len(patch) > most else []
    return [*(paint(line, "1") for line in wrapped(heading, width)), *shown, *more]


def not_evaluated_line(answers: Sequence[NotEvaluated]) -> str:
    """What could not be asked, in one sentence that says how to record what is missing; empty where all could."""
    if not answers:
        return ""
    codes = list(dict.fromkeys(answer.code for answer in answers))
    named = f" ({', '.join(codes)})" if len(codes) <= _MOST_CODES else ""
    how = list(dict.fromkeys(way for answer in answers for way in _RECORDED_BY.findall(answer.reason)))
    without = sum(not _RECORDED_BY.search(answer.reason) for answer in answers)
    said = f"Not evaluated: {'1 rule' if len(codes) == 1 else f'{len(codes)} rules'}{named}."
    if how:
        said += f" To have recorded what {'it needs' if len(codes) == 1 else 'they need'}: {', '.join(how)}."
    if without:
        said += f" What {without} of them need{'s' if without == 1 else ''}, this input does not hold."
    return said


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def wrapped(text: str, width: int, indent: str = "", rest: str | None = None) -> list[str]:
    """Text in lines of a terminal; words longer than one are broken."""
    after = indent if rest is None else rest
    return textwrap.wrap(visible(text), width, initial_indent=indent, subsequent_indent=after, break_on_hyphens=False)


def _fix(advice: Sequence[Advice], width: int) -> Iterator[str]:
    """The first words of advice, which are the best ones, and the settings; the patch has all of these."""
    words = [one for one in advice if one.setting is None]
    settings = [one for one in advice if one.setting is not None]
    if words:
        yield from _few(f"→ {words[0].text}", width, _MOST_FIX_LINES, _INDENT + "  ")
    for one in settings[:_MOST_SETTINGS]:
        change = f"--conf {one.setting}={one.value}" if one.kind == "set" else f"remove {one.setting}"
        yield f"{_INDENT}→ {visible(change)}"
    if len(settings) > _MOST_SETTINGS:
        yield f"{_INDENT}→ and {len(settings) - _MOST_SETTINGS} more settings below"


def _few(text: str, width: int, most: int, rest: str = _INDENT) -> list[str]:
    """The first lines of a text, with a sign where it goes on."""
    lines = wrapped(text, width, _INDENT, rest)
    if len(lines) > most:
        lines = lines[:most]
        lines[-1] = f"{lines[-1][: width - 2].rstrip()} …"
    return lines


def _one_line(text: str) -> str:
    return visible(" ".join(text.split()))
