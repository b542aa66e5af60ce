import os
import signal
import subprocess
import sys

import pytest

RUN = "import sys\nfrom emberscope.recorder import child\nimport os\nsys.exit(child.run(sys.argv[1:], os.environ))"
# Waits for one SIGINT, says so, and ends with the number of those that came until it was told to stop.
COUNTER = """
import signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
print("ready", flush=True)
signal.sigwait({signal.SIGINT})
print("got it", flush=True)
sys.stdin.readline()
sys.exit(41 + len(signal.sigpending()))
"""
STOPPED = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: (print("caught", flush=True), sys.exit(9)))
print("ready", flush=True)
sys.stdin.readline()
"""


def start(*command, **options):
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        **options,
    )


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
        ("kill -INT $$", 130),
    ],
)
def test_the_exit_code_is_the_commands(script, code):
    assert subprocess.run([sys.executable, "-c", RUN, "sh", "-c", script], check=False).returncode == code


def test_every_file_descriptor_is_inherited(tmp_path):
    with open(tmp_path / "out", "wb") as file:
        script = f"cat; echo err >&2; echo three >&{file.fileno()}"
        done = subprocess.run(
            [sys.executable, "-c", RUN, "bash", "-c", script],
            input=b"a\0b\xff\n",
            capture_output=True,
            pass_fds=[file.fileno()],
            check=True,
        )
    assert (done.stdout, done.stderr) == (b"a\0b\xff\n", b"err\n")
    assert (tmp_path / "out").read_bytes() == b"three\n"


@pytest.mark.parametrize(("to_group", "why"), [(False, "passed on"), (True, "there already, not sent twice")])
def test_an_interrupt_reaches_the_command_once(to_group, why):
    process = start(sys.executable, "-c", COUNTER)
    assert process.stdout.readline() == "ready\n"
    (os.killpg if to_group else os.kill)(process.pid, signal.SIGINT)
    assert process.stdout.readline() == "got it\n"
    process.communicate("stop\n")
    assert process.returncode == 41, why


def test_sigterm_is_passed_on_and_waited_for():
    process = start(sys.executable, "-c", STOPPED)
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    assert process.stdout.readline() == "caught\n"  # before its input is closed, which would end it too
    process.communicate()
    assert process.returncode == 9


def test_an_ignored_signal_stays_ignored():
    ignoring = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n" + RUN
    script = "kill -INT $$; echo alive"
    done = subprocess.run([sys.executable, "-c", ignoring, "sh", "-c", script], capture_output=True, check=True)
    assert done.stdout == b"alive\n"
