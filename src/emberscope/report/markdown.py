"""The report as Markdown for a pull request or a ticket: short, with the settings to change and nothing to click."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from emberscope.report.bars import percents
from emberscope.report.chain import clock_words, heading
from emberscope.report.diagnosis import all_not_evaluated, no_finding
from emberscope.report.finding_lines import confidence_words, not_evaluated_line, rest_line
from emberscope.report.finding_tree import branches
from emberscope.report.part import subject_of
from emberscope.report.text import coverage_line, price
from emberscope.report.visible import clipped, visible
from emberscope.tables.coverage import total
from emberscope.tuning.dialects import patch_lines
from emberscope.units import format_ms, format_ratio

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed
    from emberscope.report.finding_tree import Branch
    from emberscope.rules.evaluate import NotEvaluated

_MOST_FINDINGS: Final = 10
_SIGNS: Final = re.compile(r"([\\`*_\[\]|~])")


def report_markdown(item: Diagnosed, *, page: str | None = None) -> str:
    """Outcome, wall time as a table, findings with what to do, one patch of settings, coverage. `page` is what to say
    of where the whole report is."""
    subject = subject_of(item)
    lines = _head(item)
    if subject.story:
        lines += ["| where the wall time went | time | share |", "|---|---:|---:|"]
        shares = percents([chapter.ratio for chapter in subject.story])
        for chapter, percent in zip(subject.story, shares, strict=True):
            note = f" ({chapter.note})" if chapter.note else ""
            lines.append(f"| {escaped(chapter.label + note)} | {format_ms(chapter.wall_ms)} | {escaped(percent)} % |")
        lines.append("")
    lines += _findings(item, proof=False)
    lines += _unasked(item.diagnosis.not_evaluated)
    seen = subject.seen
    lines.append(_coded(f"{seen.log} {seen.recorder} {seen.verdict}"))
    if page:
        lines += ["", f"The whole report: {page}"]
    return "\n".join(lines).rstrip() + "\n"


def diagnosis_markdown(diagnosed: Sequence[Diagnosed]) -> str:
    """The diagnosis for a ticket: each application with outcome, waterfall, the findings with their proof, and one
    patch of settings."""
    lines: list[str] = []
    for item in diagnosed:
        lines += _head(item)
        if item.waterfall:
            lines += ["| where the time went | time | share |", "|---|---:|---:|"]
            lines += [
                f"| {escaped(part.label)} | {format_ms(part.wall_ms)} | {escaped(format_ratio(part.ratio))} |"
                for part in item.waterfall
                if part.wall_ms
            ]
            lines.append("")
        lines += _findings(item, proof=True) or [no_finding([item]), ""]
    lines += _unasked(all_not_evaluated(diagnosed))
    lines.append(escaped(coverage_line(total(item.run.coverage for item in diagnosed))))
    return "\n".join(lines).rstrip() + "\n"


def _head(item: Diagnosed) -> list[str]:
    application = item.run.application
    title = application.app_name or application.app_id or item.run.path
    return [f"## {escaped(title)}", "", escaped(item.outcome), "", *_chain(item)]


def _chain(item: Diagnosed) -> list[str]:
    """How it came to the end, as a list on one clock."""
    if not item.chain:
        return []
    lines = [f"**{escaped(heading(item.chain))}**", ""]
    for number, (link, clock) in enumerate(zip(item.chain, clock_words(item.chain), strict=True), 1):
        text = f"**{escaped(link.text)}**" if link.role == "cause" else escaped(link.text)
        where = f" (`{_code(link.source)}`)" if link.source else ""
        lines.append(f"{number}. {clock + ' ' if clock else ''}{link.role}: {text}{where}")
    return [*lines, ""]


def _findings(item: Diagnosed, *, proof: bool) -> list[str]:
    """The dearest findings with what follows from them, the titles of the others, one patch of settings."""
    found = branches(item.diagnosis.findings)
    lines: list[str] = []
    for branch in found[:_MOST_FINDINGS]:
        lines += [*_branch(branch, proof), ""]
    if rest := found[_MOST_FINDINGS:]:
        lines += ["<details><summary>And " + rest_line(rest, "each worth less").removeprefix("and ") + "</summary>", ""]
        lines += [
            f"- {number}. {escaped(one.finding.title)} ({one.rule.code}, {one.severity})"
            for branch in rest
            for number, one in ((branch.number, branch.finding), *branch.consequences)
        ]
        lines += ["", "</details>", ""]
    if patch := patch_lines(item.patch):
        lines += ["```properties", *(_code(line) for line in patch), "```", ""]
    return lines


def _unasked(answers: Sequence[NotEvaluated]) -> list[str]:
    said = not_evaluated_line(answers)
    return [_coded(said), ""] if said else []


def escaped(text: str) -> str:
    """Text in one line that Markdown and HTML leave as it is: no markup, no image, no name that is called."""
    line = _SIGNS.sub(r"\\\1", " ".join(visible(clipped(text, 1000)).split()))
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace("@", "&#64;")
    return "\\" + line if line[:1] in "#>+-=" else line


def _branch(branch: Branch, proof: bool) -> Iterator[str]:
    finding = branch.finding
    said = finding.finding
    yield (
        f"**{branch.number}. {escaped(said.title)}** ({finding.rule.code}, {finding.severity}). "
        f"{escaped(price(finding) + confidence_words(finding))}"
    )
    yield ""
    if proof:
        yield from (escaped(said.summary), "")
        yield from (f"- {escaped(evidence.text)} (`{_code(evidence.place)}`)" for evidence in said.evidence)
        yield from ("", f"*{escaped(said.saving_basis)}*", "") if said.saving_basis else ("",)
    for advice in said.advice:
        setting = ""
        if advice.kind == "set":
            setting = f"`{_code(f'{advice.setting}={advice.value}')}`: "
        elif advice.kind == "unset":
            setting = f"remove `{_code(str(advice.setting))}`: "
        yield f"- [ ] {setting}{_coded(advice.text)}"
    if branch.consequences:
        yield ""
    for number, one in branch.consequences:
        yield f"- so also {number}. {escaped(one.finding.title)} ({one.rule.code}, {one.severity})"


def _coded(text: str) -> str:
    """Text in which what stands between backticks stays code."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return escaped(text)
    lead = [" " if piece[:1] == " " else "" for piece in pieces]
    trail = [" " if piece[-1:] == " " else "" for piece in pieces]
    return "".join(
        f"`{_code(piece)}`" if odd % 2 else f"{lead[odd]}{escaped(piece)}{trail[odd]}" if piece.strip() else piece
        for odd, piece in enumerate(pieces)
    )


def _code(text: str) -> str:
    return " ".join(visible(text).replace("`", "'").split())
