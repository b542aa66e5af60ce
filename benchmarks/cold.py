"""Cold processes and what they took, for the benchmarks that compare us with others."""

from __future__ import annotations

import os
import statistics
import sys
import time
from dataclasses import dataclass, field


@dataclass
class Figures:
    """What the rounds of one command took."""

    cpu_s: list[float] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)
    peak_mib: list[float] = field(default_factory=list)


def run(command: list[str], surroundings: dict[str, str], into: Figures) -> None:
    """One cold process, its output to nowhere but the file it names."""
    quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    start = time.monotonic()
    pid = os.posix_spawnp(command[0], command, surroundings, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)[:200]} failed with {os.waitstatus_to_exitcode(status)}")
    into.wall_s.append(time.monotonic() - start)
    into.cpu_s.append(usage.ru_utime + usage.ru_stime)
    into.peak_mib.append(usage.ru_maxrss / 1024)


def spread(values: list[float], form: str) -> str:
    return f"{statistics.median(values):{form}} ({min(values):{form}}–{max(values):{form}})"


def ratios(values: list[float], base: list[float]) -> list[float]:
    return [value / other for value, other in zip(values, base, strict=True)]
