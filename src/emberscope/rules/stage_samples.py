"""What the samples of a stage say: the share of its CPU samples in one operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from emberscope.profile.classify import operators_by_node

if TYPE_CHECKING:
    from emberscope.tables.run import Run

# A share of fewer samples than this is a guess.
_LEAST_SAMPLES: Final = 50


def operator_ratio(run: Run, stage_id: int, operator: str) -> float | None:
    """Share (0 to 1) of the CPU samples of a stage whose stack is in `operator` (`profile/classify.py`).

    None where the run was not recorded or the stage has too few samples to tell.
    """
    samples, stacks, frames = (run.tables.get(name) for name in ("samples", "stacks", "frames"))
    if samples is None or stacks is None or frames is None or samples.num_rows == 0:
        return None
    stage = np.asarray(samples["stage_id"].to_numpy(), dtype=np.float64)
    event = np.array(samples["event"].cast("string").to_pylist(), dtype=object)
    mine = (stage == stage_id) & (event == "cpu")
    count = np.asarray(samples["count"].to_numpy(), dtype=np.float64)[mine]
    if count.sum() < _LEAST_SAMPLES:
        return None
    by_node, names = operators_by_node(stacks, frames)
    if operator not in names:
        return 0.0
    there = by_node[np.asarray(samples["stack"].to_numpy())[mine]] == names.index(operator)
    return float(count[there].sum() / count.sum())
