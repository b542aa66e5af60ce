"""CPU time of tasks by operator, from the samples of the stages that were recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.profile.classify import families_by_frame, operators_by_node

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from emberscope.tables.run import Run

# Fewer samples of a stage say nothing about its operators (a tenth of them would be one or two).
_LEAST_SAMPLES: Final = 20


def cpu_split(run: Run, cpu_ms: NDArray[np.float64]) -> Mapping[str, float]:
    """`cpu_ms` (one value for each row of table `tasks`) by part: `cpu_<operator>`, and `cpu` where no samples tell.

    Each stage's CPU time is shared out by the operators of its CPU samples; a sample whose stack tells of no operator
    goes by the family of its top frame. The sum is that of `cpu_ms`.
    """
    tasks, samples = run.tables.get("tasks"), run.tables.get("samples")
    if tasks is None or samples is None or samples.num_rows == 0 or "stacks" not in run.tables:
        return {"cpu": float(cpu_ms.sum())}
    names, counts = _operator_samples(run)
    parts: dict[str, float] = {}
    stage_ids = tasks["stage_id"].to_numpy()
    for stage in np.unique(stage_ids):
        spent = float(cpu_ms[stage_ids == stage].sum())
        seen = counts.get(int(stage))
        if seen is None or seen.sum() < _LEAST_SAMPLES:
            parts["cpu"] = parts.get("cpu", 0.0) + spent
            continue
        for number in np.flatnonzero(seen):
            part = names[number]
            parts[part] = parts.get(part, 0.0) + spent * float(seen[number] / seen.sum())
    return parts


def _operator_samples(run: Run) -> tuple[list[str], dict[int, NDArray[np.float64]]]:
    """Names of parts, and by stage the number of CPU samples of each."""
    samples, stacks, frames = run.tables["samples"], run.tables["stacks"], run.tables["frames"]
    events = np.array(samples["event"].cast("string").to_pylist(), dtype=object)
    stage = np.asarray(samples["stage_id"].to_numpy(), dtype=np.float64)
    mine = (events == "cpu") & ~np.isnan(stage)
    node = np.asarray(samples["stack"].to_numpy())[mine]
    count = np.asarray(samples["count"].to_numpy(), dtype=np.float64)[mine]
    by_node, operators = operators_by_node(stacks, frames)
    families = families_by_frame(frames)
    frame_of = np.asarray(stacks["frame"].to_numpy())
    names = ["cpu_" + _snake(name) for name in operators]
    numbers = {name: number for number, name in enumerate(names)}
    family_number = np.array(
        [numbers.setdefault("cpu_" + family, len(numbers)) for family in families] or [0], dtype=np.int64
    )
    none = numbers.setdefault("cpu_none", len(numbers))
    leaf = frame_of[node]
    number = np.where(by_node[node] >= 0, by_node[node], np.where(leaf >= 0, family_number[np.maximum(leaf, 0)], none))
    ordered = sorted(numbers, key=lambda name: numbers[name])
    result: dict[int, NDArray[np.float64]] = {}
    stages = stage[mine].astype(np.int64)
    for one in np.unique(stages):
        here = stages == one
        result[int(one)] = np.bincount(number[here], count[here], len(ordered)).astype(np.float64)
    return ordered, result


def _snake(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
