"""The joins of a plan: what they join by, and how many rows went in and came out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from emberscope.rules.plans import Node, Plan

# By the ends of their names: Photon, RAPIDS, Comet and Gluten put their own name before or `Transformer` behind.
_JOIN: Final = re.compile(r"(?:Join|JoinExec|CartesianProduct)(?:Exec)?(?:Transformer)?$")
_WITHOUT_KEYS: Final = ("NestedLoopJoin", "CartesianProduct")
_KEYS: Final = re.compile(r"\[([^\]]*)\], \[([^\]]*)\]")


class Join(Struct, frozen=True):
    """One join with two known inputs. Rows are None where they were not counted."""

    node: Node
    left_rows: float | None
    right_rows: float | None
    out_rows: float | None

    @property
    def has_keys(self) -> bool:
        """Whether it joins by equality of something."""
        return not any(name in self.node.name for name in _WITHOUT_KEYS)

    @property
    def keys(self) -> str:
        """The columns of its left side that it joins by; both sides' where they differ. Empty where it has none."""
        found = _KEYS.search(self.node.plain_detail) if self.has_keys else None
        if found is None:
            return ""
        left, right = found[1].strip(), found[2].strip()
        return left if left == right else f"{left} = {right}"

    @property
    def more_rows(self) -> float | None:
        """The rows of the larger side."""
        return None if self.left_rows is None or self.right_rows is None else max(self.left_rows, self.right_rows)

    @property
    def fewer_rows(self) -> float | None:
        return None if self.left_rows is None or self.right_rows is None else min(self.left_rows, self.right_rows)


def joins(plan: Plan) -> Iterator[Join]:
    """Every join of a plan that was not cached."""
    for node in plan.nodes:
        if _JOIN.search(node.name) and not node.cached and len(node.children) == 2:
            yield Join(node, node.children[0].rows_below, node.children[1].rows_below, node.rows)
