"""Does the one jar record on every Spark and Java that it is for? Runs a small job on each pair and prints a table.

    python benchmarks/recorder_matrix.py --work DIR --java 11=HOME --java 17=HOME --java 25=HOME

Each Spark gets a virtual environment in DIR (kept for the next time). Each pair runs twice on local-cluster[2,1,1024]:
alone, and beside a recording of the user's own with settings=profile in driver and executors, whose secrets (an
environment variable and a system property) must not be shipped. A run takes about half a minute on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from emberscope.eventlog.read import read_event_log
from emberscope.jfr.recording import read_recording
from emberscope.recorder.jar import recorder_jar
from emberscope.recorder.settings import PLUGIN_CLASS

# Which Java each Spark runs on, and the newest Python whose functions its cloudpickle can send to a worker.
SPARKS = {
    "3.3.4": (("11", "17"), 10),
    "3.5.7": (("11", "17"), 11),
    "4.0.1": (("17",), 11),
    "4.3.0": (("17", "25"), 11),
}
SECRET = "correct-horse-battery"
JOB = """
import sys, time
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("recorder matrix").getOrCreate()
end = time.time() + 8
while time.time() < end:
    spark.range(0, 2000000, 1, 4).selectExpr("id % 100 AS k", "sqrt(id) AS v").groupBy("k").sum("v").collect()
if sys.argv[1] == "rdd":
    assert spark.sparkContext.parallelize(range(100), 4).map(lambda number: number + 1).sum() == 5050
spark.stop()
"""


@dataclass(frozen=True)
class Row:
    spark: str
    java: str
    python: str
    beside: str
    code: int
    chunks: str
    last: str
    tasks: str
    withheld: int
    secrets: int
    problems: str

    def cells(self) -> list[str]:
        return [str(getattr(self, name)) for name in self.__dataclass_fields__]

    @property
    def good(self) -> bool:
        done, _, all_ = self.tasks.partition("/")
        return self.code == 0 and self.last == "3/3" and done == all_ != "0" and not self.secrets and not self.problems


def interpreter(newest: int) -> tuple[str, bool]:
    """A Python of at most 3.`newest`; otherwise this one, which can only run jobs without Python functions."""
    for minor in range(newest, 7, -1):
        kept = sorted(Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python"))
        found = str(kept[-1]) if kept else shutil.which(f"python3.{minor}")
        if found and subprocess.run([found, "-c", "import ensurepip"], capture_output=True).returncode == 0:
            return found, True
    return sys.executable, False


def environment(work: Path, spark: str, newest_python: int) -> tuple[Path, bool]:
    home = work / f"pyspark-{spark}"
    python, functions = interpreter(newest_python)
    if not (home / "bin" / "spark-submit").exists():
        subprocess.run([python, "-m", "venv", home], check=True)
        subprocess.run([home / "bin" / "pip", "install", "-q", f"pyspark=={spark}", "setuptools"], check=True)
    return home, functions


def run(spark: str, java: str, java_home: Path, venv: Path, functions: bool, beside: bool, scratch: Path) -> Row:
    job, store, log = scratch / "job.py", scratch / "store", scratch / "log"
    job.write_text(JOB)
    log.mkdir()
    spark_home = next(venv.glob("lib/python3*/site-packages/pyspark"))
    options = f"-Dmy.password={SECRET}"
    if beside:
        options += " -XX:StartFlightRecording=settings=profile"
    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "512m",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": log.as_uri(),
        "spark.driver.extraJavaOptions": options,
        "spark.executor.extraJavaOptions": options,
        "spark.executorEnv.MY_TOKEN": SECRET,
        "spark.plugins": PLUGIN_CLASS,
        "spark.emberscope.store": str(store),
        "spark.emberscope.chunk.seconds": "5",
        "spark.emberscope.status": str(scratch / "status.json"),
    }
    command = [str(venv / "bin" / "spark-submit"), "--master", "local-cluster[2,1,1024]", "--jars", str(recorder_jar())]
    for key, value in settings.items():
        command += ["--conf", f"{key}={value}"]
    surroundings = {
        name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_", "VIRTUAL_ENV"))
    }
    surroundings |= {
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(spark_home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": str(venv / "bin" / "python"),
        "MY_TOKEN": SECRET,
    }
    ran = subprocess.run(
        [*command, str(job), "rdd" if functions else "sql"],
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=400,
    )
    (scratch / "stderr").write_text(ran.stderr)

    manifests = [json.loads(path.read_text()) for path in store.rglob("recordings/*/*.json")]
    processes = [f"{manifest['role']}-{manifest['executor_id']}" for manifest in manifests]
    spans, secrets = set(), 0
    for path in store.rglob("*.jfr"):
        data = path.read_bytes()
        secrets += sum(data.count(word) for word in (SECRET.encode(), b"MY_TOKEN", b"my.password"))
        rows = read_recording(data, path.name).spans.to_pylist()
        spans |= {row["task_id"] for row in rows if row["end_ns"] is not None}
    tasks = {task["task_id"] for task in read_event_log(str(next(log.iterdir()))).tables["tasks"].to_pylist()}
    status = json.loads((scratch / "status.json").read_text())
    # Beside a recording that was there first, the depth of stacks is its own: said, and no fault.
    problems = [each for each in status["problems"] if not (beside and each["where"] == "depth")]
    version = subprocess.run(
        [venv / "bin" / "python", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
        capture_output=True,
        text=True,
    )
    return Row(
        spark,
        java,
        version.stdout.strip() + ("" if functions else " (SQL only)"),
        "yes" if beside else "no",
        ran.returncode,
        " ".join(str(processes.count(name)) for name in ("driver-driver", "executor-0", "executor-1")),
        f"{sum(manifest['last'] for manifest in manifests)}/{len(set(processes))}",
        f"{len(spans & tasks)}/{len(tasks)}",
        sum(manifest["withheld"] for manifest in manifests),
        secrets,
        "; ".join(sorted({f"{each['where']}: {each['message']}" for each in problems})),
    )


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--work", type=Path, required=True, help="where the virtual environments are kept")
    options.add_argument("--java", action="append", required=True, metavar="VERSION=HOME")
    options.add_argument("--spark", action="append", choices=list(SPARKS), help="only these (default: all)")
    chosen = options.parse_args()
    homes = {version: Path(home) for version, _, home in (each.partition("=") for each in chosen.java)}
    names = list(Row.__dataclass_fields__)
    print("| " + " | ".join(names) + " |\n|" + " --- |" * len(names), flush=True)
    good = True
    for spark in chosen.spark or SPARKS:
        javas, newest_python = SPARKS[spark]
        venv, functions = environment(chosen.work, spark, newest_python)
        for java in javas:
            for beside in (False, True):
                if java not in homes:
                    print(f"| {spark} | {java} | not run: no --java {java}=HOME |", flush=True)
                    continue
                with tempfile.TemporaryDirectory(dir=chosen.work) as scratch:
                    row = run(spark, java, homes[java], venv, functions, beside, Path(scratch))
                print("| " + " | ".join(row.cells()) + " |", flush=True)
                good = good and row.good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
