"""Cores and slots over time, from the executors that came and went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from emberscope.tables.run import once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from emberscope.tables.run import Run


def observed_window(run: Run) -> tuple[int, int] | None:
    """First and last epoch ms of the application as far as it was seen; None where that is not known."""
    application = run.application
    start_ms, length_ms = application.app_start_ms, application.observed_ms
    if start_ms is None or length_ms is None or length_ms <= 0:
        return None
    return start_ms, start_ms + length_ms


def is_whole(run: Run) -> bool:
    """Whether the log has both begin and end of the application."""
    return run.application.app_start_ms is not None and run.application.app_end_ms is not None


@once
def core_steps(run: Run) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Times (epoch ms, sorted) at which the number of cores changes, and that number from each time on.

    None where no executor is known. An executor without a removal stays until the end.
    """
    return slot_steps(run, 1)


def slot_steps(run: Run, cpus: int) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """The same in slots for tasks of `cpus` cores: what is left over of an executor's cores runs nothing."""
    table = run.tables.get("executors")
    if table is None or table.num_rows == 0:
        return None
    changes: dict[int, int] = {}
    for row in table.select(["cores", "added_ms", "removed_ms"]).to_pylist():
        if not row["cores"] or row["added_ms"] is None:
            continue
        slots = row["cores"] // cpus
        changes[row["added_ms"]] = changes.get(row["added_ms"], 0) + slots
        if row["removed_ms"] is not None:
            gone_ms = max(row["removed_ms"], row["added_ms"])
            changes[gone_ms] = changes.get(gone_ms, 0) - slots
    if not changes:
        return None
    times = np.array(sorted(changes), dtype=np.int64)
    return times, np.cumsum(np.array([changes[int(t)] for t in times], dtype=np.int64))


def cores_at(steps: tuple[NDArray[np.int64], NDArray[np.int64]], times: NDArray[Any]) -> NDArray[np.int64]:
    """The number of cores at each of `times` (epoch ms)."""
    index = np.searchsorted(steps[0], times, side="right") - 1
    return np.where(index >= 0, steps[1][np.maximum(index, 0)], 0).astype(np.int64)


def most_between(
    steps: tuple[NDArray[np.int64], NDArray[np.int64]], begins: NDArray[Any], ends: NDArray[Any]
) -> NDArray[np.int64]:
    """The largest number of cores at any time of each span (epoch ms; begin and end count too)."""
    first = np.maximum(np.searchsorted(steps[0], begins, side="right") - 1, 0)
    last = np.maximum(np.searchsorted(steps[0], ends, side="right") - 1, first)
    padded = np.append(steps[1], 0)
    inside = np.maximum.reduceat(padded, np.column_stack((first, last + 1)).ravel())[::2]
    # Before the first step there is nothing.
    return np.where(np.asarray(ends) < steps[0][0], 0, inside).astype(np.int64)


@once
def offered_core_ms(run: Run) -> int | None:
    """The integral of cores over the observed time; None where executors or times are not known."""
    steps, window = core_steps(run), observed_window(run)
    if steps is None or window is None:
        return None
    inside = steps[0][(steps[0] > window[0]) & (steps[0] < window[1])]
    edges = np.concatenate(([window[0]], inside, [window[1]]))
    return int(np.sum(cores_at(steps, edges[:-1]) * np.diff(edges)))
