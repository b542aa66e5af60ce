"""Real tasks whose CPU is that of three methods, 10, 20 and 70 %: the samples of each engine say so too."""

import json
from collections import Counter
from pathlib import Path

import pytest

from emberscope.cli.main import exit_code
from emberscope.sources.run import load_run
from tests.jobs.cpu.recorded import jar_of_jobs, record
from tests.jobs.cpu.shares import BURNING, shares
from tests.jvm import toolchain

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("jar")]

# Against what the threads measured. Two points of a hundred are some ten times the error of so many samples by chance.
MOST_POINTS = 2.0
CPU_SECONDS = "6"
RATE = {"spark.emberscope.rate.cpu": "5ms"}


@pytest.mark.parametrize("home", toolchain.jdk_homes(), ids=lambda home: str(toolchain.major(home)))
def test_samples_share_out_cpu_as_the_methods_used_it(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = jar_of_jobs(tmp_path)
    run, said = record(
        "cpu.KnownShares",
        [CPU_SECONDS],
        jar=jobs,
        java_home=home,
        store=tmp_path / "store",
        conf=RATE,
        timeout_s=280,
    )
    known = [100 * float(word) for word in said.split()]
    assert known == pytest.approx([10, 20, 70], abs=3), "the job does what it is made for"
    loaded = load_run(str(run))
    found, count = shares(loaded.tables)
    assert count > 100
    assert found == pytest.approx(known, abs=MOST_POINTS)

    # The same by the samples that share out the CPU time of their task's thread: all of it, as the threads measured it.
    assert exit_code(["flame", str(run), "--calibrated", "--format", "json"]) == 0
    tree = json.loads(capsys.readouterr().out)
    assert exit_code(["summary", str(run), "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)["run"]
    whole = stored["calibrated"]
    assert tree["total"] == whole["in_samples_ns"] == whole["cpu_ns"] - whole["not_seen_ns"]
    by_spark = sum(stage["executor_cpu_time_ns"] for stage in stored["stages"])
    assert float(CPU_SECONDS) * 1e9 <= by_spark
    assert 0.98 < whole["cpu_ns"] / by_spark < 1.15, "the thread's own clock, which is Spark's too"
    weights: Counter[str] = Counter()
    for frame, weight in zip(tree["nodes"]["frame"], tree["nodes"]["self"], strict=True):
        weights[tree["frames"]["name"][frame] if frame >= 0 else ""] += weight
    calibrated = [weights[f"cpu.KnownShares.{name}"] for name in BURNING]
    assert [100 * weight / sum(calibrated) for weight in calibrated] == pytest.approx(known, abs=MOST_POINTS)
