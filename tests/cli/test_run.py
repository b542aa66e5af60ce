"""`emberscope run` around commands that start no Spark: nothing of them is changed, whatever is missing for us."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from emberscope.cli.main import exit_code
from emberscope.recorder import jar

BIN = Path(sys.executable).parent


def run(*words, stdin=b"", **more):
    """`emberscope run` as a process of its own."""
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", **more}
    command = [sys.executable, "-m", "emberscope.cli.main", "run", *words]
    return subprocess.run(command, input=stdin, capture_output=True, env=environment, check=False)


def test_output_input_and_code_are_the_commands_own(tmp_path):
    script = r"cat; printf 'a\000b\377'; printf 'mine\n' >&2; exit 7"
    done = run("--store", str(tmp_path / "store"), "--", "bash", "-c", script, stdin=b"in\n")
    assert done.returncode == 7
    assert done.stdout == b"in\na\0b\xff"
    assert done.stderr.startswith(b"mine\n\nemberscope:\n")
    assert b"started no Spark application" in done.stderr
    assert os.listdir(tmp_path / "store") == []


@pytest.mark.parametrize(
    ("code", "words"), [(4, "ended with exit code 4: its own output says why"), (0, "spark.plugins")]
)
def test_a_job_that_failed_before_spark_is_told_to_look_at_its_own_words(tmp_path, code, words):
    done = run("--store", str(tmp_path / "store"), "--", "sh", "-c", f"echo why >&2; exit {code}")
    said = done.stderr.decode()
    assert words in said
    assert ("spark.plugins" in said) == (code == 0)


def test_arguments_behind_the_command_are_its_own(tmp_path):
    done = run("--store", str(tmp_path), "bash", "-c", 'printf "%s|" "$@"', "x", "--store", "--", "-h", "")
    assert done.stdout == b"--store|--|-h||"


@pytest.mark.parametrize(("signal", "code"), [("TERM", 143), ("KILL", 137), ("INT", 130)])
def test_death_by_a_signal_is_128_and_its_number(tmp_path, signal, code):
    assert run("--store", str(tmp_path), "--", "sh", "-c", f"kill -{signal} $$").returncode == code


@pytest.mark.parametrize(
    ("name", "content", "mode", "code", "words"),
    [
        ("none", None, 0, 127, "command not found"),
        ("plain", "echo hi\n", 0o644, 126, "cannot be executed"),
        ("lost", "#!/none/such\n", 0o755, 127, "the interpreter in its first line is not there"),
        ("folder", None, 0, 126, "cannot be executed"),
    ],
)
def test_a_command_that_cannot_be_started_is_said_plainly(tmp_path, name, content, mode, code, words):
    command = tmp_path / name
    if content is not None:
        command.write_text(content)
        command.chmod(mode)
    elif name == "folder":
        command.mkdir()
    done = run("--store", str(tmp_path / "store"), "--", str(command))
    assert done.returncode == code
    assert done.stdout == b""
    assert done.stderr.decode().count("\n") == 1
    assert words in done.stderr.decode()


def test_without_java_the_job_fails_by_itself_and_the_reason_is_said(tmp_path):
    script = '"$JAVA_HOME/bin/java" -version; echo "code $?"'
    done = run("--store", str(tmp_path / "s"), "--", "sh", "-c", script, JAVA_HOME=str(tmp_path))
    assert done.stdout == b"code 127\n"
    assert done.returncode == 0
    assert f"Java is missing: JAVA_HOME is {tmp_path}" in done.stderr.decode()


def test_a_store_that_cannot_be_written_costs_the_recording_and_not_the_job(tmp_path):
    (tmp_path / "file").touch()
    done = run(
        "--store", str(tmp_path / "file/store"), "--", "sh", "-c", "echo out; echo ${SPARK_CONF_DIR-none}; exit 3"
    )
    assert (done.returncode, done.stdout) == (3, b"out\nnone\n")
    assert "Nothing is recorded" in done.stderr.decode()
    assert "the store cannot be written" in done.stderr.decode()


def test_the_store_may_be_named_by_the_environment(tmp_path):
    run("--", "true", EMBERSCOPE_STORE=str(tmp_path / "named"))
    assert (tmp_path / "named").is_dir()


@pytest.mark.parametrize("uri", ["s3a://bucket/runs", "hdfs:///runs", "file://elsewhere/runs"])
def test_a_store_elsewhere_is_refused_before_anything_is_made(tmp_path, monkeypatch, capsys, uri):
    monkeypatch.chdir(tmp_path)
    assert exit_code(["run", "--store", uri, "--", "true"]) == 2
    assert f"emberscope conf --store {uri}" in capsys.readouterr().err
    monkeypatch.setenv("EMBERSCOPE_STORE", uri)
    assert exit_code(["run", "--", "true"]) == 2
    assert "$EMBERSCOPE_STORE" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_a_local_store_may_be_a_uri(tmp_path):
    done = run("--store", (tmp_path / "my runs").as_uri(), "--", "true")
    assert done.returncode == 0
    assert os.listdir(tmp_path) == ["my runs"]


def test_without_the_jar_only_the_event_log_is_asked_for(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(jar, "JAR_NAME", "gone.jar")
    monkeypatch.setenv("PATH", f"{BIN}:{os.environ['PATH']}")
    script = "cat $SPARK_CONF_DIR/spark-defaults.conf; exit 7"
    assert exit_code(["run", "--store", str(tmp_path), "--", "sh", "-c", script]) == 7
    out, err = capfd.readouterr()
    assert "spark.eventLog.enabled=true" in out
    assert "spark.plugins" not in out
    assert "Only the event log is read: The recorder's jar is not there" in err


def test_spark_2_gets_no_plugin(tmp_path):
    home = tmp_path / "spark-2"
    (home / "jars").mkdir(parents=True)
    (home / "RELEASE").write_text("Spark 2.4.8 built for Hadoop 2.7.3\n")
    script = "cat $SPARK_CONF_DIR/spark-defaults.conf"
    done = run("--store", str(tmp_path / "s"), "--", "sh", "-c", script, SPARK_HOME=str(home))
    assert b"spark.eventLog.enabled=true" in done.stdout
    assert b"spark.plugins" not in done.stdout
    assert "Only the event log is read: Spark 2.4.8 is too old" in done.stderr.decode()


def test_a_client_of_spark_connect_is_left_alone(tmp_path):
    done = run("--store", str(tmp_path), "--", "sh", "-c", "echo ${SPARK_CONF_DIR-none}", SPARK_REMOTE="sc://host")
    assert done.stdout == b"none\n"
    assert "this is a Spark Connect client" in done.stderr.decode()


def test_a_closed_standard_error_changes_nothing(tmp_path):
    script = f"{sys.executable} -m emberscope.cli.main run --store {tmp_path} -- sh -c 'echo out; exit 5' 2>&-"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (5, b"out\n")
