"""Do CPU samples agree with Spark's own accounts? `attribution.py RUN`, on a run that `emberscope run` recorded.

Prints, for each stage with more than five seconds of CPU, the CPU samples times their period beside Spark's
executorCpuTime, and their ratio: raw counts, never scaled to each other. Then the share of the samples under
`Executor$TaskRunner.run` that carry a task attempt, and the frames of those that do not.

What to expect: from JDK 25 on the sampler counts CPU time and the two agree. The older sampler looks at a thread every
period and counts it while it is runnable, so that a thread that waits for a core counts too (more than Spark says, on a
busy machine), and a thread in native code does not, nor a sixth busy thread of a tick (less than Spark says).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from emberscope.profile.ancestry import TASK_FRAME, nodes_holding, tree_arrays
from emberscope.sources.run import load_run

FLOOR_NS = 5_000_000_000


def summary(run: str) -> dict[str, Any]:
    """The run's part of `emberscope summary RUN --json`."""
    command = [str(Path(sys.executable).with_name("emberscope")), "summary", run, "--json"]
    document: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return dict(document["run"])


def print_stages(stages: list[dict[str, Any]]) -> None:
    print("stage    samples  period ms  samples x period s  executorCpuTime s  ratio")
    for stage in stages:
        spark_ns, period_ns = stage["executor_cpu_time_ns"], stage["sample_period_ns"]
        if spark_ns is None or spark_ns <= FLOOR_NS:
            continue
        name = f"{stage['stage_id']}.{stage['stage_attempt']}"
        if period_ns is None:
            print(f"{name:<7}{stage['cpu_samples']:>9}  period not known; executorCpuTime {spark_ns / 1e9:.2f} s")
            continue
        sampled_ns = stage["cpu_samples"] * period_ns
        print(
            f"{name:<7}{stage['cpu_samples']:>9}{period_ns / 1e6:>11.1f}{sampled_ns / 1e9:>20.2f}"
            f"{spark_ns / 1e9:>19.2f}{sampled_ns / spark_ns:>7.3f}"
        )


def unattributed(run: str) -> tuple[int, Iterator[str]]:
    """How many samples there are under the task frame, and for each without a task the frame that it called there."""
    tables = load_run(run).tables
    samples, stacks, frames = tables["samples"], tables["stacks"], tables["frames"]
    parents, frame_of = tree_arrays(stacks)
    names = frames["name"].to_pylist()
    nodes = samples["stack"].fill_null(0).to_numpy()
    events = np.asarray(samples["event"].to_pylist())
    of_task = nodes_holding(stacks, frames)[nodes] & (events == "cpu")
    without = np.flatnonzero(of_task & np.asarray(samples["task_id"].is_null()))

    def called(node: int) -> str:
        below = "(itself)"
        while node > 0 and names[frame_of[node]] != TASK_FRAME:
            below = names[frame_of[node]]
            node = int(parents[node])
        return below

    return int(of_task.sum()), (called(int(nodes[row])) for row in without)


def main(run: str) -> None:
    print_stages(summary(run)["stages"])
    count, callees = unattributed(run)
    rest = Counter(callees)
    if count == 0:
        sys.exit(f"no CPU sample of this run has {TASK_FRAME} in its stack")
    print(f"\n{count} CPU samples under {TASK_FRAME}; {1 - rest.total() / count:.2%} carry a task attempt")
    for name, number in rest.most_common():
        print(f"{number:>8} without, in {name}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: attribution.py RUN")
    main(sys.argv[1])
