"""A run that Spark ran and the recorder recorded, with its page: half a minute. EMBERSCOPE_TEST_RUN names one instead.

All sums are made anew from the tables, sample by sample, without the code that makes the page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from emberscope.cli.main import exit_code
from emberscope.sources.run import load_run
from emberscope.tables.run import Run

JOB = Path(__file__).parents[1] / "jobs" / "recorded_job.py"
FACETS = {
    "stage": "stage_id",
    "attempt": "stage_attempt",
    "sql": "sql_execution_id",
    "executor": "executor_id",
    "role": "role",
    "state": "state",
}
COUNTED = ("cpu", "wall", "native")
NO_STACK = "[no stack]"


@dataclass
class Recorded:
    """A run with its page, and its samples as arrays; `paths` are the frames of each node, root first."""

    run: Run
    page: Path
    columns: dict[str, npt.NDArray[Any]]
    since_s: npt.NDArray[np.float64]
    nodes: npt.NDArray[np.int64]
    parents: list[int]
    names: list[str]
    events: list[str]

    def rows(self, choice: dict[str, str], bucket_s: float) -> npt.NDArray[np.bool_]:
        """The samples of a choice as the address has it, one by one."""
        mine = self.columns["event"] == choice.get("event", self.events[0])
        for facet in FACETS:
            if facet in choice:
                value = None if choice[facet] == "none" else choice[facet]
                mine = mine & (self.columns[facet] == value)
        if "task" in choice:
            mine = mine & (self.columns["task"] == choice["task"])
        # Times are drawn in whole buckets: all those that have a part of the piece.
        number = np.floor(self.since_s / bucket_s + 1e-9)
        if "from" in choice:
            mine = mine & (number >= np.floor(float(choice["from"]) / bucket_s + 1e-6))
        if "to" in choice:
            mine = mine & (number < np.ceil(float(choice["to"]) / bucket_s - 1e-6))
        return mine

    def count(self, mine: npt.NDArray[np.bool_]) -> int:
        return int(self.columns["count"][mine].sum())

    def by_node(self, mine: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Samples by the node of their leaf."""
        return np.bincount(self.nodes[mine], self.columns["count"][mine], len(self.parents)).astype(np.int64)

    def holding(self, pattern: str, mine: npt.NDArray[np.bool_]) -> int:
        """The samples with a frame that matches, each once."""
        expression = re.compile(pattern, re.IGNORECASE | re.ASCII)
        holds = [False] * len(self.parents)
        matched: dict[str, bool] = {}
        for node in range(1, len(self.parents)):
            name = self.names[node]
            if name not in matched:
                matched[name] = expression.search(name) is not None
            holds[node] = matched[name] or holds[self.parents[node]]
        holds[0] = expression.search(NO_STACK) is not None
        return int(self.by_node(mine)[np.array(holds)].sum())


def recorded_by_spark(folder: Path) -> Recorded:
    """Runs the job and makes its page, in `folder`; needs the recorder's jar."""
    given = os.environ.get("EMBERSCOPE_TEST_RUN")
    if given is None:
        command = [sys.executable, "-m", "emberscope.cli.main", "run", "--store", str(folder / "store"), "--"]
        command += ["spark-submit", "--master", "local-cluster[1,2,1024]", "--conf", "spark.ui.enabled=false"]
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        subprocess.run([*command, str(JOB), "stop"], env=environment, capture_output=True, check=True, timeout=300)
        (given,) = (str(one.parent) for one in (folder / "store").glob("*/*/*/run.json"))
    page = folder / "report.html"
    assert exit_code(["report", given, "-o", str(page)]) == 0
    run = load_run(given)
    samples, stacks, frames = (run.tables[name] for name in ("samples", "stacks", "frames"))
    lines = zip(frames["name"].to_pylist(), frames["line"].to_pylist(), strict=True)
    labels = [f"{name}:{line}" if line else name for name, line in lines]
    columns = {name: samples[column].cast("string").to_pylist() for name, column in FACETS.items()}
    columns |= {"event": samples["event"].cast("string").to_pylist()}
    columns |= {"task": samples["task_id"].cast("string").to_pylist()}
    assert run.start_ns is not None
    return Recorded(
        run,
        page,
        {name: np.array(values, dtype=object) for name, values in columns.items()}
        | {"count": samples["count"].to_numpy()},
        (samples["time_ns"].to_numpy() - run.start_ns) / 1e9,
        samples["stack"].fill_null(0).to_numpy().astype(np.int64),
        stacks["parent"].fill_null(0).to_pylist(),
        ["" if frame is None or frame < 0 else labels[frame] for frame in stacks["frame"].to_pylist()],
        [event for event in ("cpu", "wall", "native") if event in set(columns["event"])],
    )
