"""A job that sleeps, wants a lock and waits for a connection: wall-clock samples show its tasks, and the driver."""

from collections import Counter, defaultdict
from pathlib import Path

import pyarrow.compute as pc
import pytest

from emberscope.cli.main import exit_code
from emberscope.sources.run import load_run
from tests.jfr.recordings import paths
from tests.jvm.recorded import run
from tests.jvm.toolchain import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.campaign, pytest.mark.usefixtures("jar")]

JOB = ROOT / "tests" / "jobs" / "kinds" / "job.py"
STATES = {
    "app.Kinds$Sleeps.takesANap": "STATE_SLEEPING",
    "app.Kinds$Locks.waitsForTheOthers": "STATE_BLOCKED_ON_MONITOR_ENTER",
    "app.Kinds$Waits.readsFromAfar": "STATE_WAITING_FOR_IO",
}


def test_wall_clock_samples_show_what_tasks_and_the_driver_wait_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conf = {"events": "wall", "chunk.seconds": "10", "rate.wall": "10ms", "budget.cpu": "1", "budget.bandwidth": "1g"}
    conf = {f"spark.emberscope.{name}": value for name, value in conf.items()}
    finished = run(tmp_path, job=(JOB, "sleeps", "locks", "waits"), conf=conf)
    assert finished.code == 0, finished.err[-2000:]
    (place,) = finished.store.glob("default/*/1")
    tables = load_run(str(place)).tables
    stacks = paths(tables["stacks"], tables["frames"])
    wall = tables["samples"].filter(pc.equal(tables["samples"]["event"], "wall")).to_pylist()
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for row in wall:
        for site in STATES.keys() & set(stacks[row["stack"]]):
            assert row["task_id"] is not None
            seen[site][row["state"]] += row["count"]
    assert seen.keys() == STATES.keys()
    for site, state in STATES.items():
        share = seen[site][state] / sum(seen[site].values())
        assert share > (0.25 if "Locks" in site else 0.6), (
            site,
            seen[site],
        )  # one task has the lock, the other wants it
    of_driver = {stacks[row["stack"]] for row in wall if row["task_id"] is None}
    assert any("Dataset.collectToPython" in "\n".join(stack) for stack in of_driver), "who called for the jobs"

    assert exit_code(["flame", str(place), "--event", "wall", "--format", "folded"]) == 0
    folded = capsys.readouterr().out
    assert all(site in folded for site in STATES)
