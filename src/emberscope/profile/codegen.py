"""Generated code and the plan that it was generated from.

Spark compiles some operators of a plan into one loop, `WholeStageCodegen (3)` in the plan, and gives its class the same
number: `GeneratedIteratorForCodegenStage3`. The number is good for one SQL execution, and within it a subquery and a
cached plan count anew. Sources: Spark's `WholeStageCodegenExec` and `CollapseCodegenStages`; the setting
`spark.sql.codegen.useIdInClassName`, on by default since Spark 2.3, without which no class has a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from emberscope.profile.ancestry import inherited, tree_arrays

_MARK: Final = "GeneratedIteratorForCodegenStage"
_CLASS: Final = re.compile(rf"\b{_MARK}(\d{{1,9}})(?!\d)")
_NODE: Final = re.compile(r"WholeStageCodegen \(\d+\)")


def codegen_stage_of(name: str) -> int | None:
    """The number of the generated code that a frame is of, as its name says; None for any other frame."""
    if _MARK not in name:
        return None
    found = _CLASS.search(name)
    return int(found[1]) if found is not None else None


def codegen_stage_by_node(stacks: pa.Table, frames: pa.Table) -> npt.NDArray[np.int32]:
    """For every row of `stacks` the number of the generated code at work: that nearest to the leaf; -1 for none."""
    parents, frame_ids = tree_arrays(stacks)
    by_frame = np.full(frames.num_rows + 1, -1, np.int32)
    for row, name in enumerate(frames["name"].to_pylist()):
        number = codegen_stage_of(name)
        if number is not None:
            by_frame[row] = number
    return inherited(parents, by_frame[frame_ids])


@dataclass(frozen=True, slots=True)
class WholeStage:
    """A `WholeStageCodegen` node of a plan: its place, the operators in it (as the plan has them, the last to work on a
    row first), and the Spark stages that ran it, as far as the event log says."""

    sql_execution_id: int
    codegen_id: int
    node_id: int
    operators: tuple[str, ...]
    stage_ids: frozenset[int]

    @property
    def words(self) -> str:
        """`WholeStageCodegen (3): HashAggregate, Project, Filter`."""
        return f"WholeStageCodegen ({self.codegen_id}): {', '.join(self.operators)}"


def whole_stages(plan_nodes: pa.Table) -> tuple[WholeStage, ...]:
    """All generated code of all plans, in the order of table `plan_nodes`."""
    columns = ("sql_execution_id", "node_id", "parent_node_id", "name", "codegen_id", "stage_ids")
    rows = list(zip(*(plan_nodes[name].to_pylist() for name in columns), strict=True))
    found: dict[tuple[int, int], tuple[int, frozenset[int], list[str]]] = {}
    code_of: dict[tuple[int, int], tuple[int, int] | None] = {}  # the generated code that an operator is part of
    for sql, node, parent, name, codegen, stages in rows:  # a parent comes before its children
        key = (sql, node)
        if codegen is None:
            code_of[key] = None
        elif _NODE.match(name):
            code_of[key] = key
            found[key] = (codegen, frozenset(stages or ()), [])
        else:
            code_of[key] = above = code_of.get((sql, parent))
            if above is not None:
                found[above][2].append(name)
    return tuple(
        WholeStage(sql, codegen, node, tuple(operators), stages)
        for (sql, node), (codegen, stages, operators) in found.items()
    )


def plan_node_of_samples(
    samples: pa.Table, stacks: pa.Table, frames: pa.Table, plan_nodes: pa.Table
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """For each sample the number of its generated code, and the `WholeStageCodegen` node of its execution's plan.

    Each is -1 where there is none: outside of generated code; and for the node where the sample is of no SQL execution,
    its plan is not known, or several nodes of the plan have the number and the sample's stage does not tell which.
    """
    codes = codegen_stage_by_node(stacks, frames)[samples["stack"].fill_null(0).to_numpy()]
    known: dict[tuple[int, int], list[WholeStage]] = {}
    for whole in whole_stages(plan_nodes):
        known.setdefault((whole.sql_execution_id, whole.codegen_id), []).append(whole)
    nodes = np.full(len(codes), -1, np.int32)
    inside = np.flatnonzero((codes >= 0) & samples["sql_execution_id"].is_valid().to_numpy())
    if len(inside):
        sqls, sql = _encoded(samples["sql_execution_id"].fill_null(-1).to_numpy()[inside])
        numbers, number = _encoded(codes[inside])
        stages, stage = _encoded(samples["stage_id"].fill_null(-1).to_numpy()[inside])
        keys, place = _encoded((sql * len(numbers) + number) * len(stages) + stage)
        of_keys = [
            _node(known.get((int(sqls[s]), int(numbers[n])), ()), int(stages[t]))
            for s, n, t in zip(*np.unravel_index(keys, (len(sqls), len(numbers), len(stages))), strict=True)
        ]
        nodes[inside] = np.array(of_keys, np.int32)[place]
    return codes, nodes


def _encoded(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The distinct values, and for each its place among them."""
    coded = pa.array(values).dictionary_encode()
    return coded.dictionary.to_numpy(), coded.indices.to_numpy().astype(np.int64)


def _node(candidates: Iterable[WholeStage], stage: int) -> int:
    candidates = list(candidates)
    if len(candidates) > 1:
        candidates = [whole for whole in candidates if stage in whole.stage_ids]
    return candidates[0].node_id if len(candidates) == 1 else -1


def generated_code_words(frames: pa.Table, plan_nodes: pa.Table | None) -> dict[int, dict[int, str]]:
    """What pages say of generated code: by SQL execution and number, of the numbers that `frames` have.

    Of several nodes of a plan with one number those count that ran; where they differ, each is said. Empty where no
    plan is known.
    """
    numbers = {codegen_stage_of(name) for name in frames["name"].to_pylist()}
    if plan_nodes is None or numbers <= {None}:
        return {}
    alike: dict[tuple[int, int], list[WholeStage]] = {}
    for whole in whole_stages(plan_nodes):
        if whole.codegen_id in numbers:
            alike.setdefault((whole.sql_execution_id, whole.codegen_id), []).append(whole)
    words: dict[int, dict[int, str]] = {}
    for (sql, number), several in alike.items():
        ran = [whole for whole in several if whole.stage_ids] or several
        words.setdefault(sql, {})[number] = " or ".join(dict.fromkeys(whole.words for whole in ran))
    return words
