"""`emberscope run --engine async-profiler` around real Spark: the library from the class path, and from a path."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.compute as pc
import pytest

from emberscope.cli.main import exit_code
from emberscope.sources.run import load_run
from tests.jvm import async_profiler

JOB = Path(__file__).parents[1] / "jobs/recorded_job.py"
BIN = Path(sys.executable).parent

pytestmark = [
    pytest.mark.spark,
    pytest.mark.campaign,
    pytest.mark.skipif(sys.platform != "linux", reason="the library is for Linux"),
]


_NO_BUDGETS = ("--conf", "spark.emberscope.budget.cpu=1", "--conf", "spark.emberscope.budget.bandwidth=1g")


@pytest.mark.parametrize(("road", "master"), [("class path", "local[2,2]"), ("path", "local-cluster[1,2,1024]")])
def test_a_job_has_samples_of_both_engines_with_their_tasks(road, master, tmp_path, capsys):
    jar = async_profiler.jar()
    on_path, named = (["--jars", str(jar)], []) if road == "class path" else ([], ["--engine-path", str(jar)])
    command = [
        *(sys.executable, "-m", "emberscope.cli.main", "run", "--store", str(tmp_path), "--chunk-seconds", "5"),
        *("--engine", "async-profiler", *named, "--events", "cpu,alloc,lock,gc", "--"),
        *("spark-submit", "--master", master, "--conf", "spark.ui.enabled=false", *on_path),
        *("--conf", "spark.executor.memory=512m", *_NO_BUDGETS, str(JOB), "stop"),
    ]
    environment = os.environ | {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert (ran.returncode, ran.stdout) == (0, "groups 100\nsum 28\n"), ran.stderr
    assert "async-profiler is not used" not in ran.stderr
    (document,) = tmp_path.glob("*/*/*/run.json")
    engine, _, beside = json.loads(document.read_text())["recorder"]["engine"].partition(" + ")
    assert engine.startswith(f"async-profiler {async_profiler.VERSION} (")
    assert beside == "jfr"

    run = load_run(str(document.parent))
    cpu = run.tables["samples"].filter(pc.equal(run.tables["samples"]["event"], "cpu"))
    assert set(cpu["role"].to_pylist()) == ({"driver"} if master == "local[2,2]" else {"driver", "executor"})
    assert set(cpu["value"].to_pylist()) == {20_000_000}, "chunks that do not say it too"
    assert run.recorder["sample_period_ns"] == 20_000_000
    assert exit_code(["summary", str(document.parent), "--json"]) == 0
    stages = json.loads(capsys.readouterr().out)["run"]["stages"]
    of_tasks, attributed = (sum(stage[name] for stage in stages) for name in ("task_samples", "attributed_samples"))
    assert attributed >= 0.95 * of_tasks > 0
