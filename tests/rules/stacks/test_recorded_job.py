"""From a job under `emberscope run` to the finding that names its method."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

JOB = Path(__file__).parents[2] / "jobs" / "stacks" / "hot_spots.py"


@pytest.mark.spark
def test_a_recorded_job_is_told_which_of_its_methods_compiles_patterns(tmp_path: Path) -> None:
    store = tmp_path / "store"
    command = [
        sys.executable,
        "-m",
        "emberscope.cli.main",
        "run",
        "--store",
        str(store),
        "--",
        sys.executable,
        str(JOB),
    ]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    ran = subprocess.run([*command, "4000", "CompilesPattern", "Well"], env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    (document,) = store.rglob("findings.json")
    findings = {finding["code"]: finding for finding in json.loads(document.read_text())["findings"]}
    assert "S12" not in findings
    assert "app.HotSpots$CompilesPattern.once()" in findings["S1"]["title"]
    (*_, frames) = [evidence["frames"] for evidence in findings["S1"]["evidence"] if "frames" in evidence]
    assert frames[0] == "app.HotSpots$CompilesPattern.once"
    assert findings["S1"]["wasted_wall_ms"] > 0
