import os
import subprocess
from pathlib import Path

import pytest

from emberscope.recorder import properties
from emberscope.recorder.launch import Launch, prepare, uses_connect
from emberscope.recorder.spark import Spark
from emberscope.recorder.submit_arguments import settings

OURS = {
    "spark.plugins": "io.emberscope.P",
    "spark.jars": "/e.jar",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.dir": "file:///store/.incoming/1",
    "spark.emberscope.store": "/store",
}
JAR = Path("/e.jar")


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "spark home"
    (home / "conf").mkdir(parents=True)
    (home / "jars").mkdir()
    (home / "conf/spark-defaults.conf").write_text("spark.plugins X\nspark.jars /u.jar\nspark.master local\n")
    (home / "conf/log4j2.properties").write_text("status = warn\n")
    return home


def launch(home, tmp_path, *command, **environment) -> Launch:
    return prepare(
        command, environment, Spark(home, "4.3.0"), OURS, forced=frozenset(), jar=JAR, scratch=tmp_path / "scratch"
    )


def sourced(launched, home, variable):
    """What `load-spark-env.sh` leaves in a variable after it has read the generated script."""
    script = f'. "$SPARK_CONF_DIR/spark-env.sh"; printf %s "${variable}"'
    environment = {**launched.environment, "SPARK_HOME": str(home), "PATH": os.environ["PATH"]}
    return subprocess.run(["bash", "-ec", script], env=environment, capture_output=True, text=True, check=True).stdout


def defaults(launched):
    return properties.parse(Path(launched.environment["SPARK_CONF_DIR"], "spark-defaults.conf").read_text())


def test_spark_submit_gets_arguments_merged_with_the_defaults_of_its_home(home, tmp_path):
    launched = launch(home, tmp_path, "/bin/spark-submit", "--jars", "/c.jar", "app.py", "--jars", "mine")
    held = settings(launched.command[1:])
    assert held["spark.plugins"] == "X,io.emberscope.P"
    assert held["spark.jars"] == "/c.jar,/e.jar"
    assert launched.command[-3:] == ["app.py", "--jars", "mine"]
    assert launched.event_log_dir == "file:///store/.incoming/1"
    assert launched.environment == {"SPARK_DIST_CLASSPATH": "/e.jar"}


def test_a_properties_file_stands_in_place_of_the_defaults(home, tmp_path):
    (tmp_path / "p.conf").write_text("spark.plugins=Y\nspark.eventLog.enabled=true\nspark.eventLog.dir=hdfs:///l\n")
    launched = launch(home, tmp_path, "spark-submit", "--properties-file", str(tmp_path / "p.conf"), "app.py")
    held = settings(launched.command[1:])
    assert held["spark.plugins"] == "Y,io.emberscope.P"
    assert held["spark.jars"] == "/e.jar"
    assert "spark.eventLog.dir" not in held
    assert launched.event_log_dir == "hdfs:///l"


def test_spark_4_can_read_both(home, tmp_path):
    (tmp_path / "p.conf").write_text("spark.plugins=Y\n")
    command = ["spark-submit", "--properties-file", str(tmp_path / "p.conf"), "--load-spark-defaults", "app.py"]
    held = settings(launch(home, tmp_path, *command).command[1:])
    assert held["spark.plugins"] == "Y,io.emberscope.P"
    assert held["spark.jars"] == "/u.jar,/e.jar"


def test_spark_conf_dir_stands_in_place_of_the_homes(home, tmp_path):
    other = tmp_path / "conf"
    other.mkdir()
    (other / "spark-defaults.conf").write_text("spark.plugins Z\n")
    launched = launch(home, tmp_path, "spark-submit", "app.py", SPARK_CONF_DIR=str(other))
    assert settings(launched.command[1:])["spark.plugins"] == "Z,io.emberscope.P"
    launched = launch(home, tmp_path, "python", "app.py", SPARK_CONF_DIR=str(other))
    assert defaults(launched)["spark.plugins"] == "Z,io.emberscope.P"


def test_anything_else_gets_a_copy_of_the_configuration(home, tmp_path):
    launched = launch(home, tmp_path, "python", "app.py", "--conf", "spark.plugins=no")
    assert launched.command == ["python", "app.py", "--conf", "spark.plugins=no"]
    assert defaults(launched) == {
        "spark.plugins": "X,io.emberscope.P",
        "spark.jars": "/u.jar,/e.jar",
        "spark.master": "local",
        **{key: value for key, value in OURS.items() if key not in ("spark.plugins", "spark.jars")},
    }
    copied = Path(launched.environment["SPARK_CONF_DIR"])
    assert (copied / "log4j2.properties").read_text() == "status = warn\n"
    assert (home / "conf/spark-defaults.conf").read_text().startswith("spark.plugins X\n")
    assert "PYSPARK_SUBMIT_ARGS" not in launched.environment


def test_without_a_configuration_of_the_user_there_is_only_ours(tmp_path):
    (tmp_path / "bare/jars").mkdir(parents=True)
    assert defaults(launch(tmp_path / "bare", tmp_path, "python", "app.py")) == OURS


def test_submit_args_of_pyspark_are_merged_where_they_stand(home, tmp_path):
    launched = launch(
        home, tmp_path, "python", "app.py",
        PYSPARK_SUBMIT_ARGS="--jars '/my jar.jar' --driver-java-options '-Da=b -Dc=d' pyspark-shell",
    )  # fmt: skip
    assert launched.environment["PYSPARK_SUBMIT_ARGS"] == (
        "--jars '/my jar.jar,/e.jar' --driver-java-options '-Da=b -Dc=d' pyspark-shell"
    )
    assert defaults(launched)["spark.plugins"] == "X,io.emberscope.P"


def test_submit_args_with_a_properties_file_get_everything(home, tmp_path):
    (tmp_path / "p.conf").write_text("spark.plugins=Y\n")
    arguments = f"--properties-file {tmp_path / 'p.conf'} pyspark-shell"
    launched = launch(home, tmp_path, "python", "app.py", PYSPARK_SUBMIT_ARGS=arguments)
    held = settings(launched.environment["PYSPARK_SUBMIT_ARGS"].split(), program="pyspark")
    assert held == {**OURS, "spark.plugins": "Y,io.emberscope.P"}


def test_the_users_script_runs_and_our_jar_comes_last_on_its_class_path(home, tmp_path):
    (home / "conf/spark-env.sh").write_text("MINE=1\nSPARK_DIST_CLASSPATH=/hadoop/*\n")
    launched = launch(home, tmp_path, "python", "app.py")
    assert sourced(launched, home, "MINE") == "1"
    assert sourced(launched, home, "SPARK_DIST_CLASSPATH") == "/hadoop/*:/e.jar"
    assert sourced(launched, home, "SPARK_CONF_DIR") == launched.environment["SPARK_CONF_DIR"]


def test_another_spark_than_the_one_that_was_read_keeps_its_own_configuration(home, tmp_path):
    other = tmp_path / "other"
    (other / "conf").mkdir(parents=True)
    (other / "conf/spark-env.sh").write_text("MINE=2\n")
    launched = launch(home, tmp_path, "sh", "job.sh")
    assert sourced(launched, other, "SPARK_CONF_DIR") == str(other / "conf")
    assert sourced(launched, other, "MINE") == "2"
    assert sourced(launched, other, "SPARK_DIST_CLASSPATH") == ""


@pytest.mark.parametrize(
    ("command", "environment", "wanted"),
    [
        (["spark-submit", "--remote", "sc://h", "app.py"], {}, True),
        (["python", "app.py"], {"SPARK_REMOTE": "sc://h"}, True),
        (["spark-submit", "app.py", "--remote", "x"], {}, False),
        (["python", "app.py", "--remote", "x"], {}, False),
    ],
)
def test_clients_of_spark_connect_are_known(command, environment, wanted):
    assert uses_connect(command, environment) is wanted
