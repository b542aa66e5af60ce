"""All that was found, as plain text: every finding with every piece of evidence and advice."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from emberscope.report.chain import clock_words, heading
from emberscope.report.diagnosis import Diagnosed, all_not_evaluated, no_finding, not_evaluated_sentences
from emberscope.report.visible import visible
from emberscope.tables.coverage import total
from emberscope.tuning.dialects import patch_lines
from emberscope.units import counted, format_ms, format_ratio, printable

if TYPE_CHECKING:
    from emberscope.report.chain import Link
    from emberscope.report.hot_code import HotCode
    from emberscope.report.waterfall import Part
    from emberscope.rules.evaluate import Ranked
    from emberscope.tables.coverage import Coverage

_WIDTH = 100
_BAR = 30


def diagnosis_text(diagnosed: Sequence[Diagnosed]) -> str:
    """Each application with outcome, waterfall, findings with all evidence and advice, and its settings to paste; then
    what could not be evaluated, and the coverage."""
    lines: list[str] = []
    for item in diagnosed:
        findings = item.diagnosis.findings
        lines += [*_wrap(item.outcome), "", *chain_lines(item.chain, _WIDTH), *_bars(item), ""]
        for number, finding in enumerate(findings, 1):
            lines += [*_finding(number, finding), ""]
        if not findings:
            lines += [no_finding([item]), ""]
        if patch := patch_lines(item.patch):
            lines += ["All these settings, for spark-defaults.conf:", *(f"  {line}" for line in patch), ""]
    lines += list(_closing(diagnosed))
    return printable("\n".join(lines).rstrip() + "\n")


def chain_lines(links: Sequence[Link], width: int) -> list[str]:
    """How it came to the end, a step in each line or two, under a heading and with an empty line after it."""
    if not links:
        return []
    clocks = clock_words(links)
    room = max(map(len, clocks))
    lines = [heading(links)]
    for link, clock in zip(links, clocks, strict=True):
        begin = f"  {clock:<{room}}  {link.role:<6}  " if room else f"  {link.role:<6}  "
        where = f" ({link.source})" if link.source else ""
        lines += textwrap.wrap(
            f"{visible(link.text)}{visible(where)}",
            width,
            initial_indent=begin,
            subsequent_indent=" " * len(begin),
            break_on_hyphens=False,
        )
    return [*lines, ""]


def price(finding: Ranked) -> str:
    """What the finding costs in one sentence."""
    wall_ms, core_ms = finding.finding.wasted_wall_ms, finding.finding.wasted_core_ms
    core = f"{format_ms(core_ms)} of core time" if core_ms else ""
    if wall_ms is None:
        return f"Costs {core}." if core else "No price can be given."
    if wall_ms == 0:
        return "Saves no wall time" + (f", but frees {core}." if core else ".")
    return f"Saves up to {format_ms(wall_ms)}" + (f" and {core}." if core else ".")


def coverage_line(coverage: Coverage) -> str:
    """One line on how complete the data are."""
    if not coverage.notes:
        return "Coverage: complete, nothing is known to be lost."
    said = " ".join(note.message + (f" ({note.where})" if note.where else "") for note in coverage.notes)
    return ("Coverage: complete. " if coverage.complete else "Coverage: not complete. ") + said


def part_line(part: Part, label: str, width: int, longest: float) -> str:
    """One part of the waterfall: its name, a bar (the longest part fills it), time, share."""
    blocks = round(part.ratio / longest * width) if longest else 0
    bar = "  " + ("█" * blocks or ("▏" if part.wall_ms else "")).ljust(width) if width else ""
    return f"  {label}{bar}  {format_ms(part.wall_ms):>12}  {format_ratio(part.ratio):>7}"


def hot_lines(hot: HotCode) -> Iterator[str]:
    """What a recording without an event log can say: the code that its samples show."""
    yield f"  {counted(hot.samples, f'{hot.event} sample')}, by kind of code:"
    for name, count in hot.families:
        yield f"  {format_ratio(count / hot.samples):>8}  {name}"
    yield "  and by method, its callees not counted:"
    for name, count in hot.methods:
        yield f"  {format_ratio(count / hot.samples):>8}  {name}"


def _bars(item: Diagnosed) -> Iterator[str]:
    parts = item.waterfall
    if not parts:
        if item.hot is not None:
            yield from hot_lines(item.hot)
            return
        if not item.only_told:
            yield "Where the time went is not known: the log has no start of the application, or no times after it."
        return
    names = max(len(part.label) for part in parts)
    longest = max(part.ratio for part in parts)
    yield from (part_line(part, part.label.ljust(names), _BAR, longest) for part in parts)


def _finding(number: int, finding: Ranked) -> Iterator[str]:
    yield from _wrap(f"{number}. {finding.finding.title}  [{finding.rule.code} {finding.severity}]")
    if finding.caused_by:
        causes = ", ".join(str(index + 1) for index in finding.caused_by)
        yield f"   Follows from finding {causes}: mend that first."
    yield from _wrap(f"{price(finding)} {finding.finding.summary}", "   ")
    for evidence in finding.finding.evidence:
        where = f" ({visible(evidence.place)})" if evidence.line is not None else ""
        yield from _wrap(f"- {evidence.text}{where}", "   ", "     ")
    settings = [advice for advice in finding.finding.advice if advice.setting is not None]
    for advice in finding.finding.advice:
        if advice.setting is None:
            yield from _wrap(f"→ {advice.text}", "   ", "     ")
    for advice in settings:
        yield (
            f"   → --conf {advice.setting}={advice.value}" if advice.kind == "set" else f"   → remove {advice.setting}"
        )
        yield from _wrap(advice.text, "     ")
    yield from _wrap(f"Basis: {finding.finding.saving_basis} Confidence {finding.confidence:.0%}.", "   ")


def _closing(diagnosed: Sequence[Diagnosed]) -> Iterator[str]:
    unasked = not_evaluated_sentences(all_not_evaluated(diagnosed))
    for sentence in unasked:
        yield from _wrap(sentence)
    if unasked:
        yield ""
    yield from _wrap(coverage_line(total(item.run.coverage for item in diagnosed)))


def _wrap(text: str, first: str = "", rest: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]
