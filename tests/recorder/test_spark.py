import os
import sys
from pathlib import Path

import pyspark
import pytest

from emberscope.recorder.spark import Spark, find_java, find_spark, version_of

PACKAGE = Path(pyspark.__file__).parent


def environment(**more):
    return {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **more}


@pytest.mark.parametrize("command", [["spark-submit", "app.py"], [sys.executable, "app.py"], ["sh", "job.sh"]])
def test_the_spark_of_the_command_is_found_as_it_will_find_it_itself(command):
    found = find_spark(command, environment())
    assert found == Spark(PACKAGE, pyspark.__version__)


def test_spark_home_wins(tmp_path):
    (tmp_path / "jars").mkdir()
    (tmp_path / "RELEASE").write_text("Spark 2.4.8 (git revision 4be4064) built for Hadoop 2.7.3\n")
    found = find_spark(["spark-submit"], environment(SPARK_HOME=str(tmp_path)))
    assert found == Spark(tmp_path, "2.4.8")
    assert not found.has_plugins


def test_a_home_without_spark_is_none(tmp_path):
    assert find_spark(["spark-submit"], environment(SPARK_HOME=str(tmp_path))) is None
    assert find_spark(["sh"], {"PATH": str(tmp_path)}) is None


@pytest.mark.parametrize(
    ("version", "wanted"), [("2.4.8", False), ("3.0.0", True), ("3.5.1-amzn-0", True), ("4.3.0", True), (None, True)]
)
def test_plugins_came_with_3_0(version, wanted):
    assert Spark(Path("/x"), version).has_plugins is wanted


def test_the_version_is_in_the_name_of_a_jar(tmp_path):
    (tmp_path / "jars").mkdir()
    assert version_of(tmp_path) is None
    (tmp_path / "jars/spark-core_2.12-3.5.0-amzn-1.jar").touch()
    assert version_of(tmp_path) == "3.5.0-amzn-1"


def test_java_home_wins_over_the_path(tmp_path):
    assert find_java({"JAVA_HOME": str(tmp_path), "PATH": os.environ["PATH"]}) is None
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin/java"
    java.touch(mode=0o755)
    assert find_java({"JAVA_HOME": str(tmp_path), "PATH": ""}) == str(java)
    assert find_java({"PATH": str(tmp_path / "bin")}) == str(java)
    assert find_java({"PATH": str(tmp_path)}) is None
