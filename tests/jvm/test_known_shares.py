"""Real tasks whose CPU is that of three methods, 10, 20 and 70 %: the samples of each engine say so too."""

import json
from collections import Counter
from pathlib import Path

import pytest

from emberscope.cli.main import exit_code
from emberscope.sources.run import load_run
from tests.jobs.cpu.recorded import jar_of_jobs, record
from tests.jobs.cpu.shares import BURNING, shares
from tests.jvm import async_profiler, toolchain

pytestmark = [pytest.mark.spark, pytest.mark.campaign, pytest.mark.usefixtures("jar")]

# Against what the threads measured. Two points of a hundred are some ten times the error of so many samples by chance.
MOST_POINTS = 2.0
CPU_SECONDS = "6"
RATE = {"spark.emberscope.rate.cpu": "5ms"}


@pytest.mark.parametrize("home", toolchain.jdk_homes(), ids=lambda home: str(toolchain.major(home)))
def test_flight_recorder_shares_out_cpu_as_the_methods_used_it(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _shares_are_right(home, {}, tmp_path, capsys)


def test_async_profiler_shares_out_cpu_as_the_methods_used_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conf = {"engine": "async-profiler", "engine.path": str(async_profiler.jar())}
    settings = {f"spark.emberscope.{name}": value for name, value in conf.items()}
    _shares_are_right(toolchain.jdk_homes()[0], settings, tmp_path, capsys)


def _shares_are_right(home: Path, conf: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, said = record(
        "cpu.KnownShares",
        [CPU_SECONDS],
        jar=jar_of_jobs(tmp_path),
        java_home=home,
        store=tmp_path / "store",
        conf=RATE | conf,
        timeout_s=280,
    )
    known = [100 * float(word) for word in said.split()]
    assert known == pytest.approx([10, 20, 70], abs=3), "the job does what it is made for"
    loaded = load_run(str(run))
    assert conf.get("spark.emberscope.engine", "jfr") in loaded.recorder["engine"]
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
