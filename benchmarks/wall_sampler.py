"""What the recorder's own sampler of wall-clock time costs: CPU of its thread beside that of the whole JVM.

    python benchmarks/wall_sampler.py [--tasks 8] [--seconds 60] [--rate 50ms] [--events wall]

Runs tests/jobs/busy_tasks.py in local mode (joins, windows and aggregations: deep stacks that are always on the move,
so that next to nothing can be batched) and reads the CPU time of every thread from /proc. A JVM that has fewer
processors than tasks gets less CPU than the tasks could use; so beside the share of the CPU that was used here stands
the share that it would be if each task had a processor for itself, as on a cluster: what one look costs is the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import pyarrow.compute as pc

from emberscope.recorder.jar import recorder_jar
from emberscope.recorder.settings import PLUGIN_CLASS
from emberscope.sources.recording import load_recording

JOB = Path(__file__).parents[1] / "tests" / "jobs" / "busy_tasks.py"
THREAD = "emberscope-wall"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", default="50ms")
    parser.add_argument("--events", default="wall")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        store = Path(scratch) / "store"
        settings = {
            "spark.plugins": PLUGIN_CLASS,
            "spark.ui.enabled": "false",
            "spark.emberscope.store": str(store),
            "spark.emberscope.events": wanted.events,
            "spark.emberscope.rate.wall": wanted.rate,
        }
        command = [str(Path(sys.executable).with_name("spark-submit")), "--master", f"local[{wanted.tasks}]"]
        command += ["--driver-memory", "2g", "--jars", str(recorder_jar())]
        for key, value in settings.items():
            command += ["--conf", f"{key}={value}"]
        command += [str(JOB), str(wanted.tasks), str(wanted.seconds)]
        environment = os.environ | {"PYSPARK_PYTHON": sys.executable}
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, check=True)
        print(json.dumps(result(wanted.tasks, json.loads(said.stdout), store), indent=2))


def result(tasks: int, said: dict[str, float], store: Path) -> dict[str, float]:
    manifests = [json.loads(path.read_text()) for path in store.rglob("recordings/*/*.json")]
    own = [one for one in manifests if one["engine"] == "wall-sampler"]
    tables = load_recording(str(store), files=[*map(str, sorted(store.rglob("*.jfr")))]).tables
    samples = tables["samples"].filter(pc.equal(tables["samples"]["event"], "wall"))
    depths = [0]
    for parent in tables["stacks"]["parent"].to_pylist()[1:]:
        depths.append(depths[parent] + 1)
    of_tasks = samples.filter(pc.is_valid(samples["task_id"]))
    looked = pc.sum(of_tasks["count"]).as_py()
    cpu_s = said["threads_cpu_s"][THREAD]  # type: ignore[index]
    return {
        "wall_s": said["wall_s"],
        "process_cpu_s": said["process_cpu_s"],
        "sampler_cpu_s": cpu_s,
        "share_of_the_cpu_used_here": cpu_s / said["process_cpu_s"],
        "share_with_a_processor_for_each_task": cpu_s / (tasks * said["wall_s"]),
        "samples_of_tasks": looked,
        "events": samples.num_rows,
        "us_of_cpu_for_each_sample": cpu_s * 1e6 / looked,
        "median_depth": median(depths[stack] for stack in of_tasks["stack"].to_pylist()),
        "distinct_stacks": len(set(samples["stack"].to_pylist())),
        "bytes_shipped": sum(one["bytes"] for one in own),
        "bytes_shipped_a_second": sum(one["bytes"] for one in own) / said["wall_s"],
    }


if __name__ == "__main__":
    main()
