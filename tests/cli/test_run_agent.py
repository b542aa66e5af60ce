"""Which JVMs of a real application get the agent."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from emberscope.recorder.agent import agent_option
from emberscope.recorder.jar import recorder_jar
from emberscope.recorder.spark import find_java

pytestmark = pytest.mark.spark

JOB = """
import json
from pathlib import Path
from pyspark.sql import SparkSession

spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
driver = spark._jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()


def options(_):
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")]
    found = [line.decode().split("\\0") for line in lines if b"CoarseGrainedExecutorBackend" in line]
    return [word for words in found for word in words if word.startswith("-javaagent")]


executors = spark.sparkContext.parallelize([0], 1).flatMap(options).collect()
print(json.dumps({"driver": [each for each in driver if each.startswith("-javaagent")], "executors": executors}))
spark.stop()
"""


@pytest.mark.parametrize(
    ("command", "of_driver", "of_executors"),
    [
        (["spark-submit", "--master", "local-cluster[2,1,1024]"], 1, 2),
        ([sys.executable], 1, 0),
    ],
)
def test_jvms_of_this_host_get_the_agent_and_the_job_hears_nothing_of_it(
    tmp_path: Path, command: list[str], of_driver: int, of_executors: int
) -> None:
    job = tmp_path / "job.py"
    job.write_text(JOB)
    run = [sys.executable, "-m", "emberscope.cli.main", "run", "--store", str(tmp_path / "runs"), "--"]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    ran = subprocess.run([*run, *command, str(job)], env=environment, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("\n") == 1, "nothing but what the job prints"
    option = agent_option(recorder_jar(), find_java(os.environ))
    if option is None:
        of_driver = of_executors = 0
    assert json.loads(ran.stdout) == {"driver": [option] * of_driver, "executors": [option] * of_executors}
