"""CPU of `emberscope --version` over that of bare Python: `startup.py [ROUNDS]`.

Both are run in turn, so that whatever else the machine does falls on both; the figure is the median of the user and
system time of each child.
"""

from __future__ import annotations

import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

BARE = [sys.executable, "-c", "pass"]
VERSION = [str(Path(sys.executable).with_name("emberscope")), "--version"]


def cpu_ms(command: Sequence[str]) -> float:
    """User and system time of one run of the command, in milliseconds."""
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return (usage.ru_utime + usage.ru_stime) * 1000


def main(rounds: int) -> None:
    bare, version = [], []
    for _ in range(rounds):
        bare.append(cpu_ms(BARE))
        version.append(cpu_ms(VERSION))
    bare_ms, version_ms = statistics.median(bare), statistics.median(version)
    print(f"python -c pass         {bare_ms:6.1f} ms of CPU, median of {rounds}")
    print(f"emberscope --version   {version_ms:6.1f} ms")
    print(f"more                   {version_ms - bare_ms:6.1f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 21)
