"""Findings as a reader takes them: each cause with what follows from it, the dear ones apart from mere hints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emberscope.rules.evaluate import Ranked


@dataclass(frozen=True, slots=True)
class Branch:
    """A finding that nothing else explains, and all that goes away with it. Numbers count from 1 in the ranked list,
    so that every view calls a finding by the same number."""

    number: int
    finding: Ranked
    consequences: tuple[tuple[int, Ranked], ...]

    @property
    def is_hint(self) -> bool:
        """Whether nothing in it is worth more than a remark."""
        return all(one.severity == "info" for one in (self.finding, *(one for _, one in self.consequences)))


def branches(findings: Sequence[Ranked]) -> tuple[Branch, ...]:
    """Every ranked finding once: as a cause, or under the first of its causes."""
    roots: list[int] = []
    under: dict[int, list[int]] = {}
    for index, finding in enumerate(findings):
        root = roots[min(finding.caused_by)] if finding.caused_by else index
        roots.append(root)
        under.setdefault(root, [])
        if root != index:
            under[root].append(index)
    return tuple(
        Branch(root + 1, findings[root], tuple((index + 1, findings[index]) for index in below))
        for root, below in under.items()
    )
