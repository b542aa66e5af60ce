"""Cached DataFrames: which plan was kept, and which executions read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from emberscope.rules.plans import CACHES, Node, Plan, plans
from emberscope.tables.run import once

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# What a plan has that counts the rows of a cache and does nothing else with them.
_COUNTING: Final = frozenset(
    {"HashAggregate", "Exchange", "Project", "ColumnarToRow", "AQEShuffleRead", "CustomShuffleReader"}
)


class Read(Struct, frozen=True):
    """One place where an execution reads a cached DataFrame; it is made at the first one."""

    plan: Plan
    scan: Node

    @property
    def only_counts(self) -> bool:
        """Whether the execution does nothing but count the rows: what people do to fill a cache."""
        own = [node for node in self.plan.nodes if not node.cached and node is not self.scan]
        return all(node.name in _COUNTING and _counts(node) for node in own) and any(
            node.name == "HashAggregate" for node in own
        )


class Cached(Struct, frozen=True):
    """One DataFrame that was kept, by the plan that made it, and all reads of it that ran, by execution."""

    root: Node
    reads: tuple[Read, ...]

    @property
    def name(self) -> str:
        """The operator that its rows come out of, shortened."""
        detail = self.root.plain_detail or self.root.title
        return detail if len(detail) <= 120 else detail[:119] + "…"


@once
def cached_frames(run: Run) -> Sequence[Cached]:
    """Every cached DataFrame whose plan the log shows, by its first read. Before Spark 3 it shows none."""
    roots: dict[tuple[str, ...], Node] = {}
    reads: dict[tuple[str, ...], list[Read]] = {}
    for plan in plans(run).values():
        for node in plan.nodes:
            if not node.title.startswith(CACHES) or node.cached:
                continue
            root = node.children[0] if node.children else node.same_as
            if root is None:
                continue
            # Spark numbers each expression once: the same text with the same numbers is the same cached plan.
            key = tuple(part.detail or part.title for part in (root, *root.below()))
            roots.setdefault(key, root)
            of_key = reads.setdefault(key, [])
            if node.stage_ids:
                of_key.append(Read(plan, node))
    return [Cached(roots[key], tuple(of_key)) for key, of_key in reads.items()]


def _counts(node: Node) -> bool:
    if node.name != "HashAggregate":
        return True
    return "keys=[]" in node.detail and "count(1)" in node.detail and node.detail.count("(") <= 3
