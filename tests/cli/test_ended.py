import os
import signal
import subprocess
import sys

import pytest

from emberscope.cli.ended import Ended, told_to_end

CLEANS_UP = """
import os, signal, sys, tempfile
from emberscope.cli.ended import Ended, told_to_end
number = int(sys.argv[1])
with tempfile.TemporaryDirectory(dir=sys.argv[2]) as scratch:
    try:
        with told_to_end():
            try:
                print(scratch, flush=True)
                os.kill(os.getpid(), number)
                os.kill(os.getpid(), number)
            except Exception:
                print("caught by what catches everything", flush=True)
    except Ended:
        pass
print("cleaned up")
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_program_that_is_told_to_end_still_cleans_up(tmp_path, number):
    done = subprocess.run(
        [sys.executable, "-c", CLEANS_UP, str(int(number)), str(tmp_path)], capture_output=True, text=True, check=True
    )
    said = done.stdout.splitlines()
    assert said[0].startswith(str(tmp_path))
    assert said[1:] == ["cleaned up"]
    assert os.listdir(tmp_path) == []


def test_a_second_signal_does_not_end_the_cleaning_up_and_handlers_come_back():
    before = signal.getsignal(signal.SIGTERM)

    def cleans_up():
        with told_to_end():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Ended, match="SIGTERM"):
        cleans_up()
    assert signal.getsignal(signal.SIGTERM) == before


def test_what_nohup_ignores_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with told_to_end():
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
