"""The report as Markdown for a pull request or a ticket: short, with the settings to change and nothing to click."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from emberscope.report.bars import percents
from emberscope.report.part import subject_of
from emberscope.report.patch import settings_patch
from emberscope.report.text import price
from emberscope.report.visible import clipped, visible
from emberscope.units import format_ms

if TYPE_CHECKING:
    from emberscope.report.diagnosis import Diagnosed
    from emberscope.rules.evaluate import Ranked

_MOST_FINDINGS: Final = 10
_SIGNS: Final = re.compile(r"([\\`*_\[\]|~])")


def report_markdown(item: Diagnosed, *, page: str | None = None) -> str:
    """Outcome, wall time as a table, findings with what to do, one patch of settings, coverage. `page` is what to say
    of where the whole report is."""
    application, subject = item.run.application, subject_of(item)
    title = application.app_name or application.app_id or item.run.path
    lines = [f"## {escaped(title)}", "", escaped(item.outcome), ""]
    if subject.story:
        lines += ["| where the wall time went | time | share |", "|---|---:|---:|"]
        shares = percents([chapter.ratio for chapter in subject.story])
        for chapter, percent in zip(subject.story, shares, strict=True):
            note = f" ({chapter.note})" if chapter.note else ""
            lines.append(f"| {escaped(chapter.label + note)} | {format_ms(chapter.wall_ms)} | {escaped(percent)} % |")
        lines.append("")
    findings = item.diagnosis.findings
    for number, finding in enumerate(findings[:_MOST_FINDINGS], 1):
        lines += [*_finding(number, finding), ""]
    if len(findings) > _MOST_FINDINGS:
        lines += [f"And {len(findings) - _MOST_FINDINGS} more findings, each worth less.", ""]
    if patch := settings_patch(findings):
        lines += ["```properties", *(_code(line) for line in patch), "```", ""]
    seen = subject.seen
    lines.append(_coded(f"{seen.log} {seen.recorder} {seen.verdict}"))
    if page:
        lines += ["", f"The whole report: {page}"]
    return "\n".join(lines).rstrip() + "\n"


def escaped(text: str) -> str:
    """Text in one line that Markdown and HTML leave as it is: no markup, no image, no name that is called."""
    line = _SIGNS.sub(r"\\\1", " ".join(visible(clipped(text, 1000)).split()))
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace("@", "&#64;")
    return "\\" + line if line[:1] in "#>+-=" else line


def _finding(number: int, finding: Ranked) -> Iterator[str]:
    said = finding.finding
    yield f"**{number}. {escaped(said.title)}** ({finding.rule.code}, {finding.severity}). {escaped(price(finding))}"
    yield ""
    for advice in said.advice:
        setting = ""
        if advice.kind == "set":
            setting = f"`{_code(f'{advice.setting}={advice.value}')}`: "
        elif advice.kind == "unset":
            setting = f"remove `{_code(str(advice.setting))}`: "
        yield f"- [ ] {setting}{_coded(advice.text)}"


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
