"""The CPU of a command holds that of everything it starts; the whole campaign is `benchmarks/overhead.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.alone

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "overhead_cpu.py"
BURN = """
import sys, time
while time.process_time() < {seconds}:
    pass
open(sys.argv[1], "a").write(f"{{time.process_time()}}\\n")
"""
# A session of its own, no open files, and its parents gone: what a daemon does to get away.
DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 3)
        os.execv(sys.executable, [sys.executable, "-c", sys.argv[1], sys.argv[2]])
    os._exit(0)
"""
UNASKED = """
import os, signal, subprocess, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
subprocess.Popen([sys.executable, "-c", sys.argv[1], sys.argv[2]]).wait()
"""
JAVA = """
public class Burner {
    static volatile double kept;
    public static void main(String[] args) throws Exception {
        var bean = java.lang.management.ManagementFactory.getThreadMXBean();
        var burnt = new java.util.concurrent.CountDownLatch(1);
        Runnable burn = () -> {
            while (bean.getCurrentThreadCpuTime() < 1_000_000_000L) {
                for (int i = 0; i < 1000; i++) { kept += Math.sqrt(i); }
            }
            burnt.countDown();
            // What a thread took can only be looked at while it is there.
            try { Thread.sleep(1000); } catch (InterruptedException stopped) { }
        };
        for (String name : new String[] {"emberscope-recorder", "another"}) {
            Thread thread = new Thread(burn, name);
            thread.start();
            thread.join();
        }
    }
}
"""


def measured(tmp_path: Path, *command: str, options: tuple[str, ...] = ()) -> dict[str, Any]:
    result = tmp_path / "result.json"
    subprocess.run([sys.executable, SCRIPT, *options, result, "--", *command], check=False, timeout=120)
    document: dict[str, Any] = json.loads(result.read_text())
    return document


def python(tmp_path: Path, script: str, seconds: float) -> tuple[str, ...]:
    return (sys.executable, "-c", script, BURN.format(seconds=seconds), str(tmp_path / "burnt"))


def burnt_s(tmp_path: Path) -> float:
    """What the burner says of itself."""
    return float((tmp_path / "burnt").read_text())


def waited_s(found: dict[str, Any]) -> float:
    return float(found["counts"]["waited"]["user_s"] + found["counts"]["waited"]["system_s"])


def test_a_grandchild_that_outlives_its_parents_is_counted(tmp_path: Path) -> None:
    found = measured(tmp_path, *python(tmp_path, DAEMON, 1.0))
    assert found["exit_code"] == 0
    assert found["outlived"]
    assert found["killed"] == 0
    assert waited_s(found) >= burnt_s(tmp_path) >= 1.0
    assert found["cpu_s"] >= burnt_s(tmp_path)


def test_the_group_and_the_processes_waited_for_agree(tmp_path: Path) -> None:
    found = measured(tmp_path, *python(tmp_path, DAEMON, 1.0))
    if found["counted_by"] != "group":
        pytest.skip("no control group can be made here")
    # The group also has what a process does between fork and exec.
    assert found["cpu_s"] == pytest.approx(waited_s(found), rel=0.03)


def test_a_child_nobody_asks_about_is_in_the_group_and_seen(tmp_path: Path) -> None:
    found = measured(tmp_path, *python(tmp_path, UNASKED, 1.0))
    assert waited_s(found) < burnt_s(tmp_path)
    assert found["counts"]["waited"]["unasked_s"] > 0
    if found["counted_by"] == "group":
        assert found["cpu_s"] >= burnt_s(tmp_path)


def test_what_never_ends_is_killed_and_said(tmp_path: Path) -> None:
    found = measured(tmp_path, "sh", "-c", "sleep 10000 & exit 3", options=("--linger", "0"))
    assert found["exit_code"] == 3
    assert found["killed"] >= 1
    assert found["outlived"] == ["sleep"]


def test_whoever_ends_the_measuring_ends_the_command(tmp_path: Path) -> None:
    meter = [sys.executable, SCRIPT, tmp_path / "result.json", "--", "sh", "-c", "echo $$; exec sleep 10000"]
    with subprocess.Popen(meter, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        command = int(started.stdout.readline())
        # Again and again, as by a whole process group and by the end of the parent.
        while started.poll() is None:
            started.terminate()
        # The pipe is open as long as the command lives, and what was started is waited for.
        assert started.stdout.read() == ""
        assert started.wait() != 0
    assert not Path(f"/proc/{command}").exists()


def test_a_command_that_is_not_there(tmp_path: Path) -> None:
    assert measured(tmp_path, str(tmp_path / "none"))["exit_code"] == 127


def test_threads_of_a_jvm_are_told_by_their_names(tmp_path: Path) -> None:
    source = tmp_path / "Burner.java"
    source.write_text(JAVA)
    found = measured(tmp_path, "java", str(source), options=("--threads", "emberscope,JFR"))
    assert found["exit_code"] == 0
    # The kernel keeps fifteen letters of a name.
    assert found["threads_s"].keys() == {"emberscope-reco"}
    assert 1.0 <= found["threads_s"]["emberscope-reco"] <= found["cpu_s"] - 1.0
