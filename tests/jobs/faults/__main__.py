"""Runs one fault, or its healthy twin, on real Spark.

A fault is a module of this package: its docstring says what is wrong and what the twin does instead, CODE is the rule
that has to come first, MASTER where it runs, CONF the settings of both, HEALTHY_CONF those in which the twin differs,
and `work(spark, healthy)` does the work. Where MASTER is not enough, `cluster()` is a context that starts a cluster and
gives its address. Lines of --properties come last and win, so that a printed patch can be pasted as it is.
"""

import argparse
import importlib
import os
import pkgutil
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

MASTER = "local-cluster[2,1,1024]"


def faults() -> list[str]:
    """The names of all faults."""
    return sorted(module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)]) if module.name[0] != "_")


def properties(name: str, *, healthy: bool, log_dir: Path) -> dict[str, str]:
    """The settings of a job."""
    fault = importlib.import_module(f"tests.jobs.faults.{name}")
    return {
        "spark.master": getattr(fault, "MASTER", MASTER),
        "spark.app.name": f"{name}, healthy" if healthy else name,
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": log_dir.resolve().as_uri(),
        "spark.eventLog.rolling.enabled": "false",
        **getattr(fault, "CONF", {}),
        **(getattr(fault, "HEALTHY_CONF", {}) if healthy else {}),
    }


def submit(name: str, *, healthy: bool, log_dir: Path, pasted: str, scale: float, store: Path | None = None) -> int:
    """Runs the job by spark-submit, recorded where a store is given; its exit code."""
    log_dir.mkdir(parents=True, exist_ok=True)
    settings = properties(name, healthy=healthy, log_dir=log_dir)
    root = Path(__file__).parents[3]
    cluster = getattr(importlib.import_module(f"tests.jobs.faults.{name}"), "cluster", nullcontext)
    with tempfile.TemporaryDirectory() as folder, cluster() as master:
        settings |= {"spark.master": master} if master else {}
        lines = [f"{key} {value}" for key, value in settings.items()]
        file = Path(folder) / "job.properties"
        file.write_text("\n".join(lines) + "\n" + pasted, encoding="utf-8")
        environment = {
            **os.environ,
            "PYTHONPATH": str(root),
            "PYSPARK_PYTHON": sys.executable,
            "PYSPARK_DRIVER_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "FAULT": name,
            "FAULT_HEALTHY": str(int(healthy)),
            "FAULT_SCALE": str(scale),
        }
        spark_submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
        command = [str(spark_submit), "--properties-file", str(file), __file__]
        if store is not None:
            recorder = [sys.executable, "-m", "emberscope.cli.main", "run", "--store", str(store.resolve()), "--"]
            command = [*recorder, *command]
        return subprocess.run(command, cwd=root, env=environment).returncode


def in_spark() -> None:
    """What spark-submit runs."""
    name, healthy = os.environ["FAULT"], os.environ["FAULT_HEALTHY"] == "1"
    fault = importlib.import_module(f"tests.jobs.faults.{name}")
    spark = SparkSession.builder.getOrCreate()
    try:
        fault.work(spark, healthy)
    finally:
        spark.stop()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.jobs.faults", description=__doc__.partition("\n")[0])
    parser.add_argument("fault", choices=faults())
    parser.add_argument("--healthy", action="store_true", help="its healthy twin")
    parser.add_argument("--log-dir", type=Path, required=True, help="where the event log goes")
    parser.add_argument("--store", type=Path, help="record it by `emberscope run` into this store")
    parser.add_argument("--properties", type=Path, help="settings that come after the job's own")
    parser.add_argument("--scale", type=float, default=1.0, help="how much work, 1 is about half a minute")
    asked = parser.parse_args()
    pasted = asked.properties.read_text(encoding="utf-8") if asked.properties else ""
    return submit(
        asked.fault,
        healthy=asked.healthy,
        log_dir=asked.log_dir,
        pasted=pasted,
        scale=asked.scale,
        store=asked.store,
    )


if __name__ == "__main__":
    if "FAULT" in os.environ:
        in_spark()
    else:
        sys.exit(main())
