"""How it came to the end, on one clock: what grew, what died of it, what that took along, what it cost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from emberscope.report.finding_tree import Branch, branches
from emberscope.report.lead_up import growth
from emberscope.rules.deaths import NOTICED_WITHIN_MS, executors_of
from emberscope.units import counted, format_bytes, format_ms

if TYPE_CHECKING:
    from emberscope.rules.evaluate import Ranked
    from emberscope.tables.run import Run

_MOST_THEN: Final = 4
_MOST_STAGES: Final = 3
_STAGE_ATTEMPT: Final = re.compile(r"\bin stage (\d{1,6})\.(\d{1,3})\b")

Role = Literal["before", "cause", "then", "cost"]


@dataclass(frozen=True, slots=True)
class Link:
    """One step. `number` is that of its finding in the ranked list, from 1; `source` where it can be read, as
    `file:line`, empty where it follows from tables."""

    role: Role
    at_ms: int | None
    text: str
    source: str = ""
    number: int | None = None

    def document(self) -> dict[str, Any]:
        return {
            "role": self.role,
            "at_ms": self.at_ms,
            "text": self.text,
            "source": self.source or None,
            "finding": None if self.number is None else self.number - 1,
        }


def chain(run: Run, findings: Sequence[Ranked]) -> tuple[Link, ...]:
    """The steps of the first death among these findings; empty where there is none, or no more than the finding itself
    says."""
    branch = next((one for one in branches(findings) if _is_death(one)), None)
    if branch is None:
        return ()
    links = (*_before(run, branch.finding), *_cause_and_then(branch), *_cost(run, branch))
    return links if len(links) > 1 else ()


def clock_words(links: Sequence[Link]) -> list[str]:
    """The time of each link in UTC, with the day where they are of several; empty where it has none."""
    moments = [None if link.at_ms is None else _moment(link.at_ms) for link in links]
    days = {moment.date() for moment in moments if moment is not None}
    form = "%H:%M:%S" if len(days) < 2 else "%m-%d %H:%M:%S"
    return ["" if moment is None else f"{moment:{form}}" for moment in moments]


def heading(links: Sequence[Link]) -> str:
    """`How it came to this (UTC, 2026-11-30)`."""
    moment = next((at for link in links if link.at_ms is not None and (at := _moment(link.at_ms)) is not None), None)
    return "How it came to this" + (f" ({moment:%Y-%m-%d}, UTC)" if moment is not None else "")


def _moment(at_ms: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(at_ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _is_death(branch: Branch) -> bool:
    """Whether something ended or was lost, and one cause of it is known."""
    all_of_it = (branch.finding, *(one for _, one in branch.consequences))
    return any(one.finding.consequence in ("ended", "lost") for one in all_of_it) and (
        branch.finding.finding.consequence is not None and branch.finding.finding.consequence != "hint"
    )


def _before(run: Run, cause: Ranked) -> Iterator[Link]:
    who = executors_of(cause.finding)
    if cause.at_ms is None or len(who) != 1:
        return
    (executor_id,) = who
    grown = growth(run, executor_id, cause.at_ms)
    if grown is None:
        return
    name = "the driver" if executor_id == "driver" else f"executor {executor_id}"
    end = _moment(grown.end_ms)
    until = f" until {end:%H:%M:%S}" if end is not None else ""
    sizes = f"from {format_bytes(grown.least_bytes)} to {format_bytes(grown.most_bytes)}"
    yield Link(
        "before",
        grown.begin_ms,
        f"{grown.what} of {name} grew {sizes}{until}",
    )


def _cause_and_then(branch: Branch) -> Iterator[Link]:
    yield _link("cause", branch.number, branch.finding)
    far = float("inf")
    later = [(number, one) for number, one in branch.consequences if one.finding.consequence in ("ended", "lost")]
    later.sort(key=lambda item: (far if item[1].at_ms is None else item[1].at_ms, item[0]))
    yield from (_link("then", number, one) for number, one in later[:_MOST_THEN])
    if len(later) > _MOST_THEN:
        yield Link("then", None, f"and {len(later) - _MOST_THEN} more that follow from it")


def _link(role: Role, number: int, ranked: Ranked) -> Link:
    quoted = next((one for one in ranked.finding.evidence if one.line is not None), None)
    source = quoted.place if quoted is not None else ""
    return Link(role, ranked.at_ms, " ".join(ranked.finding.title.split()), source, number)


def _cost(run: Run, branch: Branch) -> Iterator[Link]:
    """Further attempts of stages since the cause, and the wall time that the findings of this branch could save."""
    found = (branch.finding, *(one for _, one in branch.consequences))
    wall_ms = max((one.finding.wasted_wall_ms or 0 for one in found), default=0)
    since_ms = branch.finding.at_ms
    parts = list(_retries(run, since_ms) if "stages" in run.tables else _told_retries(run, since_ms))
    if wall_ms:
        parts.append(format_ms(wall_ms))
    if parts:
        yield Link("cost", None, f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0])


def _told_retries(run: Run, since_ms: int | None) -> Iterator[str]:
    """By logs alone: the highest attempt of each stage that they name. Lines that are alike are told once, so that
    there may have been more."""
    events = run.tables.get("log_events")
    if events is None or since_ms is None:
        return
    highest: dict[int, int] = {}
    for time_ms, text in zip(events["last_ms"].to_pylist(), events["text"].to_pylist(), strict=True):
        if time_ms is not None and time_ms >= since_ms:
            for stage, attempt in _STAGE_ATTEMPT.findall(text or ""):
                highest[int(stage)] = max(int(attempt), highest.get(int(stage), 0))
    most = sorted(((stage, attempt) for stage, attempt in highest.items() if attempt), key=lambda item: -item[1])
    for stage, attempt in most[:_MOST_STAGES]:
        yield f"at least {counted(attempt, 'further attempt')} of stage {stage}"


def _retries(run: Run, since_ms: int | None) -> Iterator[str]:
    stages = run.tables.get("stages")
    if stages is None or since_ms is None:
        return
    columns = [stages[name].to_pylist() for name in ("stage_id", "stage_attempt", "submitted_ms")]
    again = Counter(
        stage
        for stage, attempt, submitted_ms in zip(*columns, strict=True)
        if attempt and submitted_ms is not None and submitted_ms >= since_ms - NOTICED_WITHIN_MS
    )
    most = sorted(again.items(), key=lambda item: (-item[1], item[0]))
    if len(most) > _MOST_STAGES:
        yield f"{counted(again.total(), 'further attempt')} of {len(most)} stages"
        return
    yield from (f"{counted(count, 'further attempt')} of stage {stage}" for stage, count in most)
