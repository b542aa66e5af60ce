import os
import sys
from pathlib import Path

import pytest

from emberscope.recorder.agent import agent_option, executor_options, with_agent
from emberscope.recorder.plan import plan

JAR = Path("/opt/emberscope-1.0/e_2@x+y.jar")


def java(tmp_path: Path, release: str | None) -> str:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/java").touch()
    if release is not None:
        (tmp_path / "release").write_text(release)
    return str(tmp_path / "bin/java")


@pytest.mark.parametrize("version", ["1.8.0_412", "11.0.23", "17.0.15", "21", "22.0.2"])
def test_a_java_whose_flight_recorder_rewrites_classes_gets_the_agent(tmp_path: Path, version: str) -> None:
    release = f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\nJAVA_VERSION_DATE="2025-04-15"\n'
    assert agent_option(JAR, java(tmp_path, release)) == f"-javaagent:{JAR}"


@pytest.mark.parametrize("release", ['JAVA_VERSION="25.0.3"\n', 'JAVA_VERSION="23"\n', "no version\n", "", None])
def test_a_java_that_needs_none_or_says_nothing_gets_none(tmp_path: Path, release: str | None) -> None:
    assert agent_option(JAR, java(tmp_path, release)) is None
    assert agent_option(JAR, None) is None


@pytest.mark.parametrize("path", ["/a b/e.jar", "/a=b/e.jar", "/it's/e.jar", '/"/e.jar', "/a\\b/e.jar", "/é/e.jar"])
def test_a_path_that_a_line_of_options_would_not_carry_is_not_risked(tmp_path: Path, path: str) -> None:
    assert agent_option(Path(path), java(tmp_path, 'JAVA_VERSION="17"\n')) is None


def test_it_stands_behind_the_users_own_options_and_once() -> None:
    assert with_agent({"A": "b"}, None) == {"A": "b"}
    once = with_agent({"SPARK_SUBMIT_OPTS": "-Dx=y"}, "-javaagent:/e.jar")
    assert once == {"SPARK_SUBMIT_OPTS": "-Dx=y -javaagent:/e.jar"}
    assert with_agent(once, "-javaagent:/e.jar") == once


@pytest.mark.parametrize("master", ["spark://here:7077", "yarn", "k8s://here", "local[4]", ""])
def test_executors_that_may_start_on_another_host_get_none(master: str) -> None:
    assert executor_options({"spark.master": master}, "-javaagent:/e.jar") == {}


def test_executors_of_this_host_get_it() -> None:
    users = {"spark.master": "local-cluster[2,1,1024]"}
    assert executor_options(users, "-javaagent:/e.jar") == {"spark.executor.defaultJavaOptions": "-javaagent:/e.jar"}
    assert executor_options(users, None) == {}


@pytest.mark.parametrize("wanted", [True, False])
def test_it_can_be_left_out(tmp_path: Path, wanted: bool) -> None:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    home = Path(java(tmp_path, 'JAVA_VERSION="17.0.15"\n')).parent.parent
    Path(home, "bin/java").chmod(0o755)
    planned = plan(
        ["spark-submit", "--master", "local-cluster[1,1,1024]", "app.py"],
        {"PATH": path, "JAVA_HOME": str(home)},
        store=tmp_path / "runs",
        group="default",
        jar=JAR,
        chosen={},
        with_agent=wanted,
        scratch=tmp_path / "scratch",
    )
    assert planned.lost == ()
    option = f"-javaagent:{JAR}"
    assert planned.launch.environment.get("SPARK_SUBMIT_OPTS") == (option if wanted else None)
    assert (f"spark.executor.defaultJavaOptions={option}" in planned.launch.command) is wanted
