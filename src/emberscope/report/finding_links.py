"""Where a finding leads to in the page: its stage, its SQL execution, its operator, its code in the flame graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from emberscope.report.hotspots import search_of

if TYPE_CHECKING:
    from emberscope.report.bars import Anchors
    from emberscope.rules.evaluate import Ranked

_MOST_FRAMES: Final = 4


@dataclass(frozen=True, slots=True)
class Link:
    """`fragment` is an anchor of the page or a state of the flame graph (`stage=7&search=…`), as it is in an id."""

    words: str
    fragment: str

    @property
    def href(self) -> str:
        return "#" + quote(self.fragment, safe="=&-")


def links_of(number: int, finding: Ranked, anchors: Anchors, operators: Mapping[int, str]) -> tuple[Link, ...]:
    """The places that finding `number` is about; `operators` has the operator in its plan by the finding's number."""
    where, found = finding.finding.where, []
    if where.stage is not None and (where.stage, where.stage_attempt or 0) in anchors.stages:
        found.append(Link(f"stage {where.stage}", f"stage-{where.stage}-{where.stage_attempt or 0}"))
    if where.sql is not None and where.sql in anchors.executions:
        found.append(Link(f"SQL execution {where.sql}", f"sql-{where.sql}"))
    if number in operators:
        found.append(Link("the operator in its plan", operators[number].removeprefix("#")))
    if anchors.recorded and where.stage is not None:
        found.append(Link(f"flame graph of stage {where.stage}", f"stage={where.stage}"))
    elif anchors.recorded and where.executor == "driver":
        found.append(Link("flame graph of the driver", "executor=driver"))
    return tuple(found)


def frame_links(finding: Ranked, anchors: Anchors) -> dict[int, tuple[Link, ...]]:
    """By the place of an evidence: its frames in the flame graph, the innermost first."""
    if not anchors.recorded:
        return {}
    stage = finding.finding.where.stage
    found = {}
    for place, evidence in enumerate(finding.finding.evidence):
        searches = [(frame, search_of(frame)) for frame in dict.fromkeys(reversed(evidence.frames))]
        links = [
            Link(frame, (f"stage={stage}&" if stage is not None else "") + f"search={search}")
            for frame, search in searches
            if search is not None
        ]
        if links:
            found[place] = tuple(links[:_MOST_FRAMES])
    return found
