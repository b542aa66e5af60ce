"""The clusters of failures_make.py: Spark's own, YARN and an S3 server, each of real processes on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

HOST = "127.0.0.1"
LONGEST_START_S = 400


@dataclass(frozen=True)
class Cluster:
    """A running cluster. `logs` holds the folders of its applications, `local` their blocks; `conf` is Hadoop's, where
    it has one."""

    master: str
    logs: Path
    local: Path
    conf: Path | None = None
    class_path: str = ""


def free_port() -> int:
    with socket.socket() as found:
        found.bind((HOST, 0))
        return int(found.getsockname()[1])


def answer(url: str) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            told: dict[str, Any] = json.load(reply)
            return told
    except (OSError, ValueError):
        return {}


def wait(is_there: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + LONGEST_START_S
    while not is_there():
        if time.monotonic() > end:
            raise RuntimeError(f"{what} did not start")
        time.sleep(0.3)


@contextlib.contextmanager
def processes() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Gives a function that starts a process with its output in a file; all are ended, the last one first."""
    started: list[subprocess.Popen[bytes]] = []

    def start(command: list[str], output: Path, **more: Any) -> subprocess.Popen[bytes]:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("wb") as out:
            started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, **more))
        return started[-1]

    try:
        yield start
    finally:
        for process in reversed(started):
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextlib.contextmanager
def standalone(home: Path, work: Path, java: Path) -> Iterator[Cluster]:
    """Spark's own cluster: a master and one worker with two cores, whose blocks lie in `work`/blocks."""
    port, web = free_port(), free_port()
    env = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": HOST, "JAVA_HOME": str(java)}
    env |= {"SPARK_LOCAL_DIRS": str(work / "blocks"), "SPARK_DAEMON_MEMORY": "300m"}
    env["SPARK_DAEMON_JAVA_OPTS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    program = str(home / "bin" / "spark-class")
    with processes() as start:
        master = "org.apache.spark.deploy.master.Master"
        start([program, master, "--host", HOST, "--port", str(port), "--webui-port", str(web)], work / "m.log", env=env)
        worker = "org.apache.spark.deploy.worker.Worker"
        options = ["--host", HOST, "--cores", "2", "--memory", "3g", "--webui-port", "0"]
        url = f"spark://{HOST}:{port}"
        start([program, worker, *options, "--work-dir", str(work / "apps"), url], work / "w.log", env=env)
        wait(lambda: len(answer(f"http://{HOST}:{web}/json/").get("workers", [])) == 1, "Spark's cluster")
        yield Cluster(url, work / "apps", work / "blocks")


def configuration(folder: Path, files: dict[str, dict[str, object]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, pairs in files.items():
        rows = (
            f"<property><name>{key}</name><value>{escape(str(value))}</value></property>"
            for key, value in pairs.items()
        )
        (folder / name).write_text("<configuration>\n" + "\n".join(rows) + "\n</configuration>\n")
    (folder / "log4j.properties").write_text(
        "log4j.rootLogger=INFO,c\nlog4j.appender.c=org.apache.log4j.ConsoleAppender\nlog4j.appender.c.target=System.err\n"
        "log4j.appender.c.layout=org.apache.log4j.PatternLayout\n"
        "log4j.appender.c.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n\n"
    )


@contextlib.contextmanager
def yarn(jars: Path, work: Path, java: Path) -> Iterator[Cluster]:
    """A resource manager and one node manager that kills containers over their memory."""
    address = {
        f"yarn.resourcemanager.{one}": f"{HOST}:{free_port()}"
        for one in ("address", "scheduler.address", "resource-tracker.address", "admin.address", "webapp.address")
    }
    node = {
        f"yarn.nodemanager.{one}": f"{HOST}:{free_port()}" for one in ("address", "localizer.address", "webapp.address")
    }
    files: dict[str, dict[str, object]] = {
        "core-site.xml": {"fs.defaultFS": "file:///", "hadoop.tmp.dir": work / "tmp"},
        "capacity-scheduler.xml": {
            "yarn.scheduler.capacity.root.queues": "default",
            "yarn.scheduler.capacity.root.default.capacity": 100,
            "yarn.scheduler.capacity.maximum-am-resource-percent": "0.5",
        },
        "yarn-site.xml": {
            **address,
            **node,
            "yarn.resourcemanager.hostname": HOST,
            "yarn.nodemanager.hostname": "localhost",
            "yarn.nodemanager.pmem-check-enabled": "true",
            "yarn.nodemanager.vmem-check-enabled": "false",
            # By default it is true, and then nothing is killed without cgroups.
            "yarn.nodemanager.resource.memory.enforced": "false",
            "yarn.nodemanager.container-monitor.interval-ms": 500,
            "yarn.nodemanager.resource.memory-mb": 4096,
            "yarn.nodemanager.resource.cpu-vcores": 4,
            "yarn.scheduler.minimum-allocation-mb": 128,
            "yarn.log-aggregation-enable": "false",
            "yarn.nodemanager.delete.debug-delay-sec": 3600,
            "yarn.nodemanager.env-whitelist": "JAVA_HOME,PATH",
            "yarn.nodemanager.local-dirs": work / "local",
            "yarn.nodemanager.log-dirs": work / "logs",
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99.9",
        },
    }
    configuration(work / "conf", files)
    class_path = f"{work / 'conf'}:{jars}/*"
    command = [str(java / "bin" / "java"), "-Xmx300m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
    command += ["--add-opens=java.base/java.lang=ALL-UNNAMED", "-cp", class_path]
    server = "org.apache.hadoop.yarn.server"
    env = {**os.environ, "JAVA_HOME": str(java)}
    with processes() as start:
        start([*command, f"{server}.resourcemanager.ResourceManager"], work / "rm.log", env=env, cwd=work)
        start([*command, f"{server}.nodemanager.NodeManager"], work / "nm.log", env=env, cwd=work)
        metrics = f"http://{address['yarn.resourcemanager.webapp.address']}/ws/v1/cluster/metrics"
        wait(lambda: answer(metrics).get("clusterMetrics", {}).get("activeNodes") == 1, "YARN")
        yield Cluster("yarn", work / "logs", work / "local", work / "conf", class_path)


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex((HOST, port)) == 0


@contextlib.contextmanager
def s3(moto: Path, work: Path, *, checks_keys: bool) -> Iterator[str]:
    """The URL of an S3 server with the bucket `shop`; with `checks_keys` it then knows no key at all."""
    port = free_port()
    env = {**os.environ, "PYTHONPATH": ""}
    if checks_keys:
        env["INITIAL_NO_AUTH_ACTION_COUNT"] = "1"
    url = f"http://{HOST}:{port}"
    with processes() as start:
        start([str(moto), "-H", HOST, "-p", str(port)], work / "s3.log", env=env)
        wait(lambda: _listens(port), "the S3 server")
        with contextlib.suppress(urllib.error.HTTPError):
            urllib.request.urlopen(
                urllib.request.Request(f"{url}/shop", method="PUT", headers={"Host": f"{HOST}:{port}"})
            )
        yield url
