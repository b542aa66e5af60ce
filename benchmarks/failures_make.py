"""Makes the failures of failures.py: a real Spark job each, with its event log and the logs of its cluster."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from failures_clusters import HOST, Cluster, s3, standalone, yarn

JOB = Path(__file__).with_name("failures_job.py")
LONGEST_S = 300
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A JVM that lives for seconds is not compiled for hours."""
SPARKS_OWN = re.compile(r"slf4j|netty-(buffer|codec|common|handler|resolver|transport)")
"""Jars of which Spark has its own, which must come first."""


@dataclass(frozen=True)
class Failure:
    """How a failure is made, and what the doctor has to say first: a rule of `codes`, its title and summary with each
    of `words` (patterns)."""

    name: str
    what: str
    codes: tuple[str, ...]
    words: tuple[str, ...]
    on: str = "standalone"
    conf: dict[str, str] = field(default_factory=dict)
    mode: str = "client"
    needs_blocks: bool = False


@dataclass(frozen=True)
class Tools:
    """Where the programs are. `old_spark` is Spark's folder of a version that cannot run on `new_java`."""

    home: Path
    python: Path
    java: Path
    new_java: Path
    old_spark: Path
    old_python: Path
    hadoop: Path
    s3a: Path
    moto: Path


@dataclass(frozen=True)
class Made:
    """What a run left: the folder of its logs, its event log if it wrote one, the exit code of spark-submit."""

    logs: Path
    event_log: Path | None
    code: int


FAILURES = (
    Failure(
        "yarn_memory",
        "a Python worker outgrows the container and YARN kills it",
        ("K1",),
        (r"YARN", r"MB|MiB|GiB|GB"),
        "yarn",
        {"spark.task.maxFailures": "2"},
    ),
    Failure("sigkill", "an executor gets SIGKILL", ("K2",), (r"[Ee]xecutor \d", r"SIGKILL|137")),
    Failure(
        "disk_full",
        "the disk of Spark's blocks is full",
        ("K10",),
        (r"(?i)disk|space",),
        conf={"spark.task.maxFailures": "2"},
        needs_blocks=True,
    ),
    Failure(
        "fetch_failed",
        "a cleaner removes the files of the shuffle",
        ("K6",),
        (r"(?i)shuffle",),
        conf={"spark.stage.maxConsecutiveAttempts": "3"},
        needs_blocks=True,
    ),
    Failure(
        "driver_heap",
        "collect of more than the driver's heap holds",
        ("K5",),
        (r"(?i)driver", r"(?i)heap"),
        conf={"spark.driver.memory": "512m", "spark.driver.maxResultSize": "0", "spark.cores.max": "1"},
    ),
    Failure("python_crash", "a segmentation fault in a Python worker", ("K17",), (r"Python",)),
    Failure(
        "missing_class",
        "the jar of a JDBC driver is missing",
        ("K11",),
        (r"org\.postgresql\.Driver",),
        conf={"spark.cores.max": "1"},
    ),
    Failure(
        "wrong_credentials", "S3 does not know the access key", ("K15",), (r"(?i)key|credential|denied|403",), "s3"
    ),
    Failure(
        "exit_13",
        "the program of a YARN cluster-mode application sets the master to local",
        ("L13",),
        (r"13", r"(?i)master|SparkContext"),
        "yarn",
        mode="cluster",
    ),
    Failure(
        "wrong_java", "a Java that this Spark does not run on", ("K40",), (r"Java 25|JDK 25|Java \d+", r"Spark"), "java"
    ),
    Failure(
        "heartbeat",
        "an executor is stopped (SIGSTOP) for longer than the driver waits",
        ("K12",),
        (r"[Ee]xecutor \d", r"(?i)heartbeat"),
        "standalone",
        {
            "spark.network.timeout": "20s",
            "spark.executor.heartbeatInterval": "2s",
            "spark.network.timeoutInterval": "4s",
        },
    ),
)


def make(
    failure: Failure, folder: Path, cluster: Callable[[str], Cluster], tools: Tools, *, healthy: bool, resume: bool
) -> Made:
    """Runs the job with its logs in `folder`; with `resume`, what a run left there is used as it is."""
    logs, events = folder / "logs", folder / "events"
    said = folder / "job.json"
    if not (resume and said.exists()):
        shutil.rmtree(folder, ignore_errors=True)
        logs.mkdir(parents=True)
        events.mkdir()
        code = submit(failure, folder, cluster(failure.on), tools, healthy=healthy)
        said.write_text(json.dumps({"code": code}), encoding="utf-8")
    found = sorted(path for path in events.iterdir() if path.is_file() and not path.name.startswith("."))
    return Made(logs, found[-1] if found else None, int(json.loads(said.read_text(encoding="utf-8"))["code"]))


def submit(failure: Failure, folder: Path, cluster: Cluster, tools: Tools, *, healthy: bool) -> int:
    work = folder / "cwd"
    work.mkdir()
    before = set(cluster.logs.iterdir()) if cluster.logs.exists() else set()
    home, python, java = tools.home, tools.python, tools.java
    if failure.on == "java":
        home, python = tools.old_spark, tools.old_python
        java = java if healthy else tools.new_java
    conf = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{folder / 'events'}",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.ui.enabled": "false",
        "spark.driver.extraJavaOptions": QUICK,
        "spark.executor.extraJavaOptions": QUICK,
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.pyspark.python": str(python),
        **failure.conf,
    }
    env = {**os.environ, "SPARK_LOCAL_IP": HOST, "JAVA_HOME": str(java), "SPARK_HOME": str(home), "PYTHONPATH": ""}
    env["PYSPARK_PYTHON"] = str(python)
    with contextlib.ExitStack() as stack:
        if failure.on == "s3":
            url = stack.enter_context(s3(tools.moto, work, checks_keys=not healthy))
            jars = [str(jar) for jar in sorted(tools.s3a.glob("*.jar")) if not SPARKS_OWN.search(jar.name)]
            conf |= {"spark.driver.extraClassPath": ":".join(jars), "spark.executor.extraClassPath": ":".join(jars)}
            conf |= {f"spark.hadoop.fs.s3a.{key}": value for key, value in s3a_settings(url).items()}
        if cluster.conf:
            env["HADOOP_CONF_DIR"] = str(cluster.conf)
            conf |= {"spark.yarn.jars": f"local:{home}/jars/*", "spark.yarn.stagingDir": f"file://{work / 'staging'}"}
            conf |= {"spark.executor.instances": "1", "spark.yarn.am.memory": "512m", "spark.yarn.maxAppAttempts": "1"}
            if failure.mode == "cluster":
                conf |= {"spark.driver.memory": "512m"}
        settings = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
        command = [str(home / "bin" / "spark-submit"), "--master", cluster.master, "--deploy-mode", failure.mode]
        command += [
            *settings,
            str(JOB),
            failure.name,
            "--place",
            str(cluster.local if failure.needs_blocks else work),
            *(["--healthy"] if healthy else []),
        ]
        with (folder / "logs" / "driver.log").open("wb") as out:
            try:
                code = subprocess.run(command, stdout=out, stderr=out, env=env, cwd=work, timeout=LONGEST_S).returncode
            except subprocess.TimeoutExpired:
                code = -1
    for application in set(cluster.logs.iterdir()) - before if cluster.logs.exists() else ():
        collect(application, folder / "logs")
    return code


def s3a_settings(url: str) -> dict[str, str]:
    return {
        "endpoint": url,
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "access.key": "AKIAEXAMPLE000000000",
        "secret.key": "notthekey",
        "connection.ssl.enabled": "false",
    }


@contextlib.contextmanager
def clusters(work: Path, tools: Tools) -> Iterator[Callable[[str], Cluster]]:
    """Gives a function from a failure's `on` to its cluster; one that was started once serves until the end."""
    started: dict[str, Cluster] = {}
    with contextlib.ExitStack() as stack:

        def cluster(on: str) -> Cluster:
            kind = "yarn" if on == "yarn" else "java" if on == "java" else "standalone"
            if kind not in started:
                folder = work / f"cluster-{kind}-{os.getpid()}"
                shutil.rmtree(folder, ignore_errors=True)
                (folder / "blocks").mkdir(parents=True)
                if kind == "yarn":
                    started[kind] = stack.enter_context(yarn(tools.hadoop, folder, tools.java))
                elif kind == "java":
                    started[kind] = Cluster("local[1]", folder / "apps", folder / "blocks")
                else:
                    started[kind] = stack.enter_context(standalone(tools.home, folder, tools.java))
            return started[kind]

        yield cluster


def collect(application: Path, logs: Path) -> None:
    """Copies the logs of an application's executors or containers, in the layout of their cluster."""
    for path in sorted(application.rglob("std*")):
        if path.is_file() and path.stat().st_size:
            target = logs / application.name / path.relative_to(application)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
